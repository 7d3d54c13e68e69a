package downstream

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// streamable is Streamable HTTP: every message is a POST, and the response is the answer or an event stream that ends
// with it. In the legacy era, there may also be a session id, and a stream of messages without a request.
type streamable struct {
	*remote
	parting sync.Once

	mu       sync.Mutex         // guards the following fields; remote has its own
	revision protocol.Revision  // negotiated; "" before
	id       string             // the session id; "" without one
	renewal  *renewal           // not nil while a new session is started
	unlisten context.CancelFunc // ends the stream of messages without a request
}

const (
	headerSession  = "Mcp-Session-Id"
	headerRevision = "Mcp-Protocol-Version"
	headerMethod   = "Mcp-Method"
	headerName     = "Mcp-Name"
	headerLastID   = "Last-Event-Id"
)

// longestSession bounds a session id, in bytes, since it is sent with every request; a longer one fails the handshake.
const longestSession = 4 << 10

func (t *streamable) open(context.Context) error { return nil }

func (t *streamable) send(request outgoing) {
	t.runRequest(request.id, func(ctx context.Context) { t.exchange(ctx, request) })
}

// exchange sends a request and reads its response. It sends it once, unless the server does not know the session and so
// cannot have acted on it.
func (t *streamable) exchange(ctx context.Context, request outgoing) {
	for retry := false; ; retry = true {
		session := ""
		if request.method != protocol.MethodInitialize {
			var err error
			if session, err = t.current(ctx); err != nil {
				t.failed(ctx, request.id, withRequest(err, request))
				return
			}
		}
		response, err := t.do(ctx, http.MethodPost, t.address, request.message, t.headerOf(request, session))
		if err != nil {
			t.failed(ctx, request.id, withRequest(err, request))
			return
		}
		expired := t.readResponse(ctx, request, response, session != "" && !retry)
		if !expired {
			return
		}
		if err := t.renew(ctx, session); err != nil {
			t.failed(ctx, request.id, withRequest(err, request))
			return
		}
	}
}

// headerOf returns the headers of a request.
func (t *streamable) headerOf(request outgoing, session string) http.Header {
	header := http.Header{"Accept": {"application/json, " + eventStream}}
	request.trace.SetHeader(header)
	t.mu.Lock()
	revision := t.revision
	t.mu.Unlock()
	if request.method == protocol.MethodDiscover {
		revision = protocol.Revision20260728
	}
	if request.method == protocol.MethodInitialize {
		return header
	}
	if revision != "" {
		header.Set(headerRevision, string(revision))
	}
	if revision == protocol.Revision20260728 {
		maps.Copy(header, request.header)
		header.Set(headerMethod, request.method)
		if request.name != "" {
			header.Set(headerName, headerValue(request.name))
		}
	} else if session != "" {
		header.Set(headerSession, session) // also of a session whose start failed
	}
	return header
}

// headerValue encodes a text for a header as the modern era requires.
func headerValue(text string) string {
	const prefix, suffix = "=?base64?", "?="
	encoded := strings.HasPrefix(text, prefix) && strings.HasSuffix(text, suffix)
	plain := strings.TrimSpace(text) == text && !encoded
	for i := 0; i < len(text) && plain; i++ {
		plain = text[i] >= ' ' && text[i] <= '~'
	}
	if plain {
		return text
	}
	return prefix + base64.StdEncoding.EncodeToString([]byte(text)) + suffix
}

// readResponse reads the response to a request and closes it. If mayExpire is set, it returns true when the session is unknown
// and the request was not processed.
func (t *streamable) readResponse(ctx context.Context, request outgoing, response *http.Response, mayExpire bool) (expired bool) {
	defer response.Body.Close()
	s := t.session
	if response.StatusCode/100 != 2 {
		return t.readRefusal(request, response, mayExpire)
	}
	if request.method == protocol.MethodInitialize {
		if err := t.setSessionID(response.Header.Get(headerSession)); err != nil {
			s.fail(request.id, err)
			return false
		}
	}
	switch kind := mediaType(response); kind {
	case eventStream:
		t.follow(ctx, request, response.Body)
		return false
	case "application/json":
		frame, err := wire.ReadBody(response.Body, response.ContentLength, s.options.MaxMessage)
		if _, tooLong := errors.AsType[*wire.TooLongError](err); tooLong {
			err = unusable(err)
		} else if err != nil {
			err = &brokenError{err}
		} else if err = s.receive(frame, request.id); err != nil {
			err = unusable(err)
		} else {
			err = errors.New("the server's answer is for another request")
		}
		t.failed(ctx, request.id, err) // unless it was answered
	default:
		t.failed(ctx, request.id, wrongContent(response, kind))
	}
	return false
}

