package process

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// playEnding is a workbench with one server, whose mark it tells. It ends with its stdin, and tells how; the state folder is its argument.
func playEnding(args []string) {
	var log logBuffer
	h := NewHost(HostOptions{StateDir: args[0], Log: slog.New(slog.NewTextHandler(&log, nil))})
	p, err := h.Start(Spec{Command: "/bin/sh", Args: []string{"-c", "read line"}})
	must(err)
	limit, _ := readLockLimit(p.PID())
	fmt.Println(limit)
	_, _ = io.Copy(io.Discard, os.Stdin)
	fmt.Println("stop", p.Stop(context.Background()))
	fmt.Println("close", h.Close(context.Background()))
	log.mu.Lock()
	defer log.mu.Unlock()
	fmt.Print(log.buf.String())
}

// encounter is a workbench that runs as one user, and a process of another one that carries the mark of its server.
type encounter struct {
	command    *exec.Cmd
	stdin      io.Closer
	output     *bufio.Reader
	runs       string // the folder of the ledger
	stateDir   string
	strangerID int
}

func meetStranger(t *testing.T, workbench, stranger uint32) *encounter {
	t.Helper()
	e := &encounter{stateDir: t.TempDir()}
	for folder := e.stateDir; folder != os.TempDir() && folder != "/"; folder = filepath.Dir(folder) {
		if err := os.Chmod(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chown(e.stateDir, int(workbench), int(workbench)); err != nil {
		t.Fatal(err)
	}
	e.runs = filepath.Join(e.stateDir, ledgerFolder)
	e.command = e.workbench(workbench)
	stdin, err := e.command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := e.command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := e.command.Start(); err != nil {
		t.Fatal(err)
	}
	e.stdin, e.output = stdin, bufio.NewReader(stdout)
	t.Cleanup(func() { _, _ = stdin.Close(), e.command.Wait() })
	var mark uint64
	if _, err := fmt.Fscanln(e.output, &mark); err != nil {
		t.Fatal(err)
	}
	other := roleCommand("marked", os.DevNull, fmt.Sprint(mark))
	other.SysProcAttr = as(stranger)
	said, err := other.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = other.Process.Kill(), other.Wait() })
	e.strangerID = other.Process.Pid
	if line, err := bufio.NewReader(said).ReadString('\n'); line != "marked\n" {
		t.Fatalf("%q, %v", line, err)
	}
	return e
}

func (e *encounter) workbench(user uint32) *exec.Cmd {
	command := roleCommand("ending", os.DevNull, e.stateDir)
	command.SysProcAttr = as(user)
	return command
}

func as(user uint32) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
}

func (e *encounter) strangerLives(t *testing.T) {
	t.Helper()
	if s, ok := readStat(e.strangerID); !ok || !s.alive() {
		t.Error("the stranger's process was ended")
	}
}

func TestMarkOfAStranger(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can be two users")
	}
	for _, test := range []struct {
		name                string
		workbench, stranger uint32
	}{
		{"that cannot be signalled", 65534, 65533},
		{"of root", 65534, 0},
		{"that root could end", 0, 65534},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := meetStranger(t, test.workbench, test.stranger)
			_ = e.stdin.Close()
			rest, err := io.ReadAll(e.output)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := string(rest), "stop <nil>\nclose <nil>\n"; got != want {
				t.Errorf("the end is %q, want %q", got, want)
			}
			e.strangerLives(t)
			if left, err := os.ReadDir(e.runs); err != nil || len(left) > 0 {
				t.Errorf("the ledger has %v, %v", left, err)
			}
		})
	}
}

// Whether the guard or the next start ends what a killed workbench left, a stranger does not keep it from being done.
func TestMarkOfAStrangerAfterAKill(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can be two users")
	}
	e := meetStranger(t, 65534, 0)
	if err := e.command.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the guard forgets the run", func() bool {
		left, err := os.ReadDir(e.runs)
		return err == nil && len(left) == 0
	})
	e.strangerLives(t)
}

func TestMarkOfAStrangerAtTheNextStart(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can be two users")
	}
	e := meetStranger(t, 65534, 0)
	pid := e.command.Process.Pid
	// Stopped, it cannot start another guard.
	if err := unix.Kill(pid, unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the workbench is stopped", func() bool { s, ok := readStat(pid); return ok && s.state == 'T' })
	guard := guardOf(t, pid)
	if err := errors.Join(unix.Kill(guard, unix.SIGKILL), unix.Kill(pid, unix.SIGKILL)); err != nil {
		t.Fatal(err)
	}
	_ = e.command.Wait()
	eventually(t, "the guard is gone", func() bool { s, ok := readStat(guard); return !ok || !s.alive() })
	next := e.workbench(65534)
	output, err := next.Output()
	if err != nil || strings.Contains(string(output), "earlier run") || !strings.Contains(string(output), "close <nil>") {
		t.Errorf("%v: %s", err, output)
	}
	if left, err := os.ReadDir(e.runs); err != nil || len(left) > 0 {
		t.Errorf("the ledger has %v, %v", left, err)
	}
	e.strangerLives(t)
}

// guardOf returns the guard among the children of a workbench.
func guardOf(t *testing.T, workbench int) int {
	t.Helper()
	guards := guardsOf(workbench)
	if len(guards) != 1 {
		t.Fatalf("guards %v", guards)
	}
	return guards[0]
}
