// Package process runs child process trees: it starts a server, keeps the tail of its stderr, stops it gracefully or by
// force, and leaves no orphans, even when the workbench itself is killed with SIGKILL.
//
// A [Host] owns all children of one workbench. On Linux every child is born with a mark that all its descendants
// inherit and cannot easily lose. One guard process, started before the first child, ends everything with the run's
// mark once the workbench is gone. Other Unixes have only process groups; Windows has job objects.
//
// While a child is being started, the mark is a resource limit of the whole workbench. A process that other code starts
// in the same instant would inherit it and be ended with that child. So the workbench must start every process, small
// helpers included, through a Host.
package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

const (
	// defaultGrace is how long a process may take to react to the end of stdin, and then again to SIGTERM. Twice the
	// grace and the other limits bound one Stop to less than 3 s.
	defaultGrace = 500 * time.Millisecond

	// killLimit bounds the killing itself. Only a process stuck in the kernel needs more than a few milliseconds.
	killLimit = time.Second

	// reapLimit bounds the wait for a killed child. It includes drainLimit.
	reapLimit = 900 * time.Millisecond

	// drainLimit is how long Done waits for the last output on stderr, which a grandchild may keep open forever.
	drainLimit = 250 * time.Millisecond
)

// Process is one running child with all its descendants. Every Process has to be stopped, even if it exited by itself:
// Stop ends what it left behind and closes its pipes.
type Process struct {
	cmd    *exec.Cmd
	path   string // of the executable; that of cmd may be the launcher's
	tree   *tree
	box    *box // nil without a sandbox
	stdin  *os.File
	stdout *output
	stderr *stderrTail
	grace  time.Duration

	done chan struct{} // closed by wait
	exit string        // written by wait before done is closed

	// polite is cancelled when a caller of Stop has run out of time.
	polite context.Context
	hurry  context.CancelFunc

	stopOnce  sync.Once
	stopped   chan struct{} // closed by stop
	stopErr   error         // written by stop before stopped is closed
	onStopped func(*Process)
}

func newProcess(cmd *exec.Cmd, tree *tree, pipes *pipes, spec Spec, grace time.Duration, onStopped func(*Process)) *Process {
	p := &Process{
		cmd:       cmd,
		tree:      tree,
		stdin:     pipes.stdin,
		stdout:    &output{file: pipes.stdout},
		stderr:    newStderrTail(pipes.stderr, spec.StderrLine),
		grace:     grace,
		done:      make(chan struct{}),
		stopped:   make(chan struct{}),
		onStopped: onStopped,
	}
	p.polite, p.hurry = context.WithCancel(context.Background())
	go p.stderr.read() // ends with the pipe; stop waits for it
	go p.wait()        // ends with the child; stop waits for it
	return p
}

// PID returns the process id of the direct child.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Path returns the executed file.
func (p *Process) Path() string { return p.path }

// Stdin returns the child's standard input. Write blocks while the pipe is full; Stop and Close interrupt it.
func (p *Process) Stdin() io.WriteCloser { return p.stdin }

// InputTaken reports whether everything written to Stdin has been read, if the system can tell. It also works after the
// child has exited, until Stdin is closed.
func (p *Process) InputTaken() (taken, known bool) {
	n, known := unread(p.stdin)
	return known && n == 0, known
}

// Stdout returns the child's standard output. Once the direct child has exited, Read returns what is left in the pipe
// and then io.EOF, even if a grandchild holds the other end (except on Windows, where EOF waits for it). Stop closes
// it; unread output is lost.
func (p *Process) Stdout() io.ReadCloser { return p.stdout }

// Done is closed when the direct child has exited and was waited for. StderrTail then contains its output.
func (p *Process) Done() <-chan struct{} { return p.done }

// Exit describes how the direct child ended: "exited with code 3", "was killed by SIGSEGV". Before Done it is "still
// running".
func (p *Process) Exit() string {
	select {
	case <-p.done:
		return p.exit
	default:
		return "still running"
	}
}

// StderrTail returns the last lines of stderr, at most maxLines, or all that are kept if maxLines is not positive. It
// may be called at any time.
func (p *Process) StderrTail(maxLines int) []string { return p.stderr.tail(maxLines) }

// Stop ends the whole tree: it closes stdin, waits for the child to exit, sends SIGTERM to the remaining processes,
// waits again, and kills those that still remain. The end of ctx cuts both waits short; the killing itself has its own
// bound. Concurrent and later calls wait for the same stop and return the same error; the first ctx to end hurries it
// for all. After nil no process of the tree lives, except those that Spec.KeepDetached spares.
func (p *Process) Stop(ctx context.Context) error {
	p.stopOnce.Do(func() { go p.stop() })
	select {
	case <-p.stopped:
	case <-ctx.Done():
		p.hurry()
		<-p.stopped
	}
	return p.stopErr
}

// stop runs once, in a goroutine that every caller of Stop waits for.
func (p *Process) stop() {
	defer close(p.stopped)
	defer p.hurry()

	_ = p.stdin.Close() // the caller may have closed it already
	p.awaitExit(p.polite, p.grace)
	err := p.tree.end(p.polite, p.grace)
	if !p.awaitExit(context.Background(), reapLimit) {
		err = errors.Join(err, fmt.Errorf("process %d is still there after SIGKILL", p.PID()))
	}
	_ = p.stdout.Close()
	p.stderr.close()
	p.box.close()
	p.stopErr = err
	p.onStopped(p)
}

// awaitExit reports whether the direct child exited before limit and ctx ended.
func (p *Process) awaitExit(ctx context.Context, limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-p.done:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	return false
}

// wait reaps the direct child. All three pipes are files, so that cmd.Wait depends on the child only, not on other
// holders of the pipes.
func (p *Process) wait() {
	defer close(p.done)
	err := p.cmd.Wait()
	p.tree.leaderExited()
	p.stdout.endWithChild()
	p.stderr.drain(drainLimit)
	p.exit = describeExit(p.cmd.ProcessState, err)
}

// ExitedWell is what Exit says of a child that ended without complaint.
const ExitedWell = "exited with code 0"

func describeExit(state *os.ProcessState, waitErr error) string {
	if state == nil {
		return fmt.Sprintf("ended in an unknown way (%v)", waitErr)
	}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return "was killed by " + signalName(status.Signal())
	}
	return fmt.Sprintf("exited with code %d", state.ExitCode())
}
