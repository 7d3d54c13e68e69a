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

// longestHold is how long a message is held, and twice that at most, if a reader does not get on.
const longestHold = 5 * time.Millisecond

// Up to how many bytes a writer holds: of the first ones, so that a peer that could begin with
// them is not kept idle, and from then on.
const (
	firstHold = 512
	holdSize  = 2 << 10
)

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
	count atomic.Uint64 // of bursts so far

	// guard ends a burst of a reader that does not get on. It is not set and stopped for each of
	// them, which would wake a thread each time: it looks after a while whether the one that it
	// was set for is still open, and otherwise looks again.
	guard   *time.Timer
	guarded atomic.Bool   // guard is set
	looked  atomic.Uint64 // the burst that it was set for
}

// begin begins it, unless it has begun. It is for one goroutine.
func (b *burst) begin() {
	if !b.open.CompareAndSwap(false, true) {
		return
	}
	b.count.Add(1)
	bursts.mu.Lock()
	bursts.open.Add(1)
	bursts.mu.Unlock()
	b.watch()
}

// watch sets the guard, unless it is.
func (b *burst) watch() {
	if !b.guarded.CompareAndSwap(false, true) {
		return
	}
	b.looked.Store(b.count.Load())
	if b.guard == nil { // set below: it must not run before it is known
		b.guard = time.AfterFunc(time.Hour, b.look)
	}
	b.guard.Reset(longestHold)
}

// look is what the guard does.
func (b *burst) look() {
	if b.open.Load() && b.looked.Load() == b.count.Load() {
		b.close()
	}
	b.guarded.Store(false)
	if b.open.Load() {
		b.watch()
	}
}

// end ends it, if it has begun.
func (b *burst) end() {
	if b.open.Load() {
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
