package process

import (
	"context"
	"errors"
	"log/slog"
	"os/exec"
	"sync"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/servers/sandbox"
)

// GuardName is the argv[0] under which the workbench's binary runs as the guard.
const GuardName = "mcp-guard"

// Handover runs this program as the guard or as the launcher of a sandbox, if it was started as one of them. A main that uses
// this package starts with:
//
//	if status, ok := process.Handover(os.Args); ok {
//		os.Exit(status)
//	}
func Handover(args []string) (status int, isHelper bool) {
	switch {
	case len(args) == 0:
	case args[0] == GuardName:
		return GuardMain(args[1:]), true
	case args[0] == sandbox.LauncherName:
		return sandbox.LauncherMain(), true
	}
	return 0, false
}

// ErrClosed is returned by Start after Close.
var ErrClosed = errors.New("the process host is closed")

// HostOptions configure a Host. The zero value works.
type HostOptions struct {
	// Log receives the host's log messages. Default: discard.
	Log *slog.Logger
	// Executable is the binary to run as guard and as launcher. Default: this one.
	Executable string
	// StateDir is a folder in which runs are recorded, so that the next run can end what is left of one whose workbench
	// and guard were both killed, and with the files of sandboxed servers. Default: runs are not recorded, and such a
	// server has only temporary files.
	StateDir string
	// Grace is how long a process tree may take to react to the end of its stdin, and then again to SIGTERM. Default:
	// 500 ms.
	Grace time.Duration
}

// Host owns all children of one workbench. One program can have several hosts.
type Host struct {
	grace    time.Duration
	options  HostOptions
	platform *platform

	mu       sync.Mutex
	closed   bool
	procs    map[*Process]struct{} // from Start until Stop has finished
	starting sync.WaitGroup        // running calls of Start; no Add once closed

	tidyBoxes sync.Once // see removeOldCaches

	closeOnce sync.Once
	closeErr  error
}

// NewHost returns a Host. It starts nothing.
func NewHost(opts HostOptions) *Host {
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	if opts.Grace <= 0 {
		opts.Grace = defaultGrace
	}
	return &Host{
		grace:    opts.Grace,
		options:  opts,
		platform: newPlatform(opts),
		procs:    make(map[*Process]struct{}),
	}
}

// Spec describes a child to start. No shell is involved.
type Spec struct {
	// Command is a path, or a name to look up in the PATH of Env. A relative path with a slash is relative to Dir if
	// that is set, else to the current working directory. Relative folders in PATH are not searched.
	Command string
	Args    []string
	// Env is the whole environment of the child, as "NAME=value"; a later entry takes precedence. Unlike in os/exec,
	// nil means an empty environment, so that no secrets are passed by omission. See Environment.
	Env []string
	// Dir is the child's working directory. Default: the current one.
	Dir string
	// KeepDetached spares processes with a session of their own, such as a browser that the server opened. They may
	// outlive the workbench.
	KeepDetached bool
	// Sandbox, if set, limits what the child can do. It is an error if that cannot be had.
	Sandbox *Sandbox
	// StderrLine, if set, is called with each line of stderr, in order, from one goroutine. While it blocks, the
	// child's stderr blocks.
	StderrLine func(line string)
}

// Start starts a child, and the guard before the first child. Its errors are meant for people. A missing guard is only
// logged: Stop and Close work without it.
func (h *Host) Start(spec Spec) (*Process, error) {
	roomy, err := h.admitStart()
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
	box, err := h.openBox(spec, path)
	if err != nil {
		return nil, err
	}
	pipes, err := openPipes(roomy)
	if err != nil {
		box.close()
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
	box.wrap(cmd)
	tree, err := h.platform.start(cmd, spec.KeepDetached)
	pipes.closeChildEnds()
	if err != nil {
		pipes.closeOurEnds()
		box.close()
		return nil, startError(spec, path, err)
	}
	p := newProcess(cmd, tree, pipes, spec, h.grace, h.removeProcess)
	p.path, p.box = path, box
	h.mu.Lock()
	h.procs[p] = struct{}{}
	h.mu.Unlock()
	if err := box.await(spec, path); err != nil {
		ctx, cancel := context.WithCancel(context.Background())
		cancel() // nothing of the child's runs that could end in order
		return nil, errors.Join(err, p.Stop(ctx))
	}
	return p, nil
}

// admitStart registers a call of Start, and returns whether its pipes may be large.
func (h *Host) admitStart() (roomy bool, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false, ErrClosed
	}
	h.starting.Add(1)
	return len(h.procs) < maxRoomy, nil
}

func (h *Host) removeProcess(p *Process) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.procs, p)
}

// Close stops all processes in parallel, ends everything else with this run's mark, and stops the guard. The end of ctx
// cuts the grace periods short, see Process.Stop. Later calls hurry an earlier one if their ctx ends sooner, wait for
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
