package downstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/wire"
)

// This file reads event streams of Streamable HTTP, and opens them again when they end.

// Pauses before a stream is opened again, where the server asks for none.
const (
	firstPause   = time.Second
	lastPause    = 10 * time.Second
	longestRetry = time.Minute // that a server may ask for
)

// maxResumes is how often in a row the stream of a request is opened again without a
// single event.
const maxResumes = 5

// errCut is the error of a stream that ends without the answer.
var errCut = errors.New("the server ended its event stream before the answer")

// follow reads the stream that a request was answered with. If it breaks off before the
// answer it is resumed, if the server gave its events ids.
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
		if id := lastOf(last, reader.LastID()); events > 0 || id != last {
			last, fruitless = id, 0
		}
		if retry := reader.Retry(); retry > 0 {
			wait = min(retry, longestRetry)
		}
		if last == "" || t.session.Modern() || fruitless == maxResumes || errors.Is(err, wire.ErrEndless) {
			t.failed(ctx, request.id, cut(err))
			return
		}
		if !pause(ctx, wait) {
			return
		}
		response, refused := t.get(ctx, last)
		switch {
		case refused != nil:
			t.failed(ctx, request.id, cut(err))
			return
		case response == nil:
			body = http.NoBody
		default:
			body = response.Body
		}
	}
}

func lastOf(before, id string) string {
	if id == "" {
		return before
	}
	return id
}

func cut(err error) error {
	if errors.Is(err, io.EOF) {
		return errCut
	}
	if errors.Is(err, wire.ErrEndless) {
		return err
	}
	return fmt.Errorf("%w: %w", errCut, &brokenError{err})
}

// get opens a stream with a GET. The error is a refusal that will not change; without it
// a nil response means that it may be tried again.
func (t *streamable) get(ctx context.Context, last string) (*http.Response, error) {
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
	if _, redirected := errors.AsType[*redirectError](err); redirected {
		return nil, err
	}
	if err != nil {
		return nil, nil
	}
	if response.StatusCode == http.StatusOK && mediaType(response) == eventStream {
		return response, nil
	}
	body := refusal(response)
	response.Body.Close()
	if response.StatusCode >= 500 || response.StatusCode == http.StatusTooManyRequests {
		return nil, nil
	}
	return nil, newStatusError(response, body)
}

// listen opens the stream of messages that belong to no request, instead of the one before.
func (t *streamable) listen() {
	ctx, cancel := context.WithCancel(t.session.life)
	t.mu.Lock()
	before := t.unlisten
	t.unlisten = cancel
	t.mu.Unlock()
	if before != nil {
		before()
	}
	t.session.run(func() {
		defer cancel()
		t.hearOut(ctx)
	})
}

// hearOut reads that stream, and opens it again whenever it ends, unless the server does
// not offer one.
func (t *streamable) hearOut(ctx context.Context) {
	var last string
	wait := firstPause
	for {
		response, refused := t.get(ctx, last)
		if refused != nil {
			t.session.log.Debug("the server has no stream of its own messages", "reason", refused)
			return
		}
		var retry time.Duration
		if response != nil {
			reader := wire.NewEventReader(response.Body, t.session.options.MaxMessage)
			events, err := t.pump(reader, 0)
			response.Body.Close()
			last, retry = lastOf(last, reader.LastID()), min(reader.Retry(), longestRetry)
			if errors.Is(err, wire.ErrEndless) {
				last = "" // it would come again
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
