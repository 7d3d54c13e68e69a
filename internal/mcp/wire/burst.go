package wire

import (
	"sync"
	"sync/atomic"
	"time"
)

// Under load, one read returns several messages. Writers hold what is sent for the first of them until the reader has
// handed out the last, and then write it in one piece. That saves a system call for each message, here and where it is
// read.

// longestHold is how long a message is held if a reader is stuck; it may take twice as long.
const longestHold = 5 * time.Millisecond

// The most bytes that a writer holds: at first, so that the peer can start early, and from then on.
const (
	firstHold = 512
	holdSize  = 2 << 10
)

// bursts is global because a reader does not know which writers its messages lead to: a burst of any reader holds what
// is written anywhere, and its end sends all of it. A session that is stuck delays the others by twice longestHold at most.
var bursts struct {
	open atomic.Int32 // readers in the middle of one; changed with mu held

	mu      sync.Mutex
	holding []*Writer
}

// hold registers the writer for the end of the burst, and reports whether there is one. It is called with the writer's
// mu held.
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

// burst is the burst of one reader. The zero value is ready.
type burst struct {
	open  atomic.Bool
	count atomic.Uint64 // bursts so far

	// guard ends the burst of a reader that is stuck. Setting and stopping it for each burst would wake a thread each
	// time, so it runs on: when it fires, it ends the burst that it was set for if that is still open, and is set again
	// for a newer one.
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
