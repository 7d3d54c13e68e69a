package approve

import (
	"context"
	"sync"

	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
)

// feed knows which calls wait in the workbenches that it follows.
type feed struct {
	arrived func(Waiting) // called for each new call; may be nil

	mu        sync.Mutex
	open      map[key]*openCall
	followed  map[int]bool  // process ids of workbenches
	changed   chan struct{} // holds a token when a call came or went
	followers sync.WaitGroup
}

type key struct {
	pid int
	id  string
}

// openCall is a call that waits.
type openCall struct {
	Waiting
	context.Context // ends with the call, with errEnded as its cause
	end             context.CancelCauseFunc
	isDone          bool // it was answered or skipped here, or cannot be answered here
}

func newFeed(arrived func(Waiting)) *feed {
	return &feed{arrived: arrived, open: make(map[key]*openCall), followed: make(map[int]bool), changed: make(chan struct{}, 1)}
}

// follow follows a workbench until the context or the workbench ends. One that is followed already is left out.
func (f *feed) follow(ctx context.Context, workbench *control.Client) {
	pid := workbench.Status.PID
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.followed[pid] {
		return
	}
	f.followed[pid] = true
	f.followers.Go(func() {
		// An error means that the workbench ended or cannot be asked: nothing of it can be answered.
		_ = workbench.WatchQuestions(ctx, func(all []control.Question) { f.update(ctx, workbench, all) })
		f.update(ctx, workbench, nil)
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.followed, pid)
	})
}

// update replaces the calls that wait in a workbench.
func (f *feed) update(ctx context.Context, workbench *control.Client, questions []control.Question) {
	var fresh []Waiting
	f.mu.Lock()
	now := make(map[key]bool)
	for _, one := range waitingIn(workbench, questions) {
		at := key{one.PID, one.ID}
		now[at] = true
		if f.open[at] == nil {
			call := &openCall{Waiting: one, isDone: !one.AnswersVia(config.AskTerminal)}
			call.Context, call.end = context.WithCancelCause(ctx)
			f.open[at] = call
			fresh = append(fresh, one)
		}
	}
	for at, call := range f.open {
		if at.pid == workbench.Status.PID && !now[at] {
			call.end(errEnded)
			delete(f.open, at)
		}
	}
	f.mu.Unlock()
	select {
	case f.changed <- struct{}{}:
	default:
	}
	if f.arrived != nil {
		for _, one := range fresh {
			f.arrived(one)
		}
	}
}

// next returns the oldest call that was neither answered nor skipped; nil without one.
func (f *feed) next() *openCall {
	f.mu.Lock()
	defer f.mu.Unlock()
	var oldest *openCall
	for _, call := range f.open {
		if !call.isDone && (oldest == nil || byAge(call.Waiting, oldest.Waiting) < 0) {
			oldest = call
		}
	}
	return oldest
}

// finish keeps a call from being asked about again.
func (f *feed) finish(call *openCall) {
	f.mu.Lock()
	defer f.mu.Unlock()
	call.isDone = true
}
