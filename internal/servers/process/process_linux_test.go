package process

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestEchoes(t *testing.T) {
	r := newReport(t)
	p := start(t, newTestHost(t, HostOptions{}), roleSpec("echo", r))
	sent := bytes.Repeat([]byte("0123456789abcdef"), 4<<20/16)
	var writer sync.WaitGroup
	writer.Go(func() {
		if _, err := p.Stdin().Write(sent); err != nil {
			t.Errorf("writing: %v", err)
		}
		p.Stdin().Close()
	})
	got, err := io.ReadAll(p.Stdout())
	writer.Wait()
	if err != nil || !bytes.Equal(got, sent) {
		t.Errorf("got %d bytes and error %v, sent %d", len(got), err, len(sent))
	}
	awaitDone(t, p)
	if got, want := p.Exit(), "exited with code 0"; got != want {
		t.Errorf("Exit() = %q, want %q", got, want)
	}
	stop(t, p)
}

func TestExit(t *testing.T) {
	tests := []struct{ role, exit, stderr string }{
		{"fail", "exited with code 3", "EXAMPLE_API_KEY is not set"},
		{"crash", "was killed by SIGKILL", ""},
	}
	for _, test := range tests {
		t.Run(test.role, func(t *testing.T) {
			p := start(t, newTestHost(t, HostOptions{}), roleSpec(test.role, newReport(t)))
			awaitDone(t, p)
			if got := p.Exit(); got != test.exit {
				t.Errorf("Exit() = %q, want %q", got, test.exit)
			}
			if got := strings.Join(p.StderrTail(10), "\n"); got != test.stderr {
				t.Errorf("StderrTail() = %q, want %q", got, test.stderr)
			}
			stop(t, p)
		})
	}
}

func TestStopEndsTree(t *testing.T) {
	tests := []struct {
		role    string
		reports int
	}{
		{"plain", 1},
		{"stubborn", 1},
		{"mix", mixSize},
	}
	for _, test := range tests {
		t.Run(test.role, func(t *testing.T) {
			r := newReport(t)
			p := start(t, newTestHost(t, HostOptions{}), roleSpec(test.role, r))
			r.await(test.reports)
			if got := p.Exit(); got != "still running" {
				t.Errorf("Exit() = %q before Stop", got)
			}
			stop(t, p)
			r.noneAlive()
			if left := zombies(); len(left) > 0 {
				t.Errorf("zombies %v are left", left)
			}
			if _, err := p.Stdout().Read(make([]byte, 1)); err == nil {
				t.Error("Stdout is open after Stop")
			}
		})
	}
}

