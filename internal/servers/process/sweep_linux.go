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
	// emptyPasses scans without a result in a row mean that no process is left: one that forks and exits may escape one
	// scan of /proc, but hardly three.
	emptyPasses = 3

	checkInterval = 5 * time.Millisecond // between checks of signalled processes

	minKillPause = 10 * time.Millisecond  // the shortest wait for killed processes to exit before the next pass
	maxKillPause = 250 * time.Millisecond // the longest wait for killed processes to exit before the next pass

	maxDescent = 1024 // generations between the workbench and a process that are searched
)

// target selects the processes that a sweep ends.
type target struct {
	run   run
	mark  mark // of one server; 0: every server of the run
	group int  // also ends this process group; 0: none
	owner int  // the workbench of the run while it lives; 0: it has exited
}

// includes reports whether the sweep is to end a process.
func (t target) includes(pid int) bool {
	if t.group != 0 {
		if s, ok := readStat(pid); ok && s.alive() && s.group == t.group {
			return true
		}
	}
	m, ok := t.run.marking.markOf(pid)
	if !ok || m.run() != t.run.id || m.server() == guardServer || t.mark != 0 && m != t.mark {
		return false
	}
	s, ok := readStat(pid)
	if !ok || !s.alive() || t.owner != 0 && isForeign(pid) && !descends(s, t.owner) {
		return false
	}
	return !m.keepsDetached() || s.session == t.run.session
}

// isForeign reports whether a process belongs to another user. The mark of such a process proves little, since everyone
// can see a mark and set the same limit. While the workbench lives, foreign processes that a server started (with sudo,
// or by dropping rights) descend from it; afterwards nothing distinguishes them from unrelated ones.
func isForeign(pid int) bool {
	user, ok := readUser(pid)
	return ok && user != os.Getuid()
}

// descends reports whether a process descends from another one. Orphans become children of the workbench.
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

// sweep ends all processes of the target: it sends SIGTERM, waits for at most grace or until polite ends, and then
// sends SIGKILL until none is left or limit has passed.
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
			// Processes of another user, as after sudo, cannot be waited for without end. If the workbench has exited,
			// they may be unrelated.
			if empty++; empty == emptyPasses && len(found.denied) > 0 && t.owner != 0 {
				return fmt.Errorf("processes %v belong to another user and cannot be ended", found.denied)
			}
			continue
		}
		if time.Now().After(deadline) {
			if t.owner == 0 && !slices.ContainsFunc(found.signalled, func(pid int) bool { return !isForeign(pid) }) {
				return nil // of another user, who starts them faster than they end
			}
			return fmt.Errorf("processes %v do not react to SIGKILL", found.signalled)
		}
		empty = 0
		t.awaitGone(context.Background(), found.signalled, pause)
		pause = min(2*pause, maxKillPause)
	}
	return nil
}

// scanResult is the result of one scan of /proc.
type scanResult struct {
	signalled, denied []int
}

// signal sends sig to all processes of the target.
func (t target) signal(sig syscall.Signal) (scanResult, error) {
	pids, err := listProcesses()
	if err != nil {
		return scanResult{}, fmt.Errorf("looking for processes: %w", err)
	}
	var found scanResult
	for _, pid := range pids {
		if !t.includes(pid) {
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

// signalOne opens the process first (as a pidfd, where the kernel supports that) and then checks again. If the id was
// reused before, the check fails; if it is reused afterwards, the signal fails.
func (t target) signalOne(pid int, sig syscall.Signal) error {
	process, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	defer func() { _ = process.Release() }() // closes the pidfd, whatever happened to the process
	if !t.includes(pid) {
		return os.ErrProcessDone
	}
	return process.Signal(sig)
}

// awaitGone waits until none of these processes is left, at most limit. Checking a few is cheap; scanning /proc is not,
// and many trees may be stopped at once.
func (t target) awaitGone(ctx context.Context, pids []int, limit time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	ticker := time.NewTicker(checkInterval)
	defer ticker.Stop()
	for slices.ContainsFunc(pids, t.includes) {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}
