package front

import (
	"bytes"
	"io"
	"log"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/hops"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// discardLog takes what net/http says of broken connections, which are the clients' own.
var discardLog = log.New(io.Discard, "", 0)

// post takes one message of a client, or a batch of them.
func (f *httpServer) post(v exchange) {
	w, r := v.w, v.r
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
	frame, ok := f.body(v)
	if !ok {
		return
	}
	if f.postModern(v, frame, accepted) {
		return
	}
	if r.Header.Get(sessionHeader) == "" && isInitialize(frame) {
		f.beginSession(v, frame, accepted)
		return
	}
	client, ok := f.session(v)
	if !ok {
		return
	}
	client.enter()
	defer client.idle.release()
	v.handle(client, frame, accepted)
}

// isJSON reports whether the values of a Content-Type say that the body is JSON.
func isJSON(values []string) bool {
	if len(values) != 1 {
		return false
	}
	if values[0] == "application/json" { // as nearly all write it
		return true
	}
	kind, _, err := mime.ParseMediaType(values[0])
	return err == nil && kind == "application/json"
}

// isInitialize looks whether a frame begins a session, without taking it apart for good:
// what is no message is refused later, in the words of the session.
func isInitialize(frame wire.Frame) bool {
	if frame.IsBatch() || !bytes.Contains(frame.Bytes(), []byte(protocol.MethodInitialize)) {
		return false
	}
	message, err := wire.Parse(wire.NewFrame(bytes.Clone(frame.Bytes())))
	return err == nil && message.IsRequest() && string(message.Method) == protocol.MethodInitialize
}

// beginSession begins a session.
func (f *httpServer) beginSession(v exchange, frame wire.Frame, accepted accepts) {
	client := newHTTPSession(f.server, f.shelf.of(v.account), v.owner, v.audience)
	client.setHops(v.r.Header.Get(hops.Header))
	client.enter()
	defer client.idle.release()
	f.server.add(client.session)
	ended, ok := f.sessions.add(client)
	if !ok {
		f.server.remove(client.session)
		v.w.Header().Set("Retry-After", "60")
		refuse(v.w, http.StatusServiceUnavailable, protocol.CodeInternalError,
			"There are too many sessions. Try again later")
		return
	}
	if ended != nil {
		f.server.options.Log.Warn("ended an idle session to make room for another")
		f.dropSession(ended)
	}
	v.w.Header().Set(sessionHeader, client.id)
	v.handle(client, frame, accepted)
}

// handle hands a frame to the session and sends what it answers.
func (v exchange) handle(client *httpSession, frame wire.Frame, accepted accepts) {
	if frame.IsBatch() {
		v.handleBatch(client, frame, accepted)
		return
	}
	message, err := wire.Parse(frame)
	if err != nil {
		v.reject(frame, err)
		return
	}
	if !message.IsRequest() {
		client.dispatch(&message, noAnswer{})
		v.w.WriteHeader(http.StatusAccepted)
		return
	}
	if method := string(message.Method); method != protocol.MethodInitialize && method != protocol.MethodPing {
		client.roots.wait(v.r.Context())
	}
	st := client.posts.add(bytes.Clone(message.ID.Bytes()))
	client.dispatch(&message, st)
	v.answer(client, st, accepted)
}

// handleBatch is exchange for an array of messages.
func (v exchange) handleBatch(client *httpSession, frame wire.Frame, accepted accepts) {
	messages, rejected, refusal := client.readBatch(frame)
	switch {
	case refusal != nil:
		v.badRequest(*refusal)
	case len(rejected) == 0 && !slices.ContainsFunc(messages, func(m wire.Message) bool { return m.IsRequest() }):
		client.dispatchBatch(messages, nil, noAnswer{})
		v.w.WriteHeader(http.StatusAccepted)
	default:
		st := client.posts.add(nil)
		client.dispatchBatch(messages, rejected, st)
		v.answer(client, st, accepted)
	}
}

// reject answers a frame that holds no message.
func (v exchange) reject(frame wire.Frame, reason error) { v.badRequest(rejection(frame, reason)) }

func (v exchange) badRequest(r response) {
	v.w.Header().Set("Content-Type", "application/json")
	v.w.WriteHeader(http.StatusBadRequest)
	_, _ = v.w.Write(r.encode()) // a client that is gone needs no answer
}

// noAnswer is the sender of a message that gets none.
type noAnswer struct{}

func (noAnswer) tryNotify(outgoing) bool { return true }
func (noAnswer) notify(outgoing) error   { return nil }
func (noAnswer) respond(response)        {}

// accepts is what a client can read.
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
