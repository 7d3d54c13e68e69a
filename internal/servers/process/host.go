package process

import (
	"context"
	"errors"
	"log/slog"
	"os/exec"
	"sync"
	"time"
)

// GuardName is the argv[0] under which the workbench's own binary runs as the
// guard. A main that uses this package starts with:
//
//	if os.Args[0] == process.GuardName {
//		os.Exit(process.GuardMain(os.Args[1:]))
//	}
const GuardName = "mcp-guard"

// ErrClosed is returned by Start after Close.
var ErrClosed = errors.New("the process host is closed")

// HostOptions configure a Host. The zero value works.
type HostOptions struct {
	// Log receives what the host has to say. Default: nothing is logged.
	Log *slog.Logger
	// Executable is the binary that is run as guard. Default: this one.
	Executable string
	// StateDir is where runs are noted, so that the next one can end what was left
	// by a run whose workbench and guard were both killed. Default: nothing is noted.
	StateDir string
	// Grace is how long a tree may take to react to the end of its stdin, and again
	// to SIGTERM, before Stop goes on. Default: 500 ms.
	Grace time.Duration
}

// Host owns all children of one workbench. Several may live in one program.
type Host struct {
	grace    time.Duration
	platform *platform

	mu       sync.Mutex
	closed   bool
	procs    map[*Process]struct{} // from Start until Stop has finished
	starting sync.WaitGroup        // calls of Start under way; no Add once closed

	closeOnce sync.Once
	closeErr  error
}

// NewHost prepares a Host. It starts nothing.
func NewHost(opts HostOptions) *Host {
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	if opts.Grace <= 0 {
		opts.Grace = defaultGrace
	}
	return &Host{
		grace:    opts.Grace,
		platform: newPlatform(opts),
		procs:    make(map[*Process]struct{}),
	}
}

// Spec says what to start. No shell is involved.
type Spec struct {
	// Command is a name looked up in the PATH of Env, or a path. A relative path
	// with a slash is relative to Dir if that is set, else to our working directory.
	// Relative folders in PATH are not searched.
	Command string
	Args    []string
	// Env is the whole environment of the child, as "NAME=value"; a later entry
	// wins. Unlike with os/exec, nil means an empty one, so that none of our
	// secrets are passed on by omission. See Environment.
	Env []string
	// Dir is the child's working directory. Default: ours.
	Dir string
	// KeepDetached spares processes that put themselves into a session of their own,
	// such as a browser that the server opened. They may outlive the workbench.
	KeepDetached bool
	// StderrLine, if set, is called with each line of stderr, in order, from one
	// goroutine. While it blocks, the child's stderr blocks.
	StderrLine func(line string)
}

// Start starts a child, and the guard before the first one. Its errors are meant for
// people. That there is no guard is no error: it is logged, and Stop and Close work
// without it.
func (h *Host) Start(spec Spec) (*Process, error) {
	roomy, err := h.begin()
	if err != nil {
		return nil, err
	}
	defer h.starting.Done()

	path, err := findCommand(spec)
	if err != nil {
		return nil, err
	}
	if err := h.platform.prepare(); err != nil {
		return nil, err
	}
	pipes, err := openPipes(roomy)
	if err != nil {
		return nil, startError(spec, path, err)
	}
	cmd := &exec.Cmd{
		Path:   path,
		Args:   append([]string{spec.Command}, spec.Args...),
		Env:    append([]string{}, spec.Env...),
		Dir:    spec.Dir,
		Stdin:  pipes.childStdin,
		Stdout: pipes.childStdout,
		Stderr: pipes.childStderr,
	}
	tree, err := h.platform.start(cmd, spec.KeepDetached)
	pipes.closeChildEnds()
	if err != nil {
		pipes.closeOurEnds()
		return nil, startError(spec, path, err)
	}
	p := newProcess(cmd, tree, pipes, spec, h.grace, h.forget)
	h.mu.Lock()
	h.procs[p] = struct{}{}
	h.mu.Unlock()
	return p, nil
}

// begin admits one call of Start and says whether its pipes may be large.
func (h *Host) begin() (roomy bool, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false, ErrClosed
	}
	h.starting.Add(1)
	return len(h.procs) < maxRoomy, nil
}

func (h *Host) forget(p *Process) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.procs, p)
}

// Close stops all processes in parallel, ends whatever else carries this run's
// mark, and stops the guard. The end of ctx shortens the polite waits, see
// Process.Stop. Later calls hurry an earlier one if their ctx ends sooner, wait for
// it and return the same error.
func (h *Host) Close(ctx context.Context) error {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.starting.Wait()

	h.mu.Lock()
	var stops sync.WaitGroup
	errs := make(chan error, len(h.procs))
	for p := range h.procs {
		stops.Go(func() { errs <- p.Stop(ctx) })
	}
	h.mu.Unlock()
	stops.Wait()
	close(errs)

	h.closeOnce.Do(func() {
		h.closeErr = h.platform.close()
		for err := range errs {
			h.closeErr = errors.Join(h.closeErr, err)
		}
	})
	return h.closeErr
}
