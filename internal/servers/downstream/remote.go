package downstream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/hops"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// Remote configures how a server is reached over HTTP.
type Remote struct {
	URL     string
	Headers []Header // sent with every request
	// Credentials authorize each request. Default: none.
	Credentials Credentials
	// SSE selects the transport of revision 2024-11-05. Default: Streamable HTTP.
	SSE bool
	// Environ is the environment that names the proxy and further certificate authorities. Default: neither.
	Environ []string
	// Trace receives connection events. Default: none.
	Trace *httptrace.ClientTrace

	dial func(ctx context.Context, network, address string) (net.Conn, error) // for tests
}

// Header is one HTTP header.
type Header struct{ Name, Value string }

const (
	// lingerTime is how long an answered request may stay open: a stream that ends by itself leaves a reusable
	// connection.
	lingerTime = time.Second
	// noteTime bounds sending a notification or a reply.
	noteTime = 10 * time.Second
	// orderTime is how long a request waits for earlier notifications and replies to be sent.
	orderTime = time.Second
	// flushTime bounds sending the last notifications and replies when a session ends.
	flushTime = 500 * time.Millisecond
	// partingTime bounds the DELETE request that ends a session, and sending queued notes after its end.
	partingTime = time.Second
)

const eventStream = "text/event-stream"

// remote is the common part of both HTTP transports: requests in flight, each with a goroutine of its own, and a queue
// of notifications and replies.
type remote struct {
	session *Session
	client  *http.Client
	address *url.URL
	headers http.Header

	mu          sync.Mutex
	flights     map[uint64]*flight
	notes       []note
	latest      chan struct{} // closed when the last queued note was sent; nil before the first
	queuedBytes int           // bytes in notes
	isSending   bool          // a goroutine is sending them
}

// note is a queued notification or reply.
type note struct {
	message []byte
	sent    chan struct{} // closed when it was sent, or failed
}

// flight is a request in flight, until its response has been read.
type flight struct {
	cancel context.CancelFunc
	linger *time.Timer // not nil: nobody waits for it any more
}

func newRemote(s *Session) (*remote, error) {
	options := s.options.Remote
	address, err := url.Parse(options.URL)
	if err != nil || address.Host == "" { // the parser's error would quote the address
		return nil, errors.New("'url' is not an address that can be used")
	}
	headers := make(http.Header)
	headers.Set("User-Agent", "mcp-workbench/"+s.options.Version)
	if s.options.Hops != "" {
		headers.Set(hops.Header, s.options.Hops)
	}
	for _, header := range options.Headers {
		headers.Set(header.Name, header.Value)
	}
	headers.Del("Accept-Encoding") // compressed responses are not supported
	return &remote{
		session: s, client: newClient(options, s.log), address: address, headers: headers,
		flights: make(map[uint64]*flight),
	}, nil
}

// do sends one HTTP request and takes ownership of body. It sends it again if the credentials say so. The caller closes the
// response's body.
func (t *remote) do(ctx context.Context, method string, address *url.URL, body []byte, header http.Header) (*http.Response, error) {
	if trace := t.session.options.Remote.Trace; trace != nil {
		ctx = httptrace.WithClientTrace(ctx, trace)
	}
	credentials := t.session.options.Remote.Credentials
	for sends := 1; ; sends++ {
		request, err := t.newRequest(ctx, method, address, body, header)
		if err != nil {
			return nil, err
		}
		if credentials != nil {
			err = withoutToken(credentials.Authorize(ctx, request))
		}
		var response *http.Response
		if err == nil {
			if response, err = t.client.Do(request); err != nil {
				err = clientError(err)
			}
		}
		again := false
		if err == nil && credentials != nil {
			again, err = t.judge(ctx, request, response, sends < maxSends)
		}
		switch {
		case err != nil && ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			return nil, err
		case !again:
			return response, nil
		}
	}
}

