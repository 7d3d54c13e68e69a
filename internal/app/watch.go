package app

import (
	"context"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
)

const (
	watchTick   = 250 * time.Millisecond // between two looks at servers, running requests and questions
	callsPause  = 50 * time.Millisecond  // between two batches of calls that ended
	countTime   = time.Second            // between two looks at counters, clients and memory
	keepAlive   = 10 * time.Second       // after which a watcher gets an empty event, to see that all is well
	maxNewCalls = 200                    // calls in one batch; older ones are left out, and counted
)

// Watch implements control.Subject. All of it happens in the goroutine of the caller: while nobody watches, nothing
// is looked at, and a watcher who reads slowly waits for nobody but itself.
func (i Inspector) Watch(ctx context.Context, send func(*control.Event) error) error {
	w := &watcher{Inspector: i, send: send, seen: make(map[string]seenServer), counted: make(map[string]countedServer), lastCall: i.App.history.Last()}
	return w.run(ctx)
}

// watcher is what one who watches knows of a workbench.
type watcher struct {
	Inspector
	send func(*control.Event) error
	sent time.Time // when an event was sent last

	files     filesInUse
	glances   []fleet.Glance           // as they were seen last, in order
	spare     []fleet.Glance           // the memory for the next ones
	seen      map[string]seenServer    // by key
	looks     uint64                   // at servers, that found a change
	counted   map[string]countedServer // by key
	memory    int64                    // of the workbench
	lastCount time.Time
	questions []control.Question
	clients   []control.ConnectedClient
	running   control.RunningCalls
	changes   int // that wait to be accepted

	changesSeen uint64 // when they were counted
	recordings  []control.RecordingInfo

	lastCall uint64 // that was sent, or left out
	skipped  uint64 // calls that were left out since the last batch
}

// filesInUse change with each reload.
type filesInUse struct {
	config *config.Config
	state  *fileState
	notice string
}

func (i Inspector) filesInUse() filesInUse {
	return filesInUse{config: i.App.config.Load(), state: i.App.files.Load(), notice: i.App.withheld.Load().(string)}
}

// run sends events until ctx ends or an event cannot be sent.
func (w *watcher) run(ctx context.Context) error {
	if err := w.look(time.Now()); err != nil {
		return err
	}
	tick := time.NewTicker(watchTick)
	defer tick.Stop()
	pause := time.NewTimer(0) // until the calls may be read again
	defer pause.Stop()
	more := make(<-chan struct{}) // closed with the next call
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case now := <-tick.C:
			if err := w.look(now); err != nil {
				return err
			}
		case <-more:
			more = nil
			pause.Reset(callsPause)
		case <-pause.C:
			next, err := w.sendCalls()
			if err != nil {
				return err
			}
			if more = next; more == nil {
				pause.Reset(callsPause)
			}
		}
	}
}

// look sends what has changed, if anything has.
func (w *watcher) look(now time.Time) error {
	event := new(control.Event)
	files := w.filesInUse()
	isFirst := files != w.files
	if isFirst {
		w.begin(files, event)
	}
	w.lookAtServers(event)
	w.lookAtQuestions(isFirst, event)
	w.lookAtRunning(isFirst, event)
	w.lookAtWork(isFirst, event)
	if isFirst || now.Sub(w.lastCount) >= countTime-watchTick/2 {
		w.lastCount = now
		w.lookAtCounters(now, event)
		w.lookAtClients(isFirst, event)
		w.lookAtRecordings(isFirst, event)
	}
	if event.IsEmpty() && now.Sub(w.sent) < keepAlive {
		return nil
	}
	w.sent = now
	return w.send(event)
}

// begin has everything sent, since it may all be different.
func (w *watcher) begin(files filesInUse, event *control.Event) {
	w.files, w.glances = files, nil
	clear(w.seen)
	clear(w.counted)
	state := w.overview()
	state.Clients = []control.ConnectedClient{}
	event.State = &state
}

// sendCalls sends the calls that ended since the last batch. If there were too many, the oldest are left out. Without any,
// more is closed with the next call.
func (w *watcher) sendCalls() (more <-chan struct{}, err error) {
	if last := w.App.history.Last(); last > w.lastCall+maxNewCalls {
		w.skipped += last - w.lastCall - maxNewCalls
		w.lastCall = last - maxNewCalls
	}
	records, next, more := w.History(w.lastCall)
	w.lastCall = next
	if len(records) == 0 {
		return more, nil
	}
	batch := control.CallBatch{Calls: records, Skipped: w.skipped + records[0].Lost}
	records[0].Lost, w.skipped = 0, 0
	w.sent = time.Now()
	return nil, w.send(&control.Event{Calls: &batch})
}
