package httpauth

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/access/identity"
)

// ErrTokenEnded is the cause of the cancellation of requests whose token or certificate counts no longer.
var ErrTokenEnded = errors.New("the token was removed or has expired")

// errStreamEnded is the cause of the end of streams whose token has expired: the client comes back with another one.
var errStreamEnded = errors.New("the token of the stream has expired")

// What may still go on when the token of a person expires.
const (
	expirySkew = time.Minute     // of clocks; a stream that began after the expiry ends with it
	finishTime = 5 * time.Minute // for calls in flight
)

// methodListen is the method of streams that are not a GET.
const methodListen = "subscriptions/listen"

// watched are the running requests, with who sent them.
type watched struct {
	mu      sync.Mutex
	nextKey uint64
	byKey   map[uint64]watchedRequest
}

type watchedRequest struct {
	who   Identity
	tls   *tls.ConnectionState // with the certificate that it came with; nil: it came with a token
	until time.Time            // zero: as long as the credential counts
	cause error                // of the end then
	end   context.CancelCauseFunc
}

// watch cancels a request when its token becomes invalid. The caller calls leave when the request has ended.
func (w *watched) watch(ctx context.Context, request *http.Request, who Identity) (_ context.Context, leave func()) {
	ctx, end := context.WithCancelCause(ctx)
	watching := watchedRequest{who: who, end: end}
	if who.Kind == ByCertificate {
		watching.tls = request.TLS
	}
	watching.until, watching.cause = endOf(request, who.Expires, time.Now())
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.byKey == nil {
		w.byKey = make(map[uint64]watchedRequest)
	}
	w.nextKey++
	key := w.nextKey
	w.byKey[key] = watching
	return ctx, func() {
		w.mu.Lock()
		delete(w.byKey, key)
		w.mu.Unlock()
		end(nil)
	}
}

// endOf returns until when a request may last whose credential expires; zero: it does not.
func endOf(request *http.Request, expires, now time.Time) (until time.Time, cause error) {
	switch {
	case expires.IsZero():
		return time.Time{}, nil
	case request.Method != http.MethodGet && !slices.Contains(request.Header["Mcp-Method"], methodListen):
		return expires.Add(finishTime), ErrTokenEnded
	case now.Before(expires):
		return expires, errStreamEnded
	}
	return expires.Add(expirySkew), errStreamEnded
}

// cancelEnded cancels the requests of credentials that count no longer, or whose time has come.
func (w *watched) cancelEnded(now time.Time, counts validity, trusts func(*tls.ConnectionState) bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, request := range w.byKey {
		switch {
		case !counts(request.who.ID, request.who.Credential, request.who.Expires.Add(finishTime)), request.tls != nil && !trusts(request.tls):
			request.end(ErrTokenEnded)
		case !request.until.IsZero() && !now.Before(request.until):
			request.end(request.cause)
		}
	}
}

// Watch cancels requests whose token was removed or is not good any more, and streams whose token has expired, until ctx ends.
func (g *Gate) Watch(ctx context.Context) {
	if g.store == nil && g.verifier == nil {
		return
	}
	ticker := time.NewTicker(reloadInterval)
	defer ticker.Stop()
	for {
		select {
		case now := <-ticker.C:
			g.running.cancelEnded(now, g.countsAt(now), g.trusts)
		case <-ctx.Done():
			return
		}
	}
}

// validity tells whether the one with an ID may go on with what was last used with a credential, which expires at that time.
type validity = func(id, credential string, expires time.Time) bool

// Valid returns what tells who may go on now. What a person began goes on when the token expires: the next one may be on its way.
func (g *Gate) Valid() validity { return g.countsAt(time.Now()) }

func (g *Gate) countsAt(now time.Time) validity {
	if g.store == nil && g.verifier == nil {
		return func(string, string, time.Time) bool { return true }
	}
	valid := make(map[string]bool)
	if g.store != nil {
		valid = g.store.validIDs(now)
	}
	for _, grant := range g.rules.Load().clients {
		valid[certificateCredential(grant)] = true
	}
	return func(id, credential string, expires time.Time) bool {
		if strings.HasPrefix(id, identity.PersonPrefix) { // the verifier forgets a token some time after its end
			return g.verifier != nil && (!now.Before(expires) || g.verifier.Holds(credential))
		}
		return valid[credential]
	}
}
