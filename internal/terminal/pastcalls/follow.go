package pastcalls

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/history"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
)

// Finder returns the running workbenches; an error with the code NotRunning if there is none.
type Finder func(ctx context.Context) ([]*control.Client, error)

// findInterval is how often Follow looks for workbenches that were started meanwhile.
const findInterval = time.Second

// endedWindow is how long ago a workbench may have ended whose files are looked at.
const endedWindow = 5 * findInterval

// follower passes on calls of all workbenches as they end.
type follower struct {
	query    *Query
	handle   func(history.Record)
	handling sync.Mutex

	mu       sync.Mutex
	followed map[history.Owner]bool
	next     map[history.Owner]uint64
	all      sync.WaitGroup
}

// Follow passes on the calls after those that were found, of workbenches that run now or later, until the context ends.
func (q *Query) Follow(ctx context.Context, find Finder, found *Calls, handle func(history.Record)) error {
	f := &follower{query: q, handle: handle, followed: make(map[history.Owner]bool), next: found.next}
	defer f.all.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	again := time.NewTicker(findInterval)
	defer again.Stop()
	for {
		running, err := find(ctx)
		if problem, ok := errors.AsType[*toolbox.Error](err); err != nil && ctx.Err() == nil && (!ok || problem.Code != toolbox.NotRunning) {
			return err
		}
		for _, workbench := range running {
			f.follow(ctx, workbench)
		}
		f.passStored(running, found.at)
		select {
		case <-again.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// follow passes on the calls of one workbench, unless it is followed already.
func (f *follower) follow(ctx context.Context, workbench *control.Client) {
	owner := ownerOf(workbench)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.followed[owner] {
		return
	}
	f.followed[owner] = true
	after := f.next[owner]
	f.all.Go(func() {
		// It ends with the workbench or the command. Whatever else ends it, the next look follows it again.
		_ = workbench.History(ctx, after, true, func(one history.Record) {
			after = one.Seq
			f.pass(one)
		})
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.followed, owner)
		f.next[owner] = after
	})
}

// passStored passes on the last calls of workbenches that ended before they could be asked, as far as they are in files.
// Files that cannot be read were reported by Find.
func (f *follower) passStored(running []*control.Client, since time.Time) {
	f.mu.Lock()
	alive := maps.Clone(f.followed)
	f.mu.Unlock()
	for _, workbench := range running {
		alive[ownerOf(workbench)] = true
	}
	var last []history.Record
	_ = history.ReadChanged(f.query.Folder, time.Now().Add(-endedWindow), func(owner history.Owner) bool { return !alive[owner] }, func(owner history.Owner, one history.Record) {
		if one.Seq <= f.seen(owner) || one.Ended().Before(since) {
			return
		}
		f.see(owner, one.Seq)
		last = append(last, one)
	})
	for _, one := range history.Newest(last, len(last)) {
		f.pass(one)
	}
}

func (f *follower) seen(owner history.Owner) uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.next[owner]
}

func (f *follower) see(owner history.Owner, seq uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next[owner] = seq
}

func (f *follower) pass(one history.Record) {
	if !f.query.wants(&one) {
		return
	}
	f.handling.Lock()
	defer f.handling.Unlock()
	f.handle(one)
}
