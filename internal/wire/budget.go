package wire

import (
	"context"
	"sync"
)

// Budget limits how many bytes of messages are held for one peer. Whoever is about
// to hold more waits, which slows down the side that produces them. A message that
// is larger than the whole budget is let through when nothing else is held.
type Budget struct {
	limit int

	mu    sync.Mutex
	used  int
	err   error         // why waiting is of no use any more
	freed chan struct{} // closed when waiting may have an end; nil while no one waits
}

// NewBudget makes a budget of limit bytes.
func NewBudget(limit int) *Budget { return &Budget{limit: limit} }

// Acquire takes n bytes. It blocks while they are not free, until ctx ends.
func (b *Budget) Acquire(ctx context.Context, n int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.err == nil && b.used > 0 && b.used+n > b.limit {
		if b.freed == nil {
			b.freed = make(chan struct{})
		}
		freed := b.freed
		b.mu.Unlock()
		var err error
		select {
		case <-freed:
		case <-ctx.Done():
			err = ctx.Err()
		}
		b.mu.Lock()
		if err != nil {
			return err
		}
	}
	if b.err == nil {
		b.used += n
	}
	return b.err
}

// TryAcquire is Acquire that does not wait; it reports whether it took the bytes.
func (b *Budget) TryAcquire(n int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil || b.used > 0 && b.used+n > b.limit {
		return false
	}
	b.used += n
	return true
}

// Release gives n bytes back.
func (b *Budget) Release(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used -= n
	b.wake()
}

// refuse lets everyone who waits, now or later, have err instead; the first one counts.
func (b *Budget) refuse(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil {
		b.err = err
	}
	b.wake()
}

func (b *Budget) wake() {
	if b.freed != nil {
		close(b.freed)
		b.freed = nil
	}
}
