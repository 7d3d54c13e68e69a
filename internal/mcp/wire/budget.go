package wire

import (
	"context"
	"slices"
	"sync"
)

// budget limits how many bytes of messages are held for one peer. Whoever is about
// to hold more waits, which slows down the side that produces them; who came first
// goes first, so that a large message is not passed by small ones for ever. One that
// is larger than the whole budget is let through when nothing else is held.
type budget struct {
	limit int

	mu      sync.Mutex
	used    int
	err     error // why waiting is of no use any more
	waiting []*waiter
}

type waiter struct {
	n     int
	ready chan struct{} // closed when the bytes were taken, or err was set
	err   error
}

// newBudget makes a budget of limit bytes.
func newBudget(limit int) *budget { return &budget{limit: limit} }

// acquire takes n bytes. It blocks while they are not free, until ctx ends.
func (b *budget) acquire(ctx context.Context, n int) error {
	b.mu.Lock()
	if b.err != nil || b.takes(n) {
		defer b.mu.Unlock()
		return b.err
	}
	w := &waiter{n: n, ready: make(chan struct{})}
	b.waiting = append(b.waiting, w)
	b.mu.Unlock()
	select {
	case <-w.ready:
		return w.err
	case <-ctx.Done():
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.Index(b.waiting, w)
	if i < 0 { // its turn came just then
		return w.err
	}
	b.waiting = slices.Delete(b.waiting, i, i+1)
	b.admit() // the next ones may be smaller
	return ctx.Err()
}

// tryAcquire is acquire that does not wait; it reports whether it took the bytes.
func (b *budget) tryAcquire(n int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err == nil && b.takes(n)
}

// charge takes n bytes even if they are not free.
func (b *budget) charge(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used += n
}

// release gives n bytes back.
func (b *budget) release(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used -= n
	b.admit()
}

// takes takes n bytes unless it is not yet the turn of whoever asks for them.
func (b *budget) takes(n int) bool {
	if len(b.waiting) > 0 || !b.fits(n) {
		return false
	}
	b.used += n
	return true
}

func (b *budget) fits(n int) bool { return b.used <= 0 || b.used+n <= b.limit }

// admit lets those in whose turn it is.
func (b *budget) admit() {
	for len(b.waiting) > 0 && b.fits(b.waiting[0].n) {
		b.used += b.waiting[0].n
		close(b.waiting[0].ready)
		b.waiting = slices.Delete(b.waiting, 0, 1)
	}
}

// refuse lets everyone who waits, now or later, have err instead; the first one counts.
func (b *budget) refuse(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil {
		b.err = err
	}
	for _, w := range b.waiting {
		w.err = b.err
		close(w.ready)
	}
	b.waiting = nil
}
