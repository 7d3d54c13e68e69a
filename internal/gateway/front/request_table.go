package front

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// requestTable holds the requests of a client that are in flight.
type requestTable struct {
	life       context.Context // ends when unanswered requests are given up
	cancelLife context.CancelFunc
	unanswered sync.WaitGroup

	mu     sync.Mutex
	byKey  map[string]*request
	room   chan struct{} // closed when there is room for another request; nil while nobody waits for that
	closed bool          // no request is accepted any more
}

// maxInFlight limits the requests of one client.
const maxInFlight = 4096

func newRequestTable() requestTable {
	life, cancel := context.WithCancel(context.Background())
	return requestTable{life: life, cancelLife: cancel, byKey: make(map[string]*request)}
}

// add enters a request until remove and unanswered.Done. It blocks while too many are in flight.
// If the request is refused, problem says why; at the end of the session it is "", since the
// client could not tell a refusal from an answer.
func (t *requestTable) add(key string, r *request) (problem string, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.byKey) >= maxInFlight && !t.closed {
		if t.room == nil {
			t.room = make(chan struct{})
		}
		room := t.room
		t.mu.Unlock()
		select {
		case <-room:
		case <-t.life.Done():
		}
		t.mu.Lock()
	}
	if t.closed {
		return "", false
	}
	if _, twice := t.byKey[key]; twice {
		return "Invalid request: another request with this id is still in flight", false
	}
	t.byKey[key] = r
	t.unanswered.Add(1)
	return "", true
}

// addUnnamed counts a request that cannot be cancelled, until unanswered.Done. It reports false
// at the end of the session.
func (t *requestTable) addUnnamed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed {
		t.unanswered.Add(1)
	}
	return !t.closed
}

// remove lets the client use the key again. After the response was sent, call unanswered.Done.
func (t *requestTable) remove(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.byKey, key)
	if t.room != nil {
		close(t.room)
		t.room = nil
	}
}

// cancel cancels the request with the key, if it is in flight.
func (t *requestTable) cancel(key string, cause error) {
	t.mu.Lock()
	r := t.byKey[key]
	t.mu.Unlock()
	if r != nil {
		r.cancel(cause)
	}
}

// count returns how many requests are in flight that can be cancelled.
func (t *requestTable) count() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.byKey)
}

// close has no more requests accepted.
func (t *requestTable) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
}

// giveUp cancels every request in flight.
func (t *requestTable) giveUp(cause error) {
	t.cancelLife()
	t.mu.Lock()
	all := slices.Collect(maps.Values(t.byKey))
	t.mu.Unlock()
	for _, r := range all {
		r.cancel(cause)
	}
}

// answered returns a channel that is closed when all requests have been answered. Close the table
// first, and give up requests later, which ends the wait.
func (t *requestTable) answered() <-chan struct{} {
	answered := make(chan struct{})
	go func() {
		t.unanswered.Wait()
		close(answered)
	}()
	return answered
}

// idKey makes an id comparable: strings may be escaped in different ways.
func idKey(id wire.Payload) string {
	if text, ok := id.Text(); ok {
		return `"` + text
	}
	return string(id.Bytes())
}
