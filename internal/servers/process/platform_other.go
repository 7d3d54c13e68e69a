//go:build unix && !linux

package process

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	groupInterval   = 20 * time.Millisecond // between checks of a signalled process group
	guardWriteLimit = time.Second           // for writing a line to the guard, which always reads
)

// platform is the part of a Host for macOS and the BSDs. They have no inherited attribute that is visible from outside,
// so a tree is a process group, and the guard is told the groups. A process that leaves its group escapes.
type platform struct {
	opts HostOptions
	log  *slog.Logger

	prepareOnce sync.Once
	prepareErr  error
	guard       *guard // nil if it could not be started

	mu     sync.Mutex
	groups map[int]bool // of live trees
}

func newPlatform(opts HostOptions) *platform {
	return &platform{opts: opts, log: opts.Log, groups: make(map[int]bool)}
}

// prepare starts the guard before the first child.
func (pl *platform) prepare() error {
	pl.prepareOnce.Do(func() {
		if os.Args[0] == GuardName {
			pl.prepareErr = errNoHandover
			return
		}
		if err := pl.startGuard(); err != nil {
			pl.log.Error("the guard process could not be started; if the workbench is killed, servers may live on", "error", err)
		}
	})
	return pl.prepareErr
}

func (pl *platform) startGuard() error {
	executable, err := guardExecutable(pl.opts)
	if err != nil {
		return err
	}
	g := &guard{
		executable: executable,
		start:      (*exec.Cmd).Start,
		greet:      pl.sendGroups,
		log:        pl.log,
	}
	if err := g.run(); err != nil {
		return err
	}
	pl.guard = g
	return nil
}

// sendGroups sends a new guard the existing groups.
func (pl *platform) sendGroups(lifeline *os.File) {
	pl.mu.Lock()
	defer pl.mu.Unlock()
	for group := range pl.groups {
		writeGuardLine(lifeline, "+", group)
	}
}

// writeGuardLine writes one line to the guard: "+" or "-" and a group. If that fails, the guard is dying, and the next one gets
// all groups.
func writeGuardLine(lifeline *os.File, sign string, group int) {
	_ = lifeline.SetWriteDeadline(time.Now().Add(guardWriteLimit))
	_, _ = fmt.Fprintf(lifeline, "%s%d\n", sign, group)
}

// recordGroup records that a group exists or has ended, also with the guard.
func (pl *platform) recordGroup(group int, exists bool) {
	pl.mu.Lock()
	sign := "-"
	if delete(pl.groups, group); exists {
		pl.groups[group] = true
		sign = "+"
	}
	pl.mu.Unlock()
	if pl.guard == nil {
		return
	}
	pl.guard.mu.Lock()
	defer pl.guard.mu.Unlock()
	if pl.guard.lifeline != nil {
		writeGuardLine(pl.guard.lifeline, sign, group)
	}
}

// guardOrders is empty: the guard's orders come over the lifeline.
type guardOrders struct{}

func (guardOrders) define(*flag.FlagSet) {}

// carryOut tracks the groups until the lifeline ends, and then ends them.
func (guardOrders) carryOut(lifeline io.Reader) error {
	groups := make(map[int]bool)
	lines := bufio.NewScanner(lifeline)
	for lines.Scan() {
		group, err := strconv.Atoi(strings.TrimLeft(lines.Text(), "+-"))
		if err != nil || group <= 1 {
			continue // a line cut off by the end of the workbench
		}
		if delete(groups, group); strings.HasPrefix(lines.Text(), "+") {
			groups[group] = true
		}
	}
	var ends sync.WaitGroup
	errs := make(chan error, len(groups))
	for group := range groups {
		ends.Go(func() { errs <- endGroup(context.Background(), group, guardGrace, guardLimit) })
	}
	ends.Wait()
	close(errs)
	var all error
	for err := range errs {
		all = errors.Join(all, err)
	}
	return all
}

func waitFor(cmd *exec.Cmd) (*os.ProcessState, error) {
	err := cmd.Wait()
	return cmd.ProcessState, err
}

func (pl *platform) start(cmd *exec.Cmd, _ bool) (*tree, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	pl.recordGroup(cmd.Process.Pid, true)
	return &tree{platform: pl, group: cmd.Process.Pid}, nil
}

// close stops the guard. All trees have ended, or their groups are still recorded.
func (pl *platform) close() error {
	pl.prepareOnce.Do(func() {}) // if nothing was started, nothing will be
	if pl.guard == nil {
		return nil
	}
	pl.mu.Lock()
	left := len(pl.groups)
	pl.mu.Unlock()
	if left > 0 {
		pl.guard.closeLifeline()
	} else {
		pl.guard.stop()
	}
	return nil
}

// tree is one server's process group.
type tree struct {
	platform *platform
	group    int

	mu   sync.Mutex
	gone bool // the group is empty; its id may be reused
}

// leaderExited is called once, after the wait for the direct child. The id of a group is not reused while the group has
// members, so that it has to be checked now.
func (t *tree) leaderExited() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.gone = !groupExists(t.group)
	if t.gone {
		t.platform.recordGroup(t.group, false)
	}
}

func (t *tree) end(polite context.Context, grace time.Duration) error {
	t.mu.Lock()
	gone := t.gone
	t.mu.Unlock()
	if gone {
		return nil
	}
	if err := endGroup(polite, t.group, grace, killLimit); err != nil {
		return err
	}
	t.platform.recordGroup(t.group, false)
	return nil
}

// endGroup sends SIGTERM to a group, waits for at most grace, and then kills it.
func endGroup(polite context.Context, group int, grace, limit time.Duration) error {
	if polite.Err() == nil && unix.Kill(-group, unix.SIGTERM) == nil && awaitGroupGone(polite, group, grace) {
		return nil
	}
	err := unix.Kill(-group, unix.SIGKILL)
	if errors.Is(err, unix.ESRCH) || awaitGroupGone(context.Background(), group, limit) {
		return nil
	}
	return errors.Join(fmt.Errorf("process group %d does not react to SIGKILL", group), err)
}

// awaitGroupGone reports whether the group became empty in time.
func awaitGroupGone(ctx context.Context, group int, limit time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	ticker := time.NewTicker(groupInterval)
	defer ticker.Stop()
	for groupExists(group) {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// groupExists is also true while a member waits to be reaped.
func groupExists(group int) bool {
	return !errors.Is(unix.Kill(-group, 0), unix.ESRCH)
}

// enlargePipe does nothing: these systems size pipes by themselves.
func enlargePipe(*os.File, int) {}
