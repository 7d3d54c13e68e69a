package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
	"github.com/mcp-workbench/mcp-workbench/test/processtable"
)

func TestMain(m *testing.M) {
	if status, ok := Handover(os.Args); ok {
		os.Exit(status)
	}
	mcptest.PlayRole(func(role string, args []string) int { return play(role, args[0], args[1:]) })
	goleak.VerifyTestMain(m)
}

// ownExecutable also works for users who have no right to the folders above the binary.
const ownExecutable = "/proc/self/exe"

// roleCommand starts this binary in a role; the first of args is the report.
func roleCommand(role string, args ...string) *exec.Cmd {
	return exec.Command(ownExecutable, mcptest.RoleArgs(role, args...)...)
}

// play plays one role. Every process writes its id to the report first.
func play(role, report string, args []string) int {
	if role == "stubborn" {
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP)
	}
	reportSelf(report, role)
	switch role {
	case "plain":
		io.Copy(io.Discard, os.Stdin)
	case "echo":
		io.Copy(os.Stdout, os.Stdin)
	case "stubborn":
		pauseForEver()
	case "flood":
		flood()
		io.Copy(os.Stdout, os.Stdin)
	case "fail":
		fmt.Fprintln(os.Stderr, "EXAMPLE_API_KEY is not set")
		return 3
	case "employer":
		_ = roleCommand("burn", report).Run()
		io.Copy(io.Discard, os.Stdin)
	case "burn":
		burn()
	case "crash":
		unix.Kill(os.Getpid(), unix.SIGKILL)
		pauseForEver()
	case "mix":
		spawn(report, "stubborn", nil)
		spawn(report, "stubborn", &syscall.SysProcAttr{Setsid: true})
		spawn(report, "daemonize", &syscall.SysProcAttr{Setsid: true}).Wait()
		io.Copy(io.Discard, os.Stdin)
	case "daemonize": // its child has no parent of ours and knows nothing of us
		spawn(report, "stubborn", nil)
	case "orphan": // leaves a process of the role that args name
		spawn(report, args[0], nil)
		awaitReport(report, args[0])
	case "hold": // leaves a process that holds stdout
		child := self(report, "stubborn")
		child.Stdout = os.Stdout
		mustStart(child)
		fmt.Println("last words")
	case "sandboxed-workbench":
		playSandboxedWorkbench(report, args[0])
	case "attack":
		return playAttack(args[0], args[1:])
	case "hardened":
		playHardened()
	case "fallback":
		playFallback(report)
	case "marked": // carries the mark that args name
		mark, err := strconv.ParseUint(args[0], 10, 64)
		must(err)
		var limit unix.Rlimit
		must(unix.Getrlimit(unix.RLIMIT_LOCKS, &limit))
		must(unix.Setrlimit(unix.RLIMIT_LOCKS, &unix.Rlimit{Cur: mark, Max: limit.Max}))
		fmt.Println("marked")
		pauseForEver()
	case "ending":
		playEnding(args)
	case "workbench":
		playWorkbench(report, args)
	}
	return 0
}

// playWorkbench runs a host with two servers until its stdin ends:
// args are the state folder and "limit" or "env".
func playWorkbench(report string, args []string) {
	if args[1] == "env" {
		refuseMark()
	}
	h := NewHost(HostOptions{StateDir: args[0], Log: slog.New(slog.NewTextHandler(os.Stderr, nil))})
	for range 2 {
		_, err := h.Start(Spec{Command: ownExecutable, Args: mcptest.RoleArgs("mix", report), Env: os.Environ()})
		must(err)
	}
	fmt.Printf("%s guard %d\n", h.platform.run.marking, h.platform.guard.pid())
	io.Copy(io.Discard, os.Stdin)
}

// playFallback stops a server whose leader is gone while its group is not.
func playFallback(report string) {
	refuseMark()
	h := NewHost(HostOptions{})
	p, err := h.Start(Spec{Command: ownExecutable, Args: mcptest.RoleArgs("orphan", report, "stubborn")})
	must(err)
	<-p.Done()
	must(p.Stop(context.Background()))
	must(h.Close(context.Background()))
}

// refuseMark makes this process one on a system that refuses the mark.
func refuseMark() {
	must(unix.Setrlimit(unix.RLIMIT_LOCKS, &unix.Rlimit{Cur: 1, Max: 1}))
}

func (g *guard) pid() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.cmd.Process.Pid
}

// self is a command that plays a role with an empty environment.
func self(report, role string) *exec.Cmd {
	cmd := roleCommand(role, report)
	cmd.Env = []string{}
	return cmd
}

func spawn(report, role string, attr *syscall.SysProcAttr) *exec.Cmd {
	cmd := self(report, role)
	cmd.SysProcAttr = attr
	mustStart(cmd)
	return cmd
}

func mustStart(cmd *exec.Cmd) { must(cmd.Start()) }

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(99)
	}
}

func pauseForEver() {
	for {
		_ = unix.Pause()
	}
}

// flood writes 64 MiB to stderr, first as one line and then as many.
func flood() {
	block := strings.Repeat("x", 1<<20)
	for range 32 {
		fmt.Fprint(os.Stderr, block)
	}
	fmt.Fprintln(os.Stderr)
	line := strings.Repeat("y", 127) + "\n"
	for range 32 << 20 / len(line) {
		fmt.Fprint(os.Stderr, line)
	}
	fmt.Fprint(os.Stderr, "the end")
}

// reportSelf appends "role pid start" in one write, so that lines do not mix.
func reportSelf(report, role string) {
	file, err := os.OpenFile(report, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	must(err)
	defer file.Close()
	own, _ := processtable.Find(os.Getpid())
	_, err = fmt.Fprintf(file, "%s %d %s\n", role, own.PID, own.Born)
	must(err)
}

// awaitReport waits until a process of that role has reported.
func awaitReport(report, role string) {
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); <-ticker.C {
		data, err := os.ReadFile(report)
		must(err)
		if strings.Contains(string(data), role+" ") {
			return
		}
	}
	must(errors.New(role + " did not report"))
}

// burnTime is how much time of a processor the role "burn" uses.
const burnTime = 150 * time.Millisecond

func burn() {
	var used unix.Rusage
	for used.Utime.Nano()+used.Stime.Nano() < int64(burnTime+tick) {
		_ = unix.Getrusage(unix.RUSAGE_SELF, &used)
	}
}
