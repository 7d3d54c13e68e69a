package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"
)

const (
	// emptyPasses in a row mean that nothing is left: a process that forks and exits
	// may slip through one scan of /proc, but hardly through three.
	emptyPasses = 3

	lookInterval = 5 * time.Millisecond // between looks at processes that were signalled

	// How long killed processes may take to vanish before the next pass.
	minKillPause = 10 * time.Millisecond
	maxKillPause = 250 * time.Millisecond // the longest wait for killed processes to vanish

	maxDescent = 1024 // generations between the workbench and a process
)

// target says which processes a sweep ends.
type target struct {
	run   run
	mark  mark // of one server; 0: every server of the run
	group int  // ends this process group too; 0: none
	owner int  // the workbench of the run, while it lives; 0: it is gone
}

// has reports whether a process is to be ended.
func (t target) has(pid int) bool {
	if t.group != 0 {
		if s, ok := readStat(pid); ok && s.alive() && s.group == t.group {
			return true
		}
	}
	m, ok := t.run.marking.of(pid)
	if !ok || m.run() != t.run.id || m.server() == guardServer || t.mark != 0 && m != t.mark {
		return false
	}
	s, ok := readStat(pid)
	if !ok || !s.alive() || t.owner != 0 && isForeign(pid) && !descends(s, t.owner) {
		return false
	}
	return !m.keepsDetached() || s.session == t.run.session
}

// isForeign reports that a process is another user's. Everyone can see a mark and set the same limit, so that of such a
// process it says little. While the workbench lives, those that a server started (by sudo, or because it gave up
// its rights) descend from it; afterwards nothing tells them from a stranger's.
func isForeign(pid int) bool {
	user, ok := readUser(pid)
	return ok && user != os.Getuid()
}

// descends reports whether a process is below another one. What loses its parent becomes a child of the workbench.
func descends(s stat, ancestor int) bool {
	for range maxDescent {
		if s.parent == ancestor {
			return true
		}
		var ok bool
		if s, ok = readStat(s.parent); !ok {
			return false
		}
	}
	return false
}

// sweep ends all processes of the target: SIGTERM, a wait of at most grace that ends
// with polite, then SIGKILL until none is left or limit has passed.
func (t target) sweep(polite context.Context, grace, limit time.Duration) error {
	if polite.Err() == nil && grace > 0 {
		found, err := t.signal(syscall.SIGTERM)
		if err != nil {
			return err
		}
		t.awaitGone(polite, found.signalled, grace)
	}
	deadline := time.Now().Add(limit)
	pause := minKillPause
	for empty := 0; empty < emptyPasses; {
		found, err := t.signal(syscall.SIGKILL)
		if err != nil {
			return err
		}
		if len(found.signalled) == 0 {
			// Processes of another user, as after sudo, cannot be waited for: that
			// would never end. Without the workbench they may be a stranger's.
			if empty++; empty == emptyPasses && len(found.denied) > 0 && t.owner != 0 {
				return fmt.Errorf("processes %v belong to another user and cannot be ended", found.denied)
			}
			continue
		}
		if time.Now().After(deadline) {
			if t.owner == 0 && !slices.ContainsFunc(found.signalled, func(pid int) bool { return !isForeign(pid) }) {
				return nil // a stranger's, who starts them faster than they end
			}
			return fmt.Errorf("processes %v do not react to SIGKILL", found.signalled)
		}
		empty = 0
		t.awaitGone(context.Background(), found.signalled, pause)
		pause = min(2*pause, maxKillPause)
	}
	return nil
}

// sighting is what one scan of /proc has found.
type sighting struct {
	signalled, denied []int
}

// signal sends sig to all processes of the target.
func (t target) signal(sig syscall.Signal) (sighting, error) {
	pids, err := listProcesses()
	if err != nil {
		return sighting{}, fmt.Errorf("looking for processes: %w", err)
	}
	var found sighting
	for _, pid := range pids {
		if !t.has(pid) {
			continue
		}
		switch err := t.signalOne(pid, sig); {
		case errors.Is(err, os.ErrProcessDone):
		case errors.Is(err, os.ErrPermission):
			found.denied = append(found.denied, pid)
		default:
			found.signalled = append(found.signalled, pid)
		}
	}
	return found, nil
}

// signalOne takes hold of the process first (a pidfd, where the kernel has them) and
// only then checks once more: if the id was recycled in between, the check fails, and
// if it is recycled afterwards, the signal does.
func (t target) signalOne(pid int, sig syscall.Signal) error {
	process, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	defer func() { _ = process.Release() }() // frees the pidfd, whatever became of the process
	if !t.has(pid) {
		return os.ErrProcessDone
	}
	return process.Signal(sig)
}

// awaitGone waits until none of these processes is left, at most limit. Looking at a
// few is cheap; all of /proc is not, and many trees may be stopped at once.
func (t target) awaitGone(ctx context.Context, pids []int, limit time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	ticker := time.NewTicker(lookInterval)
	defer ticker.Stop()
	for slices.ContainsFunc(pids, t.has) {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}
