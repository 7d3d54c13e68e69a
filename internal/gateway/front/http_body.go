package front

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// Requests with a body of more than smallBody share a budget of memory; one account has a part of it at most.
const (
	smallBody   = 64 << 10
	bodyBudget  = 64 << 20 // memory for large request bodies of all clients; further ones wait
	bodyAccount = bodyBudget / 4
)

// bodies limits the memory of request bodies that are being read. A request waits while the budget
// is spent, and by TCP its client does: first for other requests of its own account, so that one
// account never has all of it.
type bodies struct {
	all *semaphore.Weighted

	mu        sync.Mutex
	byAccount map[account]*bodyShare
}

// bodyShare is the part of one account.
type bodyShare struct {
	room  *semaphore.Weighted
	users int // guarded by bodies.mu
}

func newBodies() *bodies {
	return &bodies{all: semaphore.NewWeighted(bodyBudget), byAccount: make(map[account]*bodyShare)}
}

// acquire waits for memory until ctx ends; release returns it.
func (b *bodies) acquire(ctx context.Context, of account, size int64) (release func(), err error) {
	share := b.join(of)
	size = min(size, bodyAccount)
	if err := share.room.Acquire(ctx, size); err != nil {
		b.leave(of)
		return nil, err
	}
	if err := b.all.Acquire(ctx, size); err != nil {
		share.room.Release(size)
		b.leave(of)
		return nil, err
	}
	return func() {
		b.all.Release(size)
		share.room.Release(size)
		b.leave(of)
	}, nil
}

func (b *bodies) join(of account) *bodyShare {
	b.mu.Lock()
	defer b.mu.Unlock()
	share := b.byAccount[of]
	if share == nil {
		share = &bodyShare{room: semaphore.NewWeighted(bodyAccount)}
		b.byAccount[of] = share
	}
	share.users++
	return share
}

func (b *bodies) leave(of account) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if share := b.byAccount[of]; share.users > 1 {
		share.users--
	} else {
		delete(b.byAccount, of)
	}
}

// body reads the body of a request, or refuses the request.
func (h *httpServer) body(e exchange) (wire.Frame, bool) {
	w, r := e.w, e.r
	if size := h.bodySize(r); size > smallBody {
		ctx, cancel := context.WithTimeout(r.Context(), bodyWait)
		defer cancel()
		release, err := h.bodies.acquire(ctx, e.account, size)
		if err != nil {
			w.Header().Set("Connection", "close")
			w.Header().Set("Retry-After", "5")
			refuse(w, http.StatusServiceUnavailable, protocol.CodeInternalError, "Too many large requests are being read. Try again later")
			return wire.Frame{}, false
		}
		defer release()
	}
	connection := http.NewResponseController(w)
	source := &timelyReader{r.Body, connection, time.Now().Add(bodyTime)}
	frame, err := wire.ReadBody(source, r.ContentLength, h.server.options.MaxMessage)
	_ = connection.SetReadDeadline(time.Time{})
	tooLong, isTooLong := errors.AsType[*wire.TooLongError](err)
	switch {
	case err == nil:
		return frame, true
	case isTooLong:
		h.server.options.Log.Warn("refused a message of a client", "reason", err)
		w.Header().Set("Connection", "close")
		refuse(w, http.StatusRequestEntityTooLarge, protocol.CodeInvalidRequest, "Invalid request: "+tooLong.Error())
	default:
		refuse(w, http.StatusBadRequest, protocol.CodeParseError, "The request broke off")
	}
	return frame, false
}

// bodySize returns the memory that reading a body may need: the buffer grows by doubling. A body
// of unknown length may be as long as any.
func (h *httpServer) bodySize(r *http.Request) int64 {
	length := r.ContentLength
	if longest := int64(h.server.options.MaxMessage); length < 0 || length > longest {
		length = longest
	}
	return 2 * length
}

// timelyReader reads a body with deadlines: for the next bytes and for the end.
type timelyReader struct {
	source     io.Reader
	connection *http.ResponseController
	end        time.Time
}

func (t *timelyReader) Read(into []byte) (int, error) {
	deadline := time.Now().Add(bodyPause)
	if deadline.After(t.end) {
		deadline = t.end
	}
	_ = t.connection.SetReadDeadline(deadline) // not all connections have one
	return t.source.Read(into)
}
