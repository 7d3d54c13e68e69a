package process

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// platform is the Linux part of a Host: marks, the guard, the ledger, the reaper.
type platform struct {
	opts HostOptions
	log  *slog.Logger

	prepareOnce sync.Once
	prepareErr  error
	prepared    bool
	run         run
	ledger      *ledger       // nil without a StateDir or if it cannot be written
	guard       *guard        // nil if it could not be started
	orphans     *orphanReaper // nil if children are not marked by limit

	mu         sync.Mutex
	lastServer uint16
	servers    map[uint16]bool // in use
}

func newPlatform(opts HostOptions) *platform {
	return &platform{opts: opts, log: opts.Log, servers: make(map[uint16]bool)}
}

// prepare sets up everything that the first child needs.
func (pl *platform) prepare() error {
	pl.prepareOnce.Do(func() { pl.prepareErr = pl.prepareNow() })
	return pl.prepareErr
}

func (pl *platform) prepareNow() error {
	if os.Args[0] == GuardName {
		return errNoHandover
	}
	session, err := unix.Getsid(0)
	if err != nil {
		return fmt.Errorf("reading our session: %w", err)
	}
	pl.run = run{id: randomRun(), session: session}
	if pl.run.marking, err = chooseMarking(pl.run.id); err != nil {
		pl.log.Warn("children are marked by an environment variable, because the lock limit cannot be used; a process that clears its environment may outlive its server", "variable", markVariable, "error", err)
	}
	if pl.opts.StateDir != "" {
		endLeftovers(pl.opts.StateDir, pl.log)
		if pl.ledger, err = openLedger(pl.opts.StateDir, pl.run); err != nil {
			pl.log.Warn("this run cannot be recorded; if the workbench and its guard are both killed, servers may live on", "error", err)
		}
	}
	if err := pl.startGuard(); err != nil {
		pl.log.Error("the guard process could not be started; if the workbench is killed, servers may live on", "error", err)
	}
	if pl.run.marking == byLimit { // only then can an orphan be distinguished from a child of other code
		if pl.orphans, err = startOrphanReaper(); err != nil {
			pl.log.Warn("processes that servers leave behind will not be reaped here", "error", err)
		}
	}
	pl.prepared = true
	return nil
}

func randomRun() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return binary.LittleEndian.Uint64(b[:]) >> (64 - runBits)
}

func (pl *platform) startGuard() error {
	executable, err := guardExecutable(pl.opts)
	if err != nil {
		return err
	}
	g := &guard{
		executable: executable,
		args:       []string{"-run=" + pl.run.String()},
		log:        pl.log,
		start: func(cmd *exec.Cmd) error {
			return pl.run.marking.start(cmd, newMark(pl.run.id, guardServer, false))
		},
	}
	if pl.ledger != nil {
		g.args = append(g.args, "-ledger="+pl.ledger.path)
		g.shared = []*os.File{pl.ledger.file}
	}
	if err := g.run(); err != nil {
		return err
	}
	pl.guard = g
	return nil
}

// guardOrders are the guard's arguments.
type guardOrders struct {
	run    run
	ledger string
}

func (o *guardOrders) define(flags *flag.FlagSet) {
	flags.Func("run", "the run whose processes are to be ended", func(s string) (err error) {
		o.run, err = parseRun(s)
		return err
	})
	flags.StringVar(&o.ledger, "ledger", "", "the run's ledger file")
}

// carryOut waits for the end of the lifeline, to which nothing is written, and ends the run. The ledger file stays if
// processes are left, for the next start.
func (o *guardOrders) carryOut(lifeline io.Reader) error {
	if o.run.id == 0 {
		return errors.New("no run given")
	}
	_, _ = io.Copy(io.Discard, lifeline) // an error is an end, too
	if err := (target{run: o.run}).sweep(context.Background(), guardGrace, guardLimit); err != nil {
		return err
	}
	if o.ledger == "" {
		return nil
	}
	removeBoxes(filepath.Dir(filepath.Dir(o.ledger)), o.run.String())
	return os.Remove(o.ledger)
}

// waitFor waits for a command that was started with a marking.
func waitFor(cmd *exec.Cmd) (*os.ProcessState, error) {
	err := cmd.Wait()
	forgetChild(cmd.Process.Pid)
	return cmd.ProcessState, err
}

// start starts cmd as the root of a process tree.
func (pl *platform) start(cmd *exec.Cmd, keepDetached bool) (*tree, error) {
	server, err := pl.allocateServer()
	if err != nil {
		return nil, err
	}
	t := &tree{platform: pl, mark: newMark(pl.run.id, server, keepDetached)}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := pl.run.marking.start(cmd, t.mark); err != nil {
		pl.freeServer(server)
		return nil, err
	}
	t.leader = cmd.Process.Pid
	return t, nil
}

func (pl *platform) allocateServer() (uint16, error) {
	pl.mu.Lock()
	defer pl.mu.Unlock()
	for range uint16(serverOf) {
		pl.lastServer = pl.lastServer%uint16(serverOf) + 1 // skips guardServer
		if !pl.servers[pl.lastServer] {
			pl.servers[pl.lastServer] = true
			return pl.lastServer, nil
		}
	}
	return 0, errors.New("too many servers are running")
}

func (pl *platform) freeServer(server uint16) {
	pl.mu.Lock()
	defer pl.mu.Unlock()
	delete(pl.servers, server)
}

// close ends the remaining processes of the run, and then the guard. If some cannot be ended, the guard keeps trying.
func (pl *platform) close() error {
	pl.prepareOnce.Do(func() {}) // if nothing was started, nothing will be
	if !pl.prepared {
		return nil
	}
	err := target{run: pl.run, owner: os.Getpid()}.sweep(context.Background(), 0, killLimit)
	reapOrphans()
	if pl.opts.StateDir != "" && err == nil {
		removeBoxes(pl.opts.StateDir, pl.run.String())
	}
	if pl.orphans != nil {
		pl.orphans.stop()
	}
	if pl.guard != nil {
		if err == nil {
			pl.guard.stop()
		} else {
			pl.guard.closeLifeline()
		}
	}
	switch {
	case pl.ledger == nil:
	case err == nil:
		err = pl.ledger.finish()
	default:
		_ = pl.ledger.file.Close() // the guard holds the lock and deletes the file
	}
	return err
}

// tree is the process tree of one server.
type tree struct {
	platform *platform
	mark     mark
	leader   int // the direct child, leader of its process group

	mu        sync.Mutex
	groupGone bool // the group ended with its leader; its id may be reused
}

// leaderExited is called once, after the wait for the direct child.
func (t *tree) leaderExited() {
	forgetChild(t.leader)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.groupGone = errors.Is(unix.Kill(-t.leader, 0), unix.ESRCH)
}

// end ends all processes of the tree.
func (t *tree) end(polite context.Context, grace time.Duration) error {
	victims := target{run: t.platform.run, mark: t.mark, owner: os.Getpid()}
	if t.platform.run.marking == byEnvironment {
		t.mu.Lock()
		if !t.groupGone {
			victims.group = t.leader
		}
		t.mu.Unlock()
	}
	err := victims.sweep(polite, grace, killLimit)
	reapOrphans()
	if err != nil {
		return err // the mark stays in use
	}
	t.platform.freeServer(t.mark.server())
	return nil
}

// enlargePipe requests a pipe size: a message that fits needs fewer context switches. Errors are ignored.
func enlargePipe(file *os.File, size int) {
	conn, err := file.SyscallConn()
	if err != nil {
		return
	}
	_ = conn.Control(func(fd uintptr) {
		_, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, size)
	})
}
