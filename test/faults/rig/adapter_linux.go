package rig

import (
	"crypto/rand"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
)

// adapter puts a played server, which speaks lines, behind HTTP: Streamable HTTP, or the
// older one with one stream of events. Each session is a process of its own. What the
// server writes is passed on byte by byte, as the body of a response or as an event,
// whatever it is; what it does to itself becomes a connection that breaks.
type adapter struct {
	command []string
	http    *http.Server
	ended   chan struct{}
	under   sync.WaitGroup // what Close waits for

	mu       sync.Mutex // guards what follows
	closed   bool
	young    *instance // has no session yet
	sessions map[string]*instance
}

// adapt begins to serve, and returns where.
func (w *Workbench) adapt(over Transport, command []string) (address string, err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	a := &adapter{command: command, ended: make(chan struct{}), sessions: make(map[string]*instance)}
	handler := a.serveStreamable
	if over == SSE {
		handler = a.serveSSE
	}
	a.http = &http.Server{ErrorLog: log.New(io.Discard, "", 0), Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !a.enter() {
			panic(http.ErrAbortHandler)
		}
		defer a.under.Done()
		handler(w, r)
	})}
	w.adapters = append(w.adapters, a)
	go func() { _ = a.http.Serve(listener) }() // until it is closed
	return "http://" + listener.Addr().String() + "/mcp", nil
}

// enter counts something that has to end before the adapter is closed; the caller counts
// it down.
func (a *adapter) enter() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.closed {
		a.under.Add(1)
	}
	return !a.closed
}

func (w *Workbench) closeAdapters() {
	for _, a := range w.adapters {
		a.close()
	}
	w.adapters = nil
}

func (a *adapter) close() {
	a.mu.Lock()
	if !a.closed {
		close(a.ended)
	}
	a.closed = true
	all := []*instance{}
	for _, in := range a.sessions {
		all = append(all, in)
	}
	if a.young != nil {
		all = append(all, a.young)
	}
	a.mu.Unlock()
	for _, in := range all {
		in.kill()
	}
	_ = a.http.Close() // connections may have ended by themselves
	a.under.Wait()
}

// envPrefix begins the names of headers that stand for the environment of the process.
const envPrefix = "X-Env-"

func envHeaders(env map[string]string) map[string]string {
	headers := make(map[string]string)
	for name, value := range env {
		headers[envPrefix+name] = value
	}
	return headers
}

func envOf(header http.Header) []string {
	env := []string{"PATH=" + os.Getenv("PATH")}
	for name, values := range header {
		if rest, ok := strings.CutPrefix(name, envPrefix); ok {
			env = append(env, strings.ToUpper(rest)+"="+values[0])
		}
	}
	return env
}

// start starts the process of a session; header are those of the first request. It is
// called with mu held.
func (a *adapter) start(header http.Header) (*instance, error) {
	if a.closed {
		return nil, net.ErrClosed
	}
	in := &instance{id: rand.Text(), cmd: exec.Command(a.command[0], a.command[1:]...), dead: make(chan struct{})}
	in.cmd.Env = envOf(header)
	stdin, err := in.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	in.stdin, in.cmd.Stdout = stdin, theirs
	if err := in.cmd.Start(); err != nil {
		out.Close()
		return nil, err
	}
	a.under.Add(1) // the request that asks for it is counted
	go func() {
		defer a.under.Done()
		in.relay(out)
		a.forget(in)
		close(in.dead)
		in.kill() // it may have closed its stdout only
		out.Close()
		_ = in.cmd.Wait() // how it ended cannot be seen over HTTP
	}()
	return in, nil
}

// fresh returns the process that has no session yet.
func (a *adapter) fresh(header http.Header) (*instance, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.young != nil {
		return a.young, nil
	}
	in, err := a.start(header)
	a.young = in
	return in, err
}

// adopt makes a session of a process.
func (a *adapter) adopt(in *instance) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.young == in {
		a.young = nil
	}
	if !in.gone {
		a.sessions[in.id] = in
	}
}

func (a *adapter) forget(in *instance) {
	a.mu.Lock()
	defer a.mu.Unlock()
	in.gone = true
	if a.young == in {
		a.young = nil
	}
	delete(a.sessions, in.id)
}

func (a *adapter) find(id string) *instance {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.sessions[id]
}
