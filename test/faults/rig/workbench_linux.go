package rig

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
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
	exited   chan struct{}
	adapters []*adapter       // of played servers that are not reached over stdio
	family   map[Process]bool // all that was ever seen below it
}

// patience is for what nothing of the page speaks of.
const patience = 20 * time.Second

// Start starts a workbench; see Options.
func Start(o Options) (*Workbench, error) {
	w := &Workbench{
		Dir: o.Dir, Mark: "FAULT_MARK=" + rand.Text(), exited: make(chan struct{}), family: make(map[Process]bool),
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

// prepare writes the configuration and launches the workbench.
func (w *Workbench) prepare(o Options) error {
	if err := os.MkdirAll(filepath.Join(o.Dir, "home"), 0o700); err != nil {
		return err
	}
	path := filepath.Join(o.Dir, "config.json")
	if o.Boxes != nil {
		text, err := w.configuration(o)
		if err != nil {
			return err
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			return err
		}
	}
	log, err := os.Create(w.LogPath())
	if err != nil {
		return err
	}
	defer log.Close()
	args := append([]string{"--config", path}, o.Args...)
	if o.Above == HTTP {
		args = append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)
		if !o.Auth {
			args = append(args, "--no-auth")
		}
	}
	w.cmd = exec.Command(o.Binary, args...)
	w.cmd.Dir, w.cmd.Stderr = o.Dir, log
	w.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(o.Dir, "home"), w.Mark}, o.Env...)
	if dir := os.Getenv("GOCOVERDIR"); dir != "" {
		w.cmd.Env = append(w.cmd.Env, "GOCOVERDIR="+dir)
	}
	return w.launch(o.Above)
}

func (w *Workbench) launch(above Transport) error {
	out, theirs, err := os.Pipe() // not StdoutPipe, which Wait would close before all was read
	if err != nil {
		return err
	}
	defer theirs.Close()
	w.cmd.Stdout = theirs
	if above == HTTP {
		return w.launchHTTP(out)
	}
	in, err := w.cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := w.run(); err != nil {
		return err
	}
	client := newClient(&pipe{in: in})
	w.Client = client
	go func() {
		defer close(client.ended)
		client.read(out, client.pass)
	}()
	return nil
}

func (w *Workbench) run() error {
	if err := w.cmd.Start(); err != nil {
		return err
	}
	w.PID = w.cmd.Process.Pid
	go func() { _ = w.cmd.Wait(); close(w.exited) }() // the exit code is asked for later
	return nil
}

// launchHTTP launches a workbench that says where it listens.
func (w *Workbench) launchHTTP(out io.Reader) error {
	if err := w.run(); err != nil {
		return err
	}
	const announced = "mcp-workbench: listening on "
	way := newWeb("")
	err := Eventually(patience, func() error {
		_, rest, _ := strings.Cut(w.Log(), announced)
		address, _, complete := strings.Cut(rest, "\n")
		if way.address = address; !complete && w.Running() {
			return errors.New("the workbench does not say where it listens:\n" + w.Log())
		}
		return nil
	})
	if err == nil && way.address == "" {
		err = errors.New("the workbench does not serve:\n" + w.Log())
	}
	if err != nil {
		w.kill()
		return err
	}
	way.token = tokenPattern.FindString(w.Log()) // the first is printed
	client := newClient(way)
	way.client, w.Client = client, client
	go func() {
		defer close(client.ended)
		client.read(out, func(line []byte) { client.protest("on stdout", line) })
		<-w.exited
		_ = way.close() // never fails
	}()
	return nil
}

var tokenPattern = regexp.MustCompile(`mcpw_[A-Za-z0-9_-]+`)

// NewToken makes a token for some toolboxes.
func (w *Workbench) NewToken(name string, toolboxes ...string) (string, error) {
	cmd := exec.Command(w.cmd.Path, "token", "add", name, "--config", filepath.Join(w.Dir, "config.json"))
	for _, box := range toolboxes {
		cmd.Args = append(cmd.Args, "--toolbox", box)
	}
	cmd.Env, cmd.Dir = w.cmd.Env, w.Dir
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
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
			if server.Role != "" && (o.Below == HTTP || o.Below == SSE) {
				adapted, err := w.adapt(o.Below, []string{self, ServeArg, server.Role, w.ServerLogPath(name)})
				if err != nil {
					return nil, err
				}
				entry = map[string]any{"url": adapted, "transport": o.Below, "headers": envHeaders(server.Env)}
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
	p, ok := w.link.(*pipe)
	if !ok {
		return errors.New("the workbench has no stdin that matters")
	}
	return p.close()
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
