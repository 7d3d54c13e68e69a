package page

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
)

const (
	lookInterval   = 2 * time.Second // between two looks for new workbenches
	maxTabs        = 16              // that watch at once; a further one is refused
	maxQueued      = 256             // lines that wait for a slow tab; then it gets the whole state instead
	maxQueuedBytes = 8 << 20         // likewise
)

// hub watches all workbenches for all tabs: one watch of each workbench, while at least one tab is open.
type hub struct {
	books *books
	log   *slog.Logger

	mu     sync.Mutex // guards the following fields
	tabs   map[*tab]bool
	states map[int]*state // of the watched workbenches
	now    *watch         // nil if nobody looks
}

func newHub(known *books, log *slog.Logger) *hub {
	return &hub{books: known, log: log, tabs: make(map[*tab]bool), states: make(map[int]*state)}
}

// line is what a tab is sent.
type line struct {
	PID   int            `json:"pid,omitempty"`
	Event *control.Event `json:"event,omitempty"`
	Full  bool           `json:"full,omitempty"` // the event replaces all that the tab knows of the workbench
	Gone  bool           `json:"gone,omitempty"`
	PIDs  *[]int         `json:"pids,omitempty"` // all workbenches that run; others are gone
}

func (l line) bytes() []byte {
	data, err := json.Marshal(l)
	if err != nil {
		return nil // it came as JSON
	}
	return append(data, '\n')
}

// tab is one open watch of a browser.
type tab struct {
	more chan struct{} // has a value when there are lines, or the tab is behind

	// hub.mu guards the following fields.
	queue  [][]byte
	size   int
	behind bool // lines were dropped: it needs the whole state
}

// join adds a tab; false if there are too many.
func (h *hub) join() (*tab, bool) {
	t := &tab{more: make(chan struct{}, 1), behind: true}
	t.wake()
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.tabs) >= maxTabs {
		return nil, false
	}
	h.tabs[t] = true
	if h.now == nil {
		h.now = h.start()
	}
	return t, true
}

// leave removes a tab. The last one ends the watches.
func (h *hub) leave(t *tab) {
	h.mu.Lock()
	delete(h.tabs, t)
	var last *watch
	if len(h.tabs) == 0 {
		last, h.now = h.now, nil
		last.cancel() // before another tab begins with no states
		h.states = make(map[int]*state)
	}
	h.mu.Unlock()
	if last != nil {
		last.running.Wait()
	}
}

func (t *tab) wake() {
	select {
	case t.more <- struct{}{}:
	default:
	}
}

// take returns what waits for a tab.
func (h *hub) take(t *tab) [][]byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !t.behind {
		lines := t.queue
		t.queue, t.size = nil, 0
		return lines
	}
	t.queue, t.size, t.behind = nil, 0, false
	pids := slices.Sorted(maps.Keys(h.states))
	if pids == nil {
		pids = []int{}
	}
	lines := [][]byte{line{PIDs: &pids}.bytes()}
	for _, pid := range pids {
		lines = append(lines, line{PID: pid, Full: true, Event: h.states[pid].whole()}.bytes())
	}
	return lines
}

// send gives a line to all tabs. The caller holds mu.
func (h *hub) send(l line) {
	data := l.bytes()
	for t := range h.tabs {
		switch {
		case t.behind:
		case len(t.queue) >= maxQueued || t.size+len(data) > maxQueuedBytes:
			t.queue, t.size, t.behind = nil, 0, true
		default:
			t.queue, t.size = append(t.queue, data), t.size+len(data)
		}
		t.wake()
	}
}

// start begins to watch.
func (h *hub) start() *watch {
	w := &watch{hub: h, active: make(map[int]bool)}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	w.running.Go(w.look)
	return w
}

// watch is one period in which somebody looks.
type watch struct {
	hub     *hub
	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup

	mu     sync.Mutex // guards active
	active map[int]bool
}

// look finds workbenches until nobody looks any more.
func (w *watch) look() {
	again := time.NewTicker(lookInterval)
	defer again.Stop()
	for {
		found, err := w.hub.books.look(w.ctx)
		if err != nil && w.ctx.Err() == nil {
			w.hub.log.Debug("a workbench does not answer", "error", err)
		}
		for _, client := range found {
			w.begin(client)
		}
		select {
		case <-again.C:
		case <-w.ctx.Done():
			return
		}
	}
}

// begin watches a workbench, unless it is watched.
func (w *watch) begin(client *control.Client) {
	pid := client.Status.PID
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.active[pid] {
		return
	}
	w.active[pid] = true
	w.running.Go(func() {
		err := w.follow(client)
		w.hub.log.Debug("the watch of a workbench ended", "pid", pid, "error", err)
		w.gone(pid)
	})
}

// follow passes on the events of a workbench until it ends. One that cannot be watched, since it is of another version or
// watched by too many, is shown by its state.
func (w *watch) follow(client *control.Client) (err error) {
	pid, isWatched := client.Status.PID, false
	for err == nil && !isWatched && w.ctx.Err() == nil {
		err = client.WatchVia(w.ctx, "page", func(event control.Event) error {
			isWatched = true
			if !reflect.ValueOf(event).IsZero() { // nothing happened
				w.publish(pid, &event)
			}
			return nil
		})
		if !isWatched {
			err = w.refresh(client)
		}
	}
	return err
}

// refresh shows the state of a workbench that cannot be watched, and waits for the next look.
func (w *watch) refresh(client *control.Client) error {
	status, err := client.Refresh(w.ctx)
	if err != nil {
		return err
	}
	servers, clients := status.Servers, status.Clients
	status.Servers, status.Clients = []control.Server{}, []control.ConnectedClient{}
	w.publish(status.PID, &control.Event{State: &status, Servers: servers, Clients: &clients})
	next := time.NewTimer(lookInterval)
	defer next.Stop()
	select {
	case <-next.C:
	case <-w.ctx.Done():
	}
	return nil
}

func (w *watch) publish(pid int, event *control.Event) {
	h := w.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	if w.ctx.Err() != nil {
		return // the next watch has states of its own
	}
	known := h.states[pid]
	if known == nil {
		known = newState()
		h.states[pid] = known
	}
	known.apply(event)
	h.send(line{PID: pid, Event: event, Full: event.State != nil})
}

func (w *watch) gone(pid int) {
	w.mu.Lock()
	delete(w.active, pid)
	w.mu.Unlock()
	h := w.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	if w.ctx.Err() != nil || h.states[pid] == nil {
		return
	}
	delete(h.states, pid)
	h.send(line{PID: pid, Gone: true})
}