func (t *remote) newRequest(ctx context.Context, method string, address *url.URL, body []byte, header http.Header) (*http.Request, error) {
	var content io.Reader
	if body != nil {
		content = bytes.NewReader(body)
	}
	request, err := http.NewRequestWithContext(ctx, method, address.String(), content)
	if err != nil {
		return nil, clientError(err)
	}
	for _, set := range []http.Header{t.headers, header} {
		for name, values := range set {
			request.Header[name] = values
		}
	}
	if host := t.headers.Get("Host"); host != "" {
		request.Host = host
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	return request, nil
}

// runRequest runs a request in a goroutine of its own. Its context ends with the session, or when nobody waits for the answer
// any more.
func (t *remote) runRequest(id uint64, exchange func(ctx context.Context)) {
	ctx, cancel := context.WithCancel(t.session.life)
	t.mu.Lock()
	t.flights[id] = &flight{cancel: cancel}
	before := t.latest
	t.mu.Unlock()
	t.session.run(func() {
		defer t.finishRequest(id)
		awaitNote(ctx, before)
		exchange(ctx)
	})
}

// flush waits until the last notes are sent, while the server still knows the session.
func (t *remote) flush() {
	t.mu.Lock()
	last := t.latest
	t.mu.Unlock()
	ctx, cancel := context.WithTimeout(t.session.life, flushTime)
	defer cancel()
	awaitNote(ctx, last)
}

// awaitNote delays a request until earlier notes are sent, as on a pipe, unless that takes too long. sent is nil
// without earlier notes.
func awaitNote(ctx context.Context, sent <-chan struct{}) {
	if sent == nil {
		return
	}
	select {
	case <-sent:
		return
	default:
	}
	patience := time.NewTimer(orderTime)
	defer patience.Stop()
	select {
	case <-sent:
	case <-patience.C:
	case <-ctx.Done():
	}
}

func (t *remote) finishRequest(id uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f := t.flights[id]
	delete(t.flights, id)
	f.cancel()
	if f.linger != nil {
		f.linger.Stop()
	}
}

func (t *remote) forget(id uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if f := t.flights[id]; f != nil && f.linger == nil {
		f.linger = time.AfterFunc(lingerTime, f.cancel)
	}
}

// abandon ends a request at once.
func (t *remote) abandon(id uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if f := t.flights[id]; f != nil {
		f.cancel()
	}
}

// failed ends a request that got no response. If the server cannot be reached, the session ends as well.
func (t *remote) failed(ctx context.Context, id uint64, err error) {
	if _, gone := errors.AsType[*UnreachableError](err); gone {
		t.session.finish(err)
		return
	}
	if ctx.Err() == nil {
		t.session.fail(id, err)
	}
}

// queueNote queues a notification or a reply. The queue is sent in the background by send, in order, as on a pipe. It
// returns false if the queue is full.
func (t *remote) queueNote(message []byte, send func(ctx context.Context, message []byte) error) bool {
	t.mu.Lock()
	if t.queuedBytes+len(message) > queueLimit {
		t.mu.Unlock()
		return false
	}
	t.latest = make(chan struct{})
	t.notes = append(t.notes, note{message, t.latest})
	t.queuedBytes += len(message)
	before := t.isSending
	t.isSending = true
	t.mu.Unlock()
	if !before {
		t.session.run(func() { t.sendNotes(send) })
	}
	return true
}

func (t *remote) sendNotes(send func(ctx context.Context, message []byte) error) {
	for {
		t.mu.Lock()
		if len(t.notes) == 0 {
			t.isSending = false
			t.mu.Unlock()
			return
		}
		next := t.notes[0]
		t.notes = t.notes[1:]
		t.queuedBytes -= len(next.message)
		t.mu.Unlock()
		// Notes that were queued before the session ended, such as a cancellation, are still sent, but not for long.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.session.life), noteTime)
		stop := context.AfterFunc(t.session.life, func() { time.AfterFunc(partingTime, cancel) })
		if err := send(ctx, next.message); err != nil {
			t.session.log.Debug("could not send a notification or a reply to the server")
		}
		stop()
		cancel()
		close(next.sent)
	}
}

// accepted checks the response to a notification or a reply, which is only a status.
func (t *remote) accepted(response *http.Response) error {
	defer response.Body.Close()
	if response.StatusCode/100 != 2 {
		return t.statusError(response, refusal(response))
	}
	// Reading the body makes the connection reusable. Some servers begin a stream that never sends anything.
	if response.ContentLength >= 0 {
		refusal(response)
	}
	return nil
}

// pump passes the messages of a stream to the session until it ends. It returns their number and why the stream ended.
// An unusable message fails the request owner, if there is one.
func (t *remote) pump(reader *wire.EventReader, owner uint64) (events int, err error) {
	s := t.session
	reader.MaxSkip = endless * int64(s.options.MaxMessage)
	for {
		event, err := reader.Next()
		if tooLong, ok := errors.AsType[*wire.TooLongError](err); ok {
			s.failSkipped(tooLong)
			s.fail(owner, unusable(tooLong))
			continue
		}
		if errors.Is(err, wire.ErrEndless) {
			err = fmt.Errorf("the server sent %w", err)
		}
		if err != nil {
			return events, err
		}
		events++
		if event.Name == "" || event.Name == "message" {
			_ = s.receive(event.Data, owner) // the next event may be usable
		}
	}
}

func (t *remote) isUnread() bool { return false }

// canAsk is true for HTTP+SSE, whose stream is a session.
func (t *remote) canAsk() bool { return true }

// blame does not blame the opening: a request does not end a remote server.
func (t *remote) blame(opening OpeningError) error {
	if unreachable, ok := errors.AsType[*UnreachableError](opening.Err); ok {
		return unreachable
	}
	return opening.Err
}

// pause sleeps; it returns false if ctx ends first.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
