package rig

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/mcp-workbench/mcp-workbench/test/processtable"
)

// Server is how a server stands in the configuration. With a Role this binary plays it; one
// with a URL is there already. A played server has Env in its environment however it is reached.
type Server struct {
	Role    string
	URL     string
	Command string
	Args    []string
	Env     map[string]string
	More    map[string]any // further fields
}

// Options say what workbench to start.
type Options struct {
	Binary       string
	Dir          string // for the configuration, logs and the home folder
	Boxes        map[string]map[string]Server
	Top          map[string]any // further fields of the configuration
	Args         []string
	Env          []string
	Capabilities string // of the client; "": it does not initialize
	Auth         bool   // over HTTP clients need a token
	Above        Transport
	Below        Transport // of servers with a Role
}

// Transport is what messages go over; "" is Stdio.
type Transport string

// The transports. Above the workbench there is no SSE.
const (
	Stdio Transport = "stdio"
	HTTP  Transport = "http"
	SSE   Transport = "sse"
)

// Workbench is a running workbench with its client.
type Workbench struct {
	*Client
	Dir, Mark string
	PID       int

	cmd      *exec.Cmd
	token    string // of its client; "" if none is needed
	exited   chan struct{}
	adapters []*adapter                    // of played servers that are not reached over stdio
	family   map[processtable.Process]bool // all that was ever seen below it
}

// patience is for what nothing of the page speaks of.
const patience = 20 * time.Second

// Start starts a workbench; see Options.
func Start(o Options) (*Workbench, error) {
	w := &Workbench{
		Dir: o.Dir, Mark: "FAULT_MARK=" + rand.Text(), exited: make(chan struct{}), family: make(map[processtable.Process]bool),
	}
	if err := w.prepare(o); err != nil {
		w.closeAdapters()
		return nil, err
	}
	if o.Capabilities == "" {
		return w, nil
	}
	_, err := w.Initialize(o.Capabilities, patience)
	if err != nil {
		err = fmt.Errorf("initialize: %w\n%s", err, w.Log())
	}
	return w, err
}

// LogPath is where the workbench's stderr goes.
func (w *Workbench) LogPath() string { return filepath.Join(w.Dir, "stderr") }

// Log returns what the workbench wrote to stderr.
func (w *Workbench) Log() string {
	raw, _ := os.ReadFile(w.LogPath()) // an empty one fails the test that needs it
	return string(raw)
}

// ServerLogPath is where a played server writes what it saw.
func (w *Workbench) ServerLogPath(name string) string { return filepath.Join(w.Dir, name+".log") }

// ServerLog returns what a server saw.
func (w *Workbench) ServerLog(name string) string {
	raw, _ := os.ReadFile(w.ServerLogPath(name)) // none was started
	return string(raw)
}

// Starts returns how often a server was started.
func (w *Workbench) Starts(name string) int { return strings.Count("\n"+w.ServerLog(name), "\nstart ") }

// Living returns the processes of a server that live, with those that it started.
func (w *Workbench) Living(name string) []processtable.Process {
	var living []processtable.Process
	for line := range strings.Lines(w.ServerLog(name)) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if word != "start" && word != "spawn" {
			continue
		}
		pid, _ := strconv.Atoi(rest) // a server wrote it
		if p, ok := processtable.Find(pid); ok && p.Lives() {
			living = append(living, p)
		}
	}
	return living
}

// PeakMemory is the most that was ever resident, in bytes.
func (w *Workbench) PeakMemory() int { return processtable.PeakMemory(w.PID) }

// Memory is what is resident now, in bytes.
func (w *Workbench) Memory() int { return processtable.Memory(w.PID) }

// Threads is how many threads the workbench has.
func (w *Workbench) Threads() int { return processtable.Threads(w.PID) }

// Descriptors is how many files the workbench holds open.
func (w *Workbench) Descriptors() int {
	entries, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", w.PID)) // gone: none
	return len(entries)
}

// Zombies returns children of the workbench that nobody waited for.
func (w *Workbench) Zombies() []processtable.Process {
	return processtable.Zombies(w.PID)
}

// look notes who lives below the workbench, to ask for them when it is gone.
func (w *Workbench) look() {
	for _, p := range append(processtable.Below(w.PID), processtable.Marked(w.Mark)...) {
		if p.PID != w.PID {
			w.family[p] = true
		}
	}
}

// Left returns what the workbench started and what lives.
func (w *Workbench) Left() []processtable.Process {
	for _, p := range processtable.Marked(w.Mark) {
		if p.PID != w.PID {
			w.family[p] = true
		}
	}
	var left []processtable.Process
	for p := range w.family {
		if p.Lives() {
			left = append(left, p)
		}
	}
	return left
}

// AwaitNothingLeft waits until nothing is left, and names what is.
func (w *Workbench) AwaitNothingLeft(limit time.Duration) error {
	return Eventually(limit, func() error {
		if left := w.Left(); len(left) > 0 {
			return fmt.Errorf("%d processes are left, such as %v", len(left), left[0])
		}
		return nil
	})
}

// Signal sends a signal to the workbench.
func (w *Workbench) Signal(sig syscall.Signal) error {
	w.look()
	return w.cmd.Process.Signal(sig)
}

// CloseStdin is what a client does to end the workbench.
func (w *Workbench) CloseStdin() error {
	w.look()
	p, ok := w.link.(*pipe)
	if !ok {
		return errors.New("the workbench has no stdin that matters")
	}
	return p.close()
}

// AwaitExit waits for the end of the workbench and returns its exit code.
func (w *Workbench) AwaitExit(limit time.Duration) (int, error) {
	timer := time.NewTimer(limit * slack())
	defer timer.Stop()
	select {
	case <-w.exited:
		return w.cmd.ProcessState.ExitCode(), nil
	case <-timer.C:
		return 0, fmt.Errorf("the workbench still runs after %v", limit)
	}
}

// Running reports whether the workbench still runs.
func (w *Workbench) Running() bool {
	select {
	case <-w.exited:
		return false
	default:
		return true
	}
}

// Discard ends by force whatever a failed test left.
func (w *Workbench) Discard() {
	w.kill()
	for _, p := range w.Left() {
		p.Kill()
	}
	w.closeAdapters()
}

func (w *Workbench) kill() {
	if w.Running() {
		w.look()
		_ = w.cmd.Process.Kill() // it may end by itself
		<-w.exited
	}
}

// End closes stdin, or over HTTP sends SIGTERM, and checks that the workbench ends in time,
// politely, and alone.
func (w *Workbench) End() error {
	end := w.CloseStdin
	if _, ok := w.link.(*web); ok {
		end = func() error { return w.Signal(syscall.SIGTERM) }
	}
	if err := end(); err != nil {
		return err
	}
	code, err := w.AwaitExit(10 * time.Second)
	if err == nil && code != 0 {
		err = fmt.Errorf("the workbench exited with %d", code)
	}
	return errors.Join(err, w.AwaitNothingLeft(2*time.Second))
}
