package call

import (
	"context"
	"sync"
	"sync/atomic"
)

// Canceller cancels one request of a client. It is cheaper than a context, since nothing waits for
// the cancellation of most requests. The zero value is ready to use.
type Canceller struct {
	mu    sync.Mutex
	cause error
	hook  cancelHook

	// Memory for the first request to a server; nearly always there is just one.
	first run
	taken atomic.Bool

	running atomic.Pointer[run]       // the last request to a server; nil before the first
	part    atomic.Pointer[Canceller] // of the last request that is sent on behalf of this one; nil for nearly all
}

// newRun returns a zeroed run.
func (t *Canceller) newRun() *run {
	if t.taken.CompareAndSwap(false, true) {
		return &t.first
	}
	return new(run)
}

// cancelHook is called when a canceller is cancelled.
type cancelHook interface{ cancelled(cause error) }

// Cancel cancels the request. Only the first call has an effect.
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

// setHook sets the hook, or removes it with nil. The hook is called at once if the request was cancelled before.
func (t *Canceller) setHook(hook cancelHook) {
	t.mu.Lock()
	t.hook = hook
	cause := t.cause
	t.mu.Unlock()
	if cause != nil && hook != nil {
		hook.cancelled(cause)
	}
}

// Context returns a context that ends with the cancellation, for work that blocks; stop releases it.
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
