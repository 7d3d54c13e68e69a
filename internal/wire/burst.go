package wire

import (
	"sync"
	"sync/atomic"
	"time"
)

// Under load, several messages arrive in one read. What is sent for the first ones need not
// be written by itself, since more is about to follow: writers hold it until the reader
// has handed out all of them, and then write it in one piece. That saves a system call for
// each message, here and where it is read.

// longestHold is how long a message is held at most, if a reader does not get on.
const longestHold = time.Millisecond

// holdSize is up to how many bytes a writer holds. More would keep a peer idle that could
// begin with them.
const holdSize = 8 << 10

// bursts are all that is held. Readers do not know the writers of what they lead to, so that
// a burst of any reader holds what is written anywhere, and its end sends all of it.
var bursts struct {
	open atomic.Int32 // readers in the middle of one; changed with mu held

	mu      sync.Mutex
	holding []*Writer
}

// hold has the writer told when the burst ends, and reports whether there is one. It is
// called with the writer's mu held.
func hold(w *Writer) bool {
	if bursts.open.Load() == 0 {
		return false
	}
	bursts.mu.Lock()
	defer bursts.mu.Unlock()
	if bursts.open.Load() == 0 {
		return false
	}
	bursts.holding = append(bursts.holding, w)
	return true
}

// burst is that of one reader. The zero value is ready.
type burst struct {
	open  atomic.Bool
	guard *time.Timer // ends it for a reader that does not get on
}

// begin begins it, unless it has begun. It is for one goroutine.
func (b *burst) begin() {
	if !b.open.CompareAndSwap(false, true) {
		return
	}
	bursts.mu.Lock()
	bursts.open.Add(1)
	bursts.mu.Unlock()
	if b.guard == nil {
		b.guard = time.AfterFunc(longestHold, b.close)
	} else {
		b.guard.Reset(longestHold)
	}
}

// end ends it, if it has begun.
func (b *burst) end() {
	if b.open.Load() {
		b.guard.Stop()
		b.close()
	}
}

// close sends what was held.
func (b *burst) close() {
	if !b.open.CompareAndSwap(true, false) {
		return
	}
	var few [8]*Writer
	bursts.mu.Lock()
	bursts.open.Add(-1)
	held := append(few[:0], bursts.holding...)
	clear(bursts.holding)
	bursts.holding = bursts.holding[:0]
	bursts.mu.Unlock()
	for _, w := range held {
		w.release()
	}
}
