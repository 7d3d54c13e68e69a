package process

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/mcp-workbench/mcp-workbench/test/processtable"
)

// workbench is a whole workbench as a process of its own, which tests may kill.
type workbench struct {
	t       *testing.T
	cmd     *exec.Cmd
	stdin   io.WriteCloser
	report  *report
	state   string
	marking marking
	guard   int
}

func startWorkbench(t *testing.T, state, how string) *workbench {
	t.Helper()
	w := &workbench{t: t, report: newReport(t), state: state}
	w.cmd = roleCommand("workbench", w.report.path, state, how)
	w.cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
	stdout, err := w.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if w.stdin, err = w.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		w.stdin.Close()
		w.cmd.Wait() // killed or not, it is ours to reap
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("the workbench did not start: %v", err)
	}
	if _, err := fmt.Sscanf(line, "%s guard %d", &w.marking, &w.guard); err != nil {
		t.Fatal(err)
	}
	w.report.await(1 + 2*mixSize)
	return w
}

func kill(t *testing.T, pid int) {
	t.Helper()
	if err := unix.Kill(pid, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

// awaitOtherGuard waits until the workbench has replaced its guard.
func (w *workbench) awaitOtherGuard() {
	w.t.Helper()
	eventually(w.t, "another guard runs", func() bool {
		return slices.ContainsFunc(guardsOf(w.cmd.Process.Pid), func(pid int) bool { return pid != w.guard })
	})
}

// guardsOf returns the guards that run for a workbench.
func guardsOf(workbench int) (pids []int) {
	for _, p := range processtable.Below(workbench) {
		if strings.HasPrefix(p.CommandLine(), GuardName) && p.Lives() {
			pids = append(pids, p.PID)
		}
	}
	return pids
}

// ledgerFiles are the runs that are noted in the state folder.
func (w *workbench) ledgerFiles() []string {
	files, _ := filepath.Glob(filepath.Join(w.state, ledgerFolder, "*"))
	return files
}

func TestKilledWorkbench(t *testing.T) {
	w := startWorkbench(t, t.TempDir(), "limit")
	if w.marking != byLimit {
		t.Fatalf("children are marked by %q", w.marking)
	}
	kill(t, w.cmd.Process.Pid)
	w.report.allGone()
	eventually(t, "the guard forgets the run", func() bool { return len(w.ledgerFiles()) == 0 })
}

func TestExitedWorkbench(t *testing.T) {
	w := startWorkbench(t, t.TempDir(), "limit")
	w.stdin.Close() // it returns from main without closing its host
	w.report.allGone()
}

func TestKilledGuardThenWorkbench(t *testing.T) {
	w := startWorkbench(t, t.TempDir(), "limit")
	kill(t, w.guard)
	w.awaitOtherGuard()
	for _, p := range w.report.read() {
		if !p.alive() && p.role != "daemonize" {
			t.Errorf("%s %d died with the guard", p.role, p.pid)
		}
	}
	kill(t, w.cmd.Process.Pid)
	w.report.allGone()
}

func TestKilledBothThenNextStart(t *testing.T) {
	w := startWorkbench(t, t.TempDir(), "limit")
	// A stopped workbench cannot replace its guard.
	if err := unix.Kill(w.cmd.Process.Pid, unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	kill(t, w.guard)
	kill(t, w.cmd.Process.Pid)
	w.cmd.Wait()
	eventually(t, "the guard is gone", func() bool { // and with it the lock
		s, ok := readStat(w.guard)
		return !ok || !s.alive()
	})
	alive := 0
	for _, p := range w.report.read() {
		if p.alive() {
			alive++
		}
	}
	if want := 2 * (mixStays - 1); alive < want { // those of role mix end with their stdin
		t.Fatalf("%d processes outlived both, want %d: the test tests nothing", alive, want)
	}
	h := newTestHost(t, HostOptions{StateDir: w.state})
	start(t, h, roleSpec("plain", newReport(t)))
	w.report.noneAlive()
	if files := w.ledgerFiles(); len(files) != 1 {
		t.Errorf("the ledger has %q, want only the new run", files)
	}
}

// A workbench may be a server of another one, which ends it and not its guard.
func TestNestedWorkbench(t *testing.T) {
	r := newReport(t)
	spec := roleSpec("workbench", r)
	spec.Args = append(spec.Args, t.TempDir(), "limit")
	p := start(t, newTestHost(t, HostOptions{}), spec)
	r.await(1 + 2*mixSize)
	kill(t, p.PID())
	stop(t, p)
	r.allGone()
	eventually(t, "no zombies are left", func() bool { return len(zombies()) == 0 })
}

// Without the limit a process that has cleared its environment and lost its parents
// escapes, and nothing else.
func TestFallbackMarking(t *testing.T) {
	w := startWorkbench(t, t.TempDir(), "env")
	if w.marking != byEnvironment {
		t.Fatalf("children are marked by %q", w.marking)
	}
	kill(t, w.cmd.Process.Pid)
	eventually(t, "all but the strays are gone", func() bool {
		for _, p := range w.report.read() {
			if s, ok := readStat(p.pid); ok && p.alive() && s.group == p.pid && s.session != p.pid {
				return false
			}
		}
		return len(w.ledgerFiles()) == 0
	})
}

func TestFallbackMarkingStop(t *testing.T) {
	r := newReport(t)
	if out, err := roleCommand("fallback", r.path).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got := len(r.read()); got < 3 {
		t.Errorf("%d processes were started, want 3", got)
	}
	r.noneAlive()
}

func TestGuardGivesUp(t *testing.T) {
	var log logBuffer
	r := newReport(t)
	h := newTestHost(t, HostOptions{Executable: "/bin/false", Log: log.logger()})
	p := start(t, h, roleSpec("plain", r))
	eventually(t, "the failure is logged", func() bool { return log.contains("keeps failing") })
	stop(t, p)
	r.noneAlive()
}

func TestGuardMissing(t *testing.T) {
	var log logBuffer
	r := newReport(t)
	h := newTestHost(t, HostOptions{Executable: filepath.Join(t.TempDir(), "none"), Log: log.logger()})
	stop(t, start(t, h, roleSpec("plain", r)))
	if !log.contains("could not be started") {
		t.Error("nothing was logged")
	}
}

func TestGuardRefusesNonsense(t *testing.T) {
	for _, args := range [][]string{{}, {"-run=x.1.limit"}, {"-run=1.1.magic"}, {"serve"}, {"-unknown"}} {
		cmd := exec.Command("/proc/self/exe", args...)
		cmd.Args[0] = GuardName
		if err := cmd.Run(); err == nil {
			t.Errorf("the guard accepts %q", args)
		}
	}
}
