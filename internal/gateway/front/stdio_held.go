package front

import (
	"sync"
	"sync/atomic"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// heldMessages holds messages of a client over stdio until its roots are known. They keep their
// order. Answers are not held, since the roots are in one.
type heldMessages struct {
	holding atomic.Bool // busy is not nil; for the reader, without the lock

	mu    sync.Mutex
	queue []wire.Message
	busy  chan struct{} // not nil while messages are held; closed afterwards
}

// maxHeld is how many messages are held before nothing more is read.
const maxHeld = 1000

// holdBack holds a message back if it has to wait; it reports whether it did.
func (h *heldMessages) holdBack(p *pipe, message *wire.Message) bool {
	if string(message.Method) == protocol.MethodPing {
		return false
	}
	mustWait := message.IsRequest() && len(p.session.roots.waits()) > 0
	if !mustWait && !h.holding.Load() {
		return false
	}
	h.mu.Lock()
	if h.busy == nil && !mustWait {
		h.mu.Unlock()
		return false
	}
	if len(h.queue) == maxHeld {
		h.mu.Unlock()
		h.wait()
		return h.holdBack(p, message)
	}
	h.queue = append(h.queue, *message)
	if h.busy == nil {
		h.busy = make(chan struct{})
		h.holding.Store(true)
		go h.release(p, h.busy) // ServeStdio waits for it
	}
	h.mu.Unlock()
	return true
}

// release dispatches the held messages when the roots are known.
func (h *heldMessages) release(p *pipe, busy chan struct{}) {
	defer close(busy)
	p.session.roots.wait(p.session.requests.life)
	for {
		h.mu.Lock()
		if len(h.queue) == 0 {
			h.busy = nil
			h.holding.Store(false)
			h.mu.Unlock()
			return
		}
		next := h.queue[0]
		h.queue = h.queue[1:]
		h.mu.Unlock()
		p.session.dispatch(&next, p)
	}
}

// wait waits until nothing is held, at most about rootsTime.
func (h *heldMessages) wait() {
	h.mu.Lock()
	busy := h.busy
	h.mu.Unlock()
	if busy != nil {
		<-busy
	}
}
