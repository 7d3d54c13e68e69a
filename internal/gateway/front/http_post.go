package front

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/access/httpauth"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/hops"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// discardLog drops what net/http logs of connections that clients broke.
var discardLog = log.New(io.Discard, "", 0)

// post handles one message of a client, or a batch of them.
func (h *httpServer) post(e exchange) {
	w, r := e.w, e.r
	if !isJSON(r.Header.Values("Content-Type")) {
		refuse(w, http.StatusUnsupportedMediaType, protocol.CodeInvalidRequest, "The Content-Type must be application/json")
		return
	}
	accepted := acceptedBy(r)
	if !accepted.json && !accepted.stream {
		refuse(w, http.StatusNotAcceptable, protocol.CodeInvalidRequest,
			"The Accept header must list application/json and text/event-stream")
		return
	}
	frame, ok := h.body(e)
	if !ok {
		return
	}
	h.posts.Add(1) // before it is looked whether the server ends; see drain
	defer h.posts.Add(-1)
	e.ending = h.draining.Load()
	if h.postModern(e, frame, accepted) {
		return
	}
	if r.Header.Get(sessionHeader) == "" && isInitialize(frame) {
		if e.ending {
			refuseNew(w)
			return
		}
		h.beginSession(e, frame, accepted)
		return
	}
	client, ok := h.session(e)
	if !ok {
		return
	}
	client.exchanges.Add(1)
	defer client.exchanges.Add(-1)
	e.ending = h.draining.Load()
	client.enter()
	defer client.idle.release()
	e.handle(client, frame, accepted)
}

// isJSON reports whether the values of a Content-Type say that the body is JSON.
func isJSON(values []string) bool {
	if len(values) != 1 {
		return false
	}
	if values[0] == "application/json" { // as nearly all clients write it
		return true
	}
	kind, _, err := mime.ParseMediaType(values[0])
	return err == nil && kind == "application/json"
}

// isInitialize reports whether a frame begins a session. It parses a copy: a frame that holds no
// message is rejected later, by the session.
func isInitialize(frame wire.Frame) bool {
	if frame.IsBatch() || !bytes.Contains(frame.Bytes(), []byte(protocol.MethodInitialize)) {
		return false
	}
	message, err := wire.Parse(wire.NewFrame(bytes.Clone(frame.Bytes())))
	return err == nil && message.IsRequest() && string(message.Method) == protocol.MethodInitialize
}

// beginSession handles an initialize request, which begins a session.
func (h *httpServer) beginSession(e exchange, frame wire.Frame, accepted accepts) {
	client := newHTTPSession(h.server, h.spill.of(e.account), e.sender)
	client.exchanges.Add(1)
	defer client.exchanges.Add(-1)
	client.distant, client.limits = isDistant(e.r), h.options.Limits
	client.setHops(e.r.Header.Get(hops.Header))
	added := false
	_, ended := h.sessions.enter([]byte(client.id), client.account, func() *httpSession {
		h.server.add(client.session)
		added = true
		return client
	})
	if !added && h.refuseOwn(e, h.sessions.isAtLimit(e.account)) {
		return
	}
	if !added {
		e.w.Header().Set("Retry-After", "60")
		refuse(e.w, http.StatusServiceUnavailable, protocol.CodeInternalError,
			"There are too many sessions. Try again later")
		return
	}
	defer client.idle.release()
	if ended != nil {
		h.server.options.Log.Warn("ended an idle session to make room for another", "caller", ended.shownCaller())
		h.dropSession(ended)
	}
	e.w.Header().Set(sessionHeader, client.id)
	e.handle(client, frame, accepted)
}

// handle hands a frame to the session, and sends the response.
func (e exchange) handle(client *httpSession, frame wire.Frame, accepted accepts) {
	if frame.IsBatch() {
		e.handleBatch(client, frame, accepted)
		return
	}
	message, err := wire.Parse(frame)
	if err != nil {
		e.reject(frame, err)
		return
	}
	if e.ending && beginsWork(&message) {
		refuseNew(e.w)
		return
	}
	if !message.IsRequest() {
		client.dispatch(&message, noAnswer{})
		e.w.WriteHeader(http.StatusAccepted)
		return
	}
	if method := string(message.Method); method != protocol.MethodInitialize && method != protocol.MethodPing {
		client.roots.wait(e.r.Context())
	}
	st, key := client.posts.add(bytes.Clone(message.ID.Bytes())), idKey(message.ID)
	st.trace, st.remote = client.server.traceOf(e.r), e.r.RemoteAddr
	client.dispatch(&message, st)
	e.answer(client, st, accepted)
	e.cancelEnded(client, key)
}

// cancelEnded cancels what a request began that may not go on with its token. The client alone being gone does not: it may come back.
func (e exchange) cancelEnded(client *httpSession, keys ...string) {
	if errors.Is(context.Cause(e.r.Context()), httpauth.ErrTokenEnded) {
		for _, key := range keys {
			client.requests.cancel(key, call.Cancelled{})
		}
	}
}

// handleBatch is handle for an array of messages.
func (e exchange) handleBatch(client *httpSession, frame wire.Frame, accepted accepts) {
	messages, rejected, refusal := client.readBatch(frame)
	switch {
	case refusal != nil:
		e.badRequest(*refusal)
	case len(rejected) == 0 && !slices.ContainsFunc(messages, func(m wire.Message) bool { return m.IsRequest() }):
		client.dispatchBatch(messages, nil, noAnswer{})
		e.w.WriteHeader(http.StatusAccepted)
	case e.ending:
		refuseNew(e.w)
	default:
		st := client.posts.add(nil)
		keys := make([]string, len(messages))
		for i := range messages {
			keys[i] = idKey(messages[i].ID)
		}
		client.dispatchBatch(messages, rejected, st)
		e.answer(client, st, accepted)
		e.cancelEnded(client, keys...)
	}
}

// reject answers a frame that holds no message.
func (e exchange) reject(frame wire.Frame, reason error) { e.badRequest(rejection(frame, reason)) }

func (e exchange) badRequest(r response) {
	e.w.Header().Set("Content-Type", "application/json")
	e.w.WriteHeader(http.StatusBadRequest)
	_, _ = e.w.Write(r.encode()) // a client that is gone needs no answer
}

// noAnswer is the reply path of a message that gets no response.
type noAnswer struct{}

func (noAnswer) tryNotify(outgoing) bool { return true }
func (noAnswer) notify(outgoing) error   { return nil }
func (noAnswer) respond(response)        {}

// accepts are the content types that a client can read.
type accepts struct{ json, stream bool }

func acceptedBy(r *http.Request) accepts {
	values := r.Header.Values("Accept")
	if len(values) == 0 {
		return accepts{json: true, stream: true}
	}
	if len(values) == 1 && values[0] == "application/json, text/event-stream" { // as nearly all write it
		return accepts{json: true, stream: true}
	}
	var a accepts
	for part := range strings.SplitSeq(strings.Join(values, ","), ",") {
		kind, params, err := mime.ParseMediaType(part)
		if quality, err := strconv.ParseFloat(params["q"], 64); err == nil && quality == 0 {
			continue
		}
		switch {
		case err != nil:
		case kind == "*/*":
			a = accepts{json: true, stream: true}
		case kind == "application/json", kind == "application/*":
			a.json = true
		case kind == "text/event-stream", kind == "text/*":
			a.stream = true
		}
	}
	return a
}
