package call

import (
	"context"
	"sync"
	"sync/atomic"
)

// Canceller belongs to one request of a client, and lets it be cancelled. It does what a
// context would, at a fraction of the cost: most requests are answered without anybody
// ever waiting for their cancellation. The zero value is ready.
type Canceller struct {
	mu    sync.Mutex
	cause error
	hook  cancelHook

	// Memory for the request's call of a tool, of which there is nearly always one.
	first run
	taken atomic.Bool
}

// newRun returns a run that is all zero.
func (t *Canceller) newRun() *run {
	if t.taken.CompareAndSwap(false, true) {
		return &t.first
	}
	return new(run)
}

// cancelHook is told when a canceller is cancelled.
type cancelHook interface{ cancelled(cause error) }

// Cancel cancels the request, unless it was before.
func (t *Canceller) Cancel(cause error) {
	t.mu.Lock()
	if t.cause != nil {
		t.mu.Unlock()
		return
	}
	t.cause = cause
	hook := t.hook
	t.mu.Unlock()
	if hook != nil {
		hook.cancelled(cause)
	}
}

// Cause returns why the request was cancelled; nil if it was not.
func (t *Canceller) Cause() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.cause
}

// setHook has the hook told of the cancellation, which may have happened already; a nil hook
// ends that.
func (t *Canceller) setHook(hook cancelHook) {
	t.mu.Lock()
	t.hook = hook
	cause := t.cause
	t.mu.Unlock()
	if cause != nil && hook != nil {
		hook.cancelled(cause)
	}
}

// Context returns a context that ends when the canceller is cancelled, for work that has to
// wait; stop frees it.
func (t *Canceller) Context() (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	t.setHook(cancelFunc(cancel))
	return ctx, func() {
		t.setHook(nil)
		cancel(nil)
	}
}

type cancelFunc context.CancelCauseFunc

func (c cancelFunc) cancelled(cause error) { c(cause) }