func TestStopEndsSuspended(t *testing.T) {
	r := newReport(t)
	p := start(t, newTestHost(t, HostOptions{}), roleSpec("plain", r))
	r.await(1)
	if err := unix.Kill(p.PID(), unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	stop(t, p)
	r.noneAlive()
}

func TestStopInterruptsWrite(t *testing.T) {
	r := newReport(t)
	p := start(t, newTestHost(t, HostOptions{}), roleSpec("stubborn", r))
	r.await(1)
	failed := make(chan error, 1)
	go func() {
		_, err := p.Stdin().Write(make([]byte, 8<<20)) // more than any pipe holds
		failed <- err
	}()
	stop(t, p)
	if err := <-failed; err == nil {
		t.Error("a write that nobody read succeeded")
	}
}

// With an hour of grace only the end of a context lets Stop return.
func TestStopIsHurriedByAnyCaller(t *testing.T) {
	r := newReport(t)
	p := start(t, newTestHost(t, HostOptions{Grace: time.Hour}), roleSpec("stubborn", r))
	r.await(1)
	hurried, cancel := context.WithCancel(t.Context())
	var stops sync.WaitGroup
	for i := range 8 {
		ctx := t.Context()
		if i == 5 {
			ctx = hurried
		}
		stops.Go(func() {
			if err := p.Stop(ctx); err != nil {
				t.Errorf("Stop: %v", err)
			}
			r.noneAlive()
		})
	}
	cancel()
	stops.Wait()
}

func TestCloseStopsInParallel(t *testing.T) {
	const servers, grace = 10, 2 * time.Second
	r := newReport(t)
	h := newTestHost(t, HostOptions{Grace: grace})
	for range servers {
		start(t, h, roleSpec("stubborn", r))
	}
	r.await(servers)
	before := time.Now()
	if err := h.Close(t.Context()); err != nil {
		t.Errorf("Close: %v", err)
	}
	if took := time.Since(before); took > servers*grace {
		t.Errorf("Close took %v, as if one after another", took)
	}
	r.noneAlive()
	if _, err := h.Start(roleSpec("plain", r)); !errors.Is(err, ErrClosed) {
		t.Errorf("Start after Close: %v, want ErrClosed", err)
	}
}

// Each process of this chain forks the next and exits, so a scan of /proc may find
// only the dead.
func TestStopEndsChain(t *testing.T) {
	const chain = `next() { [ "$1" -gt 0 ] && ( next $(($1 - 1)) & ) ; }; next 20000`
	for range 5 {
		h := newTestHost(t, HostOptions{})
		p := start(t, h, Spec{Command: "/bin/sh", Args: []string{"-c", chain}})
		awaitDone(t, p)
		stop(t, p)
		for range 20 {
			if found, err := (target{run: h.platform.run}).signal(0); err != nil || len(found.signalled) > 0 {
				t.Fatalf("after Stop there are %v, %v", found.signalled, err)
			}
		}
	}
}

func TestKeepDetached(t *testing.T) {
	r := newReport(t)
	h := newTestHost(t, HostOptions{})
	spec := roleSpec("mix", r)
	spec.KeepDetached = true
	p := start(t, h, spec)
	r.await(mixSize)
	stop(t, p)
	closeHost(t, h)
	own, err := unix.Getsid(0)
	if err != nil {
		t.Fatal(err)
	}
	spared := 0
	for _, person := range r.read() {
		if !person.alive() {
			continue
		}
		spared++
		if session, err := unix.Getsid(person.pid); err == nil && session == own {
			t.Errorf("%s %d is in our session and still alive", person.role, person.pid)
		}
		if err := unix.Kill(person.pid, unix.SIGKILL); err != nil {
			t.Error(err)
		}
	}
	if want := 2; spared != want { // the daemon and the one that only called setsid
		t.Errorf("%d processes were spared, want %d", spared, want)
	}
	r.allGone()
	reapOrphans() // no host is left to do it
}

func TestFloodOnStderr(t *testing.T) {
	r := newReport(t)
	spec := roleSpec("flood", r)
	lines := 0
	spec.StderrLine = func(string) { lines++ }
	p := start(t, newTestHost(t, HostOptions{}), spec)
	if _, err := p.Stdin().Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	p.Stdin().Close()
	if got, err := io.ReadAll(p.Stdout()); err != nil || string(got) != "hello" {
		t.Errorf("read %q, %v", got, err)
	}
	awaitDone(t, p)
	tail := p.StderrTail(0)
	if size := len(strings.Join(tail, "")); size > maxTail {
		t.Errorf("%d bytes of stderr are kept", size)
	}
	if last := tail[len(tail)-1]; last != "the end" {
		t.Errorf("the last line is %q", last)
	}
	stop(t, p)
	if want := 1 + 32<<20/128 + 1; lines != want {
		t.Errorf("%d lines were tapped, want %d", lines, want)
	}
}

func TestStdoutEndsWithChild(t *testing.T) {
	r := newReport(t)
	p := start(t, newTestHost(t, HostOptions{}), roleSpec("hold", r))
	got, err := io.ReadAll(p.Stdout()) // a grandchild holds the pipe
	if err != nil || string(got) != "last words\n" {
		t.Errorf("read %q, %v", got, err)
	}
	r.await(2)
	stop(t, p)
	r.noneAlive()
}

func TestPipesAreLargeForSome(t *testing.T) {
	r := newReport(t)
	h := newTestHost(t, HostOptions{})
	var sizes []int
	for range maxRoomy + 1 {
		p := start(t, h, roleSpec("plain", r))
		conn, err := p.stdin.SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		conn.Control(func(fd uintptr) {
			size, err := unix.FcntlInt(fd, unix.F_GETPIPE_SZ, 0)
			if err != nil {
				t.Fatal(err)
			}
			sizes = append(sizes, size)
		})
	}
	if os.Getuid() == 0 && sizes[0] != roomySize {
		t.Errorf("the first pipe has %d bytes, want %d", sizes[0], roomySize)
	}
	if last := sizes[maxRoomy]; last >= roomySize {
		t.Errorf("the last pipe has %d bytes, want the default", last)
	}
}

func TestNothingGrows(t *testing.T) {
	r := newReport(t)
	h := newTestHost(t, HostOptions{})
	stop(t, start(t, h, roleSpec("fail", r))) // the guard, the poller
	before := openFiles(t)
	for range 20 {
		p := start(t, h, roleSpec("fail", r))
		awaitDone(t, p)
		stop(t, p)
	}
	// The last pipes may be closed a moment after Stop.
	eventually(t, "no more files are open than before", func() bool { return openFiles(t) <= before })
	if left := zombies(); len(left) > 0 {
		t.Errorf("zombies %v are left", left)
	}
	if len(h.procs) > 0 || len(h.platform.servers) > 0 {
		t.Errorf("%d processes and %d marks are kept", len(h.procs), len(h.platform.servers))
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

func TestOrphansAreReaped(t *testing.T) {
	r := newReport(t)
	spec := roleSpec("orphan", r)
	spec.Args = append(spec.Args, "plain")
	p := start(t, newTestHost(t, HostOptions{}), spec)
	r.await(2)
	awaitDone(t, p)
	r.allGone() // its stdin is /dev/null
	eventually(t, "no zombies are left", func() bool { return len(zombies()) == 0 })
	stop(t, p)
}

// Code beside this package must still be able to wait for its own children.
func TestForeignChildrenAreLeftAlone(t *testing.T) {
	h := newTestHost(t, HostOptions{})
	stop(t, start(t, h, roleSpec("fail", newReport(t)))) // we are subreaper now
	foreign := self(newReport(t).path, "fail")
	if err := foreign.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is a zombie", func() bool { return slices.Contains(zombies(), foreign.Process.Pid) })
	reapOrphans()
	if err := foreign.Wait(); foreign.ProcessState == nil || foreign.ProcessState.ExitCode() != 3 {
		t.Errorf("Wait: %v, want exit code 3", err)
	}
}
