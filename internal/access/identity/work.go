package identity

import (
	"context"
	"sync"
)

// work is what runs in the background, for nobody in particular: a request that started it may be gone before it ends.
type work struct {
	ctx    context.Context // of everything; ends with the verifier
	cancel context.CancelFunc

	mu    sync.Mutex // guards ended, and that nothing is added after it
	ended bool
	all   sync.WaitGroup
}

func newWork() *work {
	ctx, cancel := context.WithCancel(context.Background())
	return &work{ctx: ctx, cancel: cancel}
}

// start runs a function in the background. It reports false after end.
func (w *work) start(run func(ctx context.Context)) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return false
	}
	w.all.Go(func() { run(w.ctx) })
	return true
}

// end cancels what runs, and waits for it.
func (w *work) end() {
	w.mu.Lock()
	w.ended = true
	w.mu.Unlock()
	w.cancel()
	w.all.Wait()
}
