package rig

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Server is how a server stands in the configuration. With a Role this binary plays it; one
// with a URL is there already.
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
}

// Workbench is a running workbench with its client.
type Workbench struct {
	*Client
	Dir, Mark string
	PID       int

	cmd    *exec.Cmd
	exited chan struct{}
	family map[Process]bool // all that was ever seen below it
}

// patience is for what nothing of the page speaks of.
const patience = 20 * time.Second

// Start starts a workbench; see Options.
func Start(o Options) (*Workbench, error) {
	w := &Workbench{
		Dir: o.Dir, Mark: "FAULT_MARK=" + rand.Text(), exited: make(chan struct{}), family: make(map[Process]bool),
	}
	if err := os.MkdirAll(filepath.Join(o.Dir, "home"), 0o700); err != nil {
		return nil, err
	}
	path := filepath.Join(o.Dir, "config.json")
	if o.Boxes != nil {
		text, err := w.configuration(o)
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			return nil, err
		}
	}
	log, err := os.Create(w.LogPath())
	if err != nil {
		return nil, err
	}
	defer log.Close()
	w.cmd = exec.Command(o.Binary, append([]string{"--config", path}, o.Args...)...)
	w.cmd.Dir, w.cmd.Stderr = o.Dir, log
	w.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(o.Dir, "home"), w.Mark}, o.Env...)
	if dir := os.Getenv("GOCOVERDIR"); dir != "" {
		w.cmd.Env = append(w.cmd.Env, "GOCOVERDIR="+dir)
	}
	if err := w.launch(); err != nil {
		return nil, err
	}
	if o.Capabilities == "" {
		return w, nil
	}
	if _, err = w.Initialize(o.Capabilities, patience); err != nil {
		err = fmt.Errorf("initialize: %w\n%s", err, w.Log())
	}
	return w, err
}

func (w *Workbench) launch() error {
	in, err := w.cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, theirs, err := os.Pipe() // not StdoutPipe, which Wait would close before all was read
	if err != nil {
		return err
	}
	defer theirs.Close()
	w.cmd.Stdout = theirs
	if err := w.cmd.Start(); err != nil {
		return err
	}
	w.PID = w.cmd.Process.Pid
	w.Client = newClient(in, out)
	go func() { _ = w.cmd.Wait(); close(w.exited) }() // the exit code is asked for later
	return nil
}

func (w *Workbench) configuration(o Options) ([]byte, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	boxes := make(map[string]any)
	for box, members := range o.Boxes {
		servers := make(map[string]any)
		for name, server := range members {
			entry := map[string]any{"command": server.Command, "args": append([]string{}, server.Args...)}
			if server.Role != "" {
				entry = map[string]any{"command": self, "args": []string{ServeArg, server.Role, w.ServerLogPath(name)}}
			}
			mark, value, _ := strings.Cut(w.Mark, "=")
			env := map[string]string{mark: value}
			maps.Copy(env, server.Env)
			entry["env"] = env
			if server.URL != "" {
				entry = map[string]any{"url": server.URL}
			}
			maps.Copy(entry, server.More)
			servers[name] = entry
		}
		boxes[box] = map[string]any{"mcpServers": servers}
	}
	top := map[string]any{"toolboxes": boxes}
	maps.Copy(top, o.Top)
	return json.Marshal(top)
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
func (w *Workbench) Living(name string) []Process {
	var living []Process
	for line := range strings.Lines(w.ServerLog(name)) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if word != "start" && word != "spawn" {
			continue
		}
		pid, _ := strconv.Atoi(rest) // a server wrote it
		if p, ok := readProcess(pid); ok && p.Lives() {
			living = append(living, p)
		}
	}
	return living
}

// status returns a number of /proc/PID/status.
func (w *Workbench) status(field string) int {
	raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", w.PID)) // gone: none
	for line := range strings.Lines(string(raw)) {
		if value, ok := strings.CutPrefix(line, field+":"); ok {
			n, _ := strconv.Atoi(strings.Fields(value)[0]) // the kernel wrote it
			return n
		}
	}
	return 0
}

// PeakMemory is the most that was ever resident, in bytes.
func (w *Workbench) PeakMemory() int { return w.status("VmHWM") << 10 }

// Memory is what is resident now, in bytes.
func (w *Workbench) Memory() int { return w.status("VmRSS") << 10 }

// Threads is how many threads the workbench has.
func (w *Workbench) Threads() int { return w.status("Threads") }

// Descriptors is how many files the workbench holds open.
func (w *Workbench) Descriptors() int {
	entries, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", w.PID)) // gone: none
	return len(entries)
}

// Zombies returns children of the workbench that nobody waited for.
func (w *Workbench) Zombies() []Process {
	var found []Process
	for _, p := range processes() {
		if p.Parent == w.PID && p.State == "Z" {
			found = append(found, p)
		}
	}
	return found
}

// look notes who lives below the workbench, to ask for them when it is gone.
func (w *Workbench) look() {
	for _, p := range append(Below(w.PID), Marked(w.Mark)...) {
		if p.PID != w.PID {
			w.family[Process{PID: p.PID, Born: p.Born}] = true
		}
	}
}

// Left returns what the workbench started and what lives.
func (w *Workbench) Left() []Process {
	for _, p := range Marked(w.Mark) {
		if p.PID != w.PID {
			w.family[Process{PID: p.PID, Born: p.Born}] = true
		}
	}
	var left []Process
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
	return w.in.Close()
}

// AwaitExit waits for the end of the workbench and returns its exit code.
func (w *Workbench) AwaitExit(limit time.Duration) (int, error) {
	timer := time.NewTimer(limit)
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
	if w.Running() {
		w.look()
		_ = w.cmd.Process.Kill() // it may end by itself
		<-w.exited
	}
	for _, p := range w.Left() {
		p.Kill()
	}
}

// End closes stdin and checks that the workbench ends in time, politely, and alone.
func (w *Workbench) End() error {
	if err := w.CloseStdin(); err != nil {
		return err
	}
	code, err := w.AwaitExit(10 * time.Second)
	if err == nil && code != 0 {
		err = fmt.Errorf("the workbench exited with %d", code)
	}
	return errors.Join(err, w.AwaitNothingLeft(2*time.Second))
}
