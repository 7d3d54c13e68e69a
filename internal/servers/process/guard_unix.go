//go:build unix

package process

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

const (
	// guardGrace is how long the guard lets processes react to SIGTERM before it kills them.
	guardGrace = 500 * time.Millisecond

	// guardLimit bounds the guard's work. Only processes stuck in the kernel take this long; their signal is pending.
	guardLimit = 2 * time.Minute

	steadyLife       = 10 * time.Second // of a guard; one that dies earlier counts as failed
	maxGuardFailures = 3                // guards that failed in a row; then no other is started, which is logged

	// lifelineFD is the guard's end of the pipe that closes when the workbench exits. It is the first of
	// exec.Cmd.ExtraFiles.
	lifelineFD = 3
)

// errNoHandover keeps a binary that runs as guard without calling GuardMain from starting guards of its own without
// end.
var errNoHandover = errors.New("this program was started as " + GuardName + " but its main does not call process.GuardMain")

// GuardMain is the main function of the guard. It waits until the workbench has exited, for whatever reason, and then
// ends every process that it left. args are os.Args[1:].
func GuardMain(args []string) int {
	// A signal to the whole group or service is for the workbench; the guard has to outlive it.
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)

	var orders guardOrders
	flags := flag.NewFlagSet(GuardName, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	fd := flags.Uint("lifeline", lifelineFD, "pipe that ends with the workbench")
	orders.define(flags)
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if err := orders.carryOut(os.NewFile(uintptr(*fd), "lifeline")); err != nil {
		return 1
	}
	return 0
}

// guard keeps one guard process running while the workbench lives.
type guard struct {
	executable string
	args       []string
	shared     []*os.File // further files for the guard, from fd 4 on
	start      func(*exec.Cmd) error
	greet      func(lifeline *os.File) // called for each new guard; may be nil
	log        *slog.Logger

	mu       sync.Mutex
	cmd      *exec.Cmd
	lifeline *os.File // the workbench's end of the pipe
	closing  bool

	done chan struct{} // closed by watch
}

// run starts the guard, and a goroutine that replaces it if it dies. On an error there is neither.
func (g *guard) run() error {
	cmd, err := g.launch()
	if err != nil {
		return err
	}
	g.done = make(chan struct{})
	go g.watch(cmd) // ends with the guard once it is closing
	return nil
}

func (g *guard) launch() (*exec.Cmd, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closing {
		return nil, ErrClosed
	}
	theirs, ours, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	// A main that does not know the guard fails on the flag and exits, instead of doing its usual work under another
	// name.
	cmd := &exec.Cmd{
		Path:        g.executable,
		Args:        append([]string{GuardName, fmt.Sprintf("-lifeline=%d", lifelineFD)}, g.args...),
		Env:         []string{"GOMAXPROCS=1"},
		Dir:         "/", // it must not keep a file system busy
		ExtraFiles:  append([]*os.File{theirs}, g.shared...),
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	if err := g.start(cmd); err != nil {
		_ = ours.Close()
		return nil, err
	}
	g.cmd, g.lifeline = cmd, ours
	if g.greet != nil {
		g.greet(ours)
	}
	return cmd, nil
}

// watch waits for the guard and replaces it if it dies early.
func (g *guard) watch(cmd *exec.Cmd) {
	defer close(g.done)
	failures := 0
	for cmd != nil {
		born := time.Now()
		exit := describeExit(waitFor(cmd))
		if g.closeIfLost() {
			return
		}
		if time.Since(born) > steadyLife {
			failures = 0
		}
		failures++
		g.log.Warn("the guard process died", "exit", exit)
		cmd, failures = g.replace(failures)
	}
}

// replace starts another guard. It returns nil if the workbench is closing or too many guards failed in a row.
func (g *guard) replace(failures int) (*exec.Cmd, int) {
	for ; failures < maxGuardFailures; failures++ {
		cmd, err := g.launch()
		if err == nil || errors.Is(err, ErrClosed) {
			return cmd, failures
		}
		g.log.Warn("the guard process could not be started", "error", err)
	}
	g.log.Error("the guard process keeps failing; if the workbench is killed, servers may live on", "failures", failures)
	return nil, failures
}

// closeIfLost closes the lifeline of a guard that has exited, and reports whether the exit was intended.
func (g *guard) closeIfLost() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	closeAll(g.lifeline)
	g.lifeline = nil
	return g.closing
}

// stop kills the guard and waits for it. No process to guard may be left.
func (g *guard) stop() {
	g.mu.Lock()
	g.closing = true
	if g.lifeline != nil {
		_ = g.cmd.Process.Kill() // it may have exited already
	}
	g.mu.Unlock()
	<-g.done
}

// closeLifeline makes the guard end the servers while the workbench still runs. It does not wait for the guard, which may need
// as long as guardLimit.
func (g *guard) closeLifeline() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closing = true
	closeAll(g.lifeline)
	g.lifeline = nil
}

// guardExecutable returns the binary to run as guard.
func guardExecutable(opts HostOptions) (string, error) {
	if opts.Executable != "" {
		return opts.Executable, nil
	}
	if _, err := os.Stat("/proc/self/exe"); err == nil {
		return "/proc/self/exe", nil // the running binary, even after an update replaced the file
	}
	return os.Executable()
}
