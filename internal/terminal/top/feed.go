package top

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
)

const (
	findTime = 2 * time.Second // between two searches for workbenches that were started meanwhile
	pollTime = time.Second     // between two states of a workbench that does not know how to be watched
	actTime  = 2 * time.Minute // for what a person asks of a workbench, such as to restart a server
)

// Finder returns the running workbenches; an error with the code NotRunning if there is none.
type Finder func(ctx context.Context) ([]Workbench, error)

// What the feed tells the model.
type (
	foundMsg struct{ Workbench }
	goneMsg  struct{ pid int }
	eventMsg struct {
		pid int
		control.Event
	}
	statusMsg struct { // of a workbench that is asked again and again
		pid       int
		status    control.Workbench
		questions []control.Question
		why       string // it is not watched
	}
	nobodyMsg struct{ why string } // no workbench runs, or it cannot be found
	panicMsg  struct{ reason any }
)

// feed watches all workbenches, also those that start later, and tells the model about them.
type feed struct {
	find Finder
	send func(tea.Msg) // blocks until the model has the message

	mu      sync.Mutex
	watched map[int]bool // process ids
	all     sync.WaitGroup
}

// run follows the workbenches until the context ends.
func (f *feed) run(ctx context.Context) {
	defer f.all.Wait()
	defer f.recover()
	again := time.NewTicker(findTime)
	defer again.Stop()
	for {
		found, err := f.find(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			f.send(nobodyMsg{explain(err)})
		}
		for _, one := range found {
			f.follow(ctx, one)
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return
		}
	}
}

// explain returns what kept workbenches from being found, in one line.
func explain(err error) string {
	if known, ok := errors.AsType[*toolbox.Error](err); ok {
		return known.Message
	}
	return err.Error()
}

// recover has a panic happen where the terminal is restored.
func (f *feed) recover() {
	if reason := recover(); reason != nil {
		f.send(panicMsg{fmt.Sprintf("while watching: %v", reason)})
	}
}

// follow follows a workbench until it ends. One that is followed already is left out.
func (f *feed) follow(ctx context.Context, w Workbench) {
	pid := w.Status.PID
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.watched[pid] {
		return
	}
	f.watched[pid] = true
	f.all.Go(func() {
		defer f.recover()
		defer func() {
			f.mu.Lock()
			defer f.mu.Unlock()
			delete(f.watched, pid)
		}()
		f.send(foundMsg{w})
		isKnown := false
		err := w.Watch(ctx, func(event control.Event) error {
			isKnown = true
			f.send(eventMsg{pid, event})
			return ctx.Err()
		})
		if !isKnown {
			f.poll(ctx, w, whyNot(err))
		}
		f.send(goneMsg{pid})
	})
}

// whyNot says why a workbench cannot be watched.
func whyNot(err error) string {
	if refused, ok := errors.AsType[*toolbox.Error](err); ok && refused.Code == toolbox.TooManyWatching {
		return "too many watch it"
	}
	return "an older version"
}

// poll asks a workbench that cannot be watched for its state, until it ends.
func (f *feed) poll(ctx context.Context, w Workbench, why string) {
	again := time.NewTicker(pollTime)
	defer again.Stop()
	for {
		status, err := w.Refresh(ctx)
		if err != nil {
			return
		}
		questions, err := w.Waiting(ctx)
		if err != nil {
			questions = nil // it ended, or is too old to have any
		}
		f.send(statusMsg{w.Status.PID, status, questions, why})
		select {
		case <-again.C:
		case <-ctx.Done():
			return
		}
	}
}