// wrongContent returns the error for an unexpected content type.
func wrongContent(response *http.Response, kind string) error {
	switch {
	case response.StatusCode == http.StatusAccepted || response.StatusCode == http.StatusNoContent:
		return fmt.Errorf("the server accepted the request with HTTP status %d, but gave no answer to it", response.StatusCode)
	case kind == "text/html":
		return errors.New("the server answered with an HTML page; is 'url' the address of its MCP endpoint?")
	default:
		return fmt.Errorf("the server answered with content of type '%.100s', which is neither JSON nor an event stream; is 'url' the address of its MCP endpoint?", kind)
	}
}

// readRefusal reads an error response; see readResponse.
func (t *streamable) readRefusal(request outgoing, response *http.Response, mayExpire bool) (expired bool) {
	body := refusal(response)
	message, isRPC := rpcError(body)
	var rpc *RPCError
	if isRPC {
		rpc = NewRPCError(message.Error)
	}
	if mayExpire {
		switch response.StatusCode {
		case http.StatusNotFound:
			// A modern server answers unknown methods with this status.
			answered := isRPC && rpc.Code == protocol.CodeMethodNotFound && rawID(message.ID.Bytes()) == request.id
			expired = !answered
		case http.StatusBadRequest:
			expired = isRPC && message.ID.IsAbsent() && strings.Contains(strings.ToLower(rpc.Message), "session")
		}
		if expired {
			return true
		}
	}
	refused := t.statusError(response, body)
	if !isRPC || refused.denied() {
		t.session.fail(request.id, refused)
		return false
	}
	if rpc.Code == protocol.CodeHeaderMismatch && t.session.options.ToolsChanged != nil {
		t.session.options.ToolsChanged() // the schema may require other headers by now
	}
	t.session.tapReceived(body, request.id)
	if p, ok := t.session.remove(request.id); ok {
		p.sink.Done(message, nil)
	}
	return false
}

// setSessionID stores the id of the server's session.
func (t *streamable) setSessionID(id string) error {
	if len(id) > longestSession {
		return fmt.Errorf("the server's session id is longer than %d bytes", longestSession)
	}
	for _, c := range []byte(id) {
		if c < '!' || c > '~' {
			return errors.New("the server's session id has characters that are not allowed")
		}
	}
	t.mu.Lock()
	t.id = id
	t.mu.Unlock()
	return nil
}

// canAsk requires a session, by which the server finds the client that answers.
func (t *streamable) canAsk() bool { return t.sessionID() != "" }

func (t *streamable) beginSession(ctx context.Context, revision protocol.Revision, initialized []byte) error {
	t.mu.Lock()
	t.revision = revision
	t.mu.Unlock()
	if initialized == nil {
		return nil // the modern era has neither sessions nor a separate stream
	}
	if err := t.sendNote(ctx, initialized); err != nil {
		return fmt.Errorf("'%s' was not accepted: %w", protocol.NotifyInitialized, err)
	}
	t.listen()
	return nil
}

func (t *streamable) sendNote(ctx context.Context, message []byte) error {
	response, err := t.do(ctx, http.MethodPost, t.address, message, t.headerOf(outgoing{}, t.sessionID()))
	if err != nil {
		return err
	}
	return t.accepted(response)
}

func (t *streamable) reply(message []byte) bool { return t.queueNote(message, t.sendNote) }

// cancel ends the HTTP request, which is all that the modern era requires.
func (t *streamable) cancel(id uint64, notice []byte) {
	t.abandon(id)
	if !t.session.Modern() && !t.queueNote(notice, t.sendNote) {
		t.session.log.Debug("could not send a cancellation to the server: its queue is full")
	}
}

// close ends the server's session, if there may be one.
func (t *streamable) close() {
	t.parting.Do(func() {
		session := t.sessionID()
		if session != "" && errors.Is(t.session.Err(), ErrClosed) {
			ctx, cancel := context.WithTimeout(context.Background(), partingTime)
			defer cancel()
			response, err := t.do(ctx, http.MethodDelete, t.address, nil, t.headerOf(outgoing{}, session))
			if err == nil {
				err = t.accepted(response)
			}
			if err != nil { // many servers do not support it
				t.session.log.Debug("the server did not end its session")
			}
		}
	})
	t.client.CloseIdleConnections()
}
