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

// Remote says how a server is reached over HTTP.
type Remote struct {
	URL     string
	Headers []Header // sent with every request
	// SSE chooses the transport of revision 2024-11-05. Default: Streamable HTTP.
	SSE bool
	// ExtraCA is a file with certificates of authorities beside the system's. Default: none.
	ExtraCA string
	// Trace is told how connections are made. Default: nobody.
	Trace *httptrace.ClientTrace

	dial func(ctx context.Context, network, address string) (net.Conn, error) // for tests
}

// Header is one HTTP header.
type Header struct{ Name, Value string }

const (
	// lingerTime is how long a request that was answered may stay open: a stream that ends
	// by itself leaves a connection that can be used again.
	lingerTime = time.Second
	// noteTime is how long a notification or a reply may take.
	noteTime = 10 * time.Second
	// orderTime is how long a request waits for what was to be told before it.
	orderTime = time.Second
	// flushTime is how long the last notes may take at the end of a session.
	flushTime = 500 * time.Millisecond
	// partingTime is how long the end of a session may take.
	partingTime = time.Second
)

const eventStream = "text/event-stream"

// remote is what both HTTP transports share: requests in flight, each with a goroutine of
// its own, and notifications and replies that wait to be sent.
type remote struct {
	session *Session
	client  *http.Client
	address *url.URL
	headers http.Header

	mu      sync.Mutex
	flights map[uint64]*flight
	notes   []note
	latest  chan struct{} // of the note that was queued last; nil before the first
	noted   int           // bytes in notes
	noting  bool          // a goroutine sends them
}

// note is a notification or a reply on its way.
type note struct {
	message []byte
	sent    chan struct{} // closed when it was sent, or could not be
}

// flight is a request that was sent, until its answer has been read.
type flight struct {
	cancel context.CancelFunc
	linger *time.Timer // not nil: nobody waits for it any more
}

func newRemote(s *Session) (*remote, error) {
	options := s.options.Remote
	address, err := url.Parse(options.URL)
	if err != nil || address.Host == "" { // the parser's words would quote the address
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
	headers.Del("Accept-Encoding") // nothing here could read what is compressed
	return &remote{
		session: s, client: newClient(options, s.log), address: address, headers: headers,
		flights: make(map[uint64]*flight),
	}, nil
}

// do sends one HTTP request. A body belongs to it from then on. The caller closes the
// response's body.
func (t *remote) do(ctx context.Context, method string, address *url.URL, body []byte, header http.Header) (*http.Response, error) {
	if trace := t.session.options.Remote.Trace; trace != nil {
		ctx = httptrace.WithClientTrace(ctx, trace)
	}
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
	response, err := t.client.Do(request)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, clientError(err)
	}
	return response, nil
}

// fly runs a request in a goroutine of its own, whose context ends with the session, or
// when nobody waits for the answer any more.
func (t *remote) fly(id uint64, exchange func(ctx context.Context)) {
	ctx, cancel := context.WithCancel(t.session.life)
	t.mu.Lock()
	t.flights[id] = &flight{cancel: cancel}
	before := t.latest
	t.mu.Unlock()
	t.session.run(func() {
		defer t.land(id)
		awaitNote(ctx, before)
		exchange(ctx)
	})
}

// flush lets the last notes arrive while the server still knows the session.
func (t *remote) flush() {
	t.mu.Lock()
	last := t.latest
	t.mu.Unlock()
	ctx, cancel := context.WithTimeout(t.session.life, flushTime)
	defer cancel()
	awaitNote(ctx, last)
}

// awaitNote keeps a request behind what was to be told before it, as on a pipe, unless that
// takes too long. A nil note was there never.
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

func (t *remote) land(id uint64) {
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

// failed ends a request that got no response. Without a connection the server is gone, and
// so is the session.
func (t *remote) failed(ctx context.Context, id uint64, err error) {
	if _, gone := errors.AsType[*UnreachableError](err); gone {
		t.session.finish(err)
		return
	}
	if ctx.Err() == nil {
		t.session.fail(id, err)
	}
}

// note sends a notification or a reply in the background, by send, one after the other as
// on a pipe; it reports whether there was room for it.
func (t *remote) note(message []byte, send func(ctx context.Context, message []byte) error) bool {
	t.mu.Lock()
	if t.noted+len(message) > queueLimit {
		t.mu.Unlock()
		return false
	}
	t.latest = make(chan struct{})
	t.notes = append(t.notes, note{message, t.latest})
	t.noted += len(message)
	before := t.noting
	t.noting = true
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
			t.noting = false
			t.mu.Unlock()
			return
		}
		next := t.notes[0]
		t.notes = t.notes[1:]
		t.noted -= len(next.message)
		t.mu.Unlock()
		// What was to be told before the session ended, such as that a call is cancelled, is
		// told still, but not for long.
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

// accepted reads the answer to a message that is no request: there is none but the status.
func accepted(response *http.Response) error {
	defer response.Body.Close()
	if response.StatusCode/100 != 2 {
		return newStatusError(response, refusal(response))
	}
	// A body that was read leaves a connection that can be used again. Some servers begin
	// a stream that never brings anything.
	if response.ContentLength >= 0 {
		refusal(response)
	}
	return nil
}

// pump hands the messages of a stream to the session until it ends, and returns how many
// there were and why it ended. What is unusable fails the request owner, if there is one.
func (t *remote) pump(reader *wire.EventReader, owner uint64) (events int, err error) {
	s := t.session
	reader.MaxSkip = endless * int64(s.options.MaxMessage)
	for {
		event, err := reader.Next()
		if tooLong, ok := errors.AsType[*wire.TooLongError](err); ok {
			s.skipped(tooLong)
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

// canAsk is true of HTTP+SSE, whose stream is a session.
func (t *remote) canAsk() bool { return true }

// blame leaves the opening alone: a remote server does not end by a request.
func (t *remote) blame(opening OpeningError) error {
	if unreachable, ok := errors.AsType[*UnreachableError](opening.Err); ok {
		return unreachable
	}
	return opening.Err
}

// pause waits for a while; it reports whether ctx lasted.
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
