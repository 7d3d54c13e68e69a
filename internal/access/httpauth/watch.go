package httpauth

import (
	"context"
	"errors"
	"sync"
	"time"
)

// ErrTokenEnded is the cause of the cancellation of requests whose token was removed or has expired.
var ErrTokenEnded = errors.New("the token was removed or has expired")

// watched are the running requests, with their tokens.
type watched struct {
	mu      sync.Mutex
	nextKey uint64
	byKey   map[uint64]watchedRequest
}

type watchedRequest struct {
	id  string // of the token
	end context.CancelCauseFunc
}

// watch cancels a request when its token becomes invalid. The caller calls leave when the request has ended.
func (w *watched) watch(ctx context.Context, id string) (_ context.Context, leave func()) {
	ctx, end := context.WithCancelCause(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.byKey == nil {
		w.byKey = make(map[uint64]watchedRequest)
	}
	w.nextKey++
	key := w.nextKey
	w.byKey[key] = watchedRequest{id, end}
	return ctx, func() {
		w.mu.Lock()
		delete(w.byKey, key)
		w.mu.Unlock()
		end(nil)
	}
}

// cancelInvalid cancels the requests of tokens that are no longer valid.
func (w *watched) cancelInvalid(valid map[string]bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, request := range w.byKey {
		if !valid[request.id] {
			request.end(ErrTokenEnded)
		}
	}
}

// Watch cancels requests, such as streams, whose token was removed or has expired, until ctx ends.
func (g *Gate) Watch(ctx context.Context) {
	if g.store == nil {
		return
	}
	ticker := time.NewTicker(reloadInterval)
	defer ticker.Stop()
	for {
		select {
		case now := <-ticker.C:
			g.running.cancelInvalid(g.store.validIDs(now))
		case <-ctx.Done():
			return
		}
	}
}
