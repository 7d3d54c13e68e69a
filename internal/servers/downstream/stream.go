package downstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// This file reads the event streams of Streamable HTTP, and reopens them when they end.

// Pauses before a stream is reopened, unless the server specifies one.
const (
	firstPause   = time.Second      // before a stream is reopened; it doubles
	lastPause    = 10 * time.Second // the longest pause before a stream is reopened
	longestRetry = time.Minute      // the longest pause that a server can specify
	// listenTime is how long a session waits for the stream of messages without a request. Some servers answer at once,
	// others with the first message.
	listenTime = 250 * time.Millisecond
)

// maxResumes bounds how often in a row the stream of a request is reopened without an event; then the request fails.
const maxResumes = 5

// errCut means that a stream ended before the response.
var errCut = errors.New("the server ended its event stream before the answer")

// follow reads the event stream of a request. If it ends before the response, it is resumed, provided that the server
// sent event ids.
func (t *streamable) follow(ctx context.Context, request outgoing, body io.ReadCloser) {
	var last string
	wait := firstPause
	for fruitless := 0; ; fruitless++ {
		reader := wire.NewEventReader(body, t.session.options.MaxMessage)
		events, err := t.pump(reader, request.id)
		body.Close()
		if !t.session.isPending(request.id) {
			return
		}
		if id := latestID(last, reader.LastID()); events > 0 || id != last {
			last, fruitless = id, 0
		}
		if retry := reader.Retry(); retry > 0 {
			wait = min(retry, longestRetry)
		}
		if last == "" || t.session.Modern() || fruitless == maxResumes || errors.Is(err, wire.ErrEndless) {
			t.failed(ctx, request.id, streamCut(err))
			return
		}
		if !pause(ctx, wait) {
			return
		}
		next, problem := t.get(ctx, last)
		if isFinal(problem) {
			t.failed(ctx, request.id, streamCut(err))
			return
		}
		if body = next; problem != nil {
			body = http.NoBody
		}
	}
}

func latestID(before, id string) string {
	if id == "" {
		return before
	}
	return id
}

func streamCut(err error) error {
	if errors.Is(err, io.EOF) {
		return errCut
	}
	if errors.Is(err, wire.ErrEndless) {
		return err
	}
	return fmt.Errorf("%w: %w", errCut, &brokenError{err})
}

// get opens a stream with a GET.
func (t *streamable) get(ctx context.Context, last string) (io.ReadCloser, error) {
	session, err := t.current(ctx)
	if err != nil {
		return nil, err
	}
	header := t.headerOf(outgoing{}, session)
	header.Set("Accept", eventStream)
	if last != "" {
		header.Set(headerLastID, last)
	}
	response, err := t.do(ctx, http.MethodGet, t.address, nil, header)
	if err != nil {
		return nil, err
	}
	if response.StatusCode == http.StatusOK && mediaType(response) == eventStream {
		return response.Body, nil
	}
	defer response.Body.Close()
	return nil, t.statusError(response, refusal(response))
}

// isFinal reports whether opening a stream would fail again later.
func isFinal(err error) bool {
	if _, redirected := errors.AsType[*redirectError](err); redirected {
		return true
	}
	status, refused := errors.AsType[*StatusError](err)
	return refused && status.Code < 500 && status.Code != http.StatusTooManyRequests || isLogin(err)
}

// isExpired reports whether a stream could not be opened because the session is unknown.
func isExpired(err error) bool {
	status, refused := errors.AsType[*StatusError](err)
	return refused && status.Code == http.StatusNotFound
}

func (t *streamable) sessionID() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.id
}

// listen opens the stream of messages without a request, and ends the previous one. It waits briefly until the stream
// is open: some servers drop messages that they send before.
func (t *streamable) listen() {
	ctx, cancel := context.WithCancel(t.session.life)
	t.mu.Lock()
	before := t.unlisten
	t.unlisten = cancel
	t.mu.Unlock()
	if before != nil {
		before()
	}
	opened := make(chan struct{})
	t.session.run(func() {
		defer cancel()
		t.readListenStream(ctx, sync.OnceFunc(func() { close(opened) }))
	})
	patience := time.NewTimer(listenTime)
	defer patience.Stop()
	select {
	case <-opened:
	case <-patience.C:
	case <-ctx.Done():
	}
}

// readListenStream reads that stream and reopens it whenever it ends, unless the server does not offer one. It calls answered
// when the server has responded, possibly more than once.
func (t *streamable) readListenStream(ctx context.Context, answered func()) {
	var last string
	wait := firstPause
	for offered := false; ; {
		body, problem := t.get(ctx, last)
		answered()
		if offered && isExpired(problem) {
			// The server does not know the session any more, perhaps after a restart. The new session opens a stream of
			// its own; without one, the next request tries again.
			if t.renew(ctx, t.sessionID()) == nil {
				return
			}
			offered = false
			continue
		}
		if isFinal(problem) {
			t.session.log.Debug("the server has no stream of its own messages")
			return
		}
		var retry time.Duration
		if problem == nil {
			offered = true
			reader := wire.NewEventReader(body, t.session.options.MaxMessage)
			events, err := t.pump(reader, 0)
			body.Close()
			last, retry = latestID(last, reader.LastID()), min(reader.Retry(), longestRetry)
			if errors.Is(err, wire.ErrEndless) {
				last = "" // it would be sent again
			}
			if events > 0 {
				wait = firstPause
			}
		}
		if !pause(ctx, max(wait, retry)) {
			return
		}
		wait = min(2*wait, lastPause)
	}
}
