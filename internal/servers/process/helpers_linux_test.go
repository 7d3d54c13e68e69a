package process

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
	"github.com/mcp-workbench/mcp-workbench/test/processtable"
)

// patience is for a busy machine; no test depends on how long something takes.
const patience = 60 * time.Second

// eventually waits until the condition holds.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	deadline := time.After(patience)
	for !condition() {
		select {
		case <-ticker.C:
		case <-deadline:
			t.Fatalf("not in time: %s", what)
		}
	}
}

// person is a process that reported itself.
type person struct {
	role  string
	pid   int
	start string
}

func (p person) alive() bool {
	return processtable.Process{PID: p.pid, Born: p.start}.Lives()
}

// report is a file in which all processes of a test enter themselves.
type report struct {
	t    *testing.T
	path string
}

func newReport(t *testing.T) *report {
	r := &report{t: t, path: filepath.Join(t.TempDir(), "report")}
	t.Cleanup(func() { // only what a failed test has left
		for _, p := range r.read() {
			if p.alive() {
				_ = syscall.Kill(p.pid, syscall.SIGKILL)
			}
		}
	})
	return r
}

func (r *report) read() []person {
	data, _ := os.ReadFile(r.path)
	var people []person
	for line := range strings.Lines(string(data)) {
		var p person
		if _, err := fmt.Sscan(line, &p.role, &p.pid, &p.start); err == nil {
			people = append(people, p)
		}
	}
	return people
}

// await waits until n processes have reported.
func (r *report) await(n int) []person {
	r.t.Helper()
	eventually(r.t, fmt.Sprintf("%d processes report", n), func() bool { return len(r.read()) >= n })
	return r.read()
}

// allGone waits until none of them is left.
func (r *report) allGone() {
	r.t.Helper()
	eventually(r.t, "all processes are gone", func() bool { return !slices.ContainsFunc(r.read(), person.alive) })
}

// noneAlive checks it now.
func (r *report) noneAlive() {
	r.t.Helper()
	for _, p := range r.read() {
		if p.alive() {
			r.t.Errorf("%s %d is still alive", p.role, p.pid)
		}
	}
}

// mixSize is how many processes report for the role "mix", mixStays how many of them
// stay.
const mixSize, mixStays = 5, 4

func roleSpec(role string, r *report) Spec {
	return Spec{
		Command: ownExecutable,
		Args:    mcptest.RoleArgs(role, r.path),
		Env:     append(os.Environ(), "GORACE=atexit_sleep_ms=0"), // else each exit takes a second
	}
}

func newTestHost(t *testing.T, opts HostOptions) *Host {
	t.Helper()
	h := NewHost(opts)
	t.Cleanup(func() { closeHost(t, h) })
	return h
}

func closeHost(t *testing.T, h *Host) {
	t.Helper()
	if err := h.Close(t.Context()); err != nil { // Cleanup ends the context: no politeness
		t.Errorf("Close: %v", err)
	}
}

func start(t *testing.T, h *Host, spec Spec) *Process {
	t.Helper()
	p, err := h.Start(spec)
	if err != nil {
		t.Fatalf("Start: %v", err)
	}
	return p
}

func stop(t *testing.T, p *Process) {
	t.Helper()
	if err := p.Stop(context.Background()); err != nil {
		t.Errorf("Stop: %v", err)
	}
}

func awaitDone(t *testing.T, p *Process) {
	t.Helper()
	select {
	case <-p.Done():
	case <-time.After(patience):
		t.Fatal("the process did not end in time")
	}
}

// zombies are our children that nobody has waited for.
func zombies() (pids []int) {
	all, _ := listProcesses()
	for _, pid := range all {
		if isOurZombie(pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// logBuffer is a log that tests can read.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(b)
}

func (l *logBuffer) contains(s string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.buf.String(), s)
}

func (l *logBuffer) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }
