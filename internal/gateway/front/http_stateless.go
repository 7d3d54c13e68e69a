package front

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/metatool"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/hops"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// hasModernRevision reports whether the headers of a request are of the modern era.
func hasModernRevision(r *http.Request) bool {
	for _, name := range r.Header.Values(revisionHeader) {
		if protocol.Revision(name).IsModern() {
			return true
		}
	}
	return false
}

// mentionsRevision looks whether a frame may be of the modern era, without taking it apart.
func mentionsRevision(frame wire.Frame) bool {
	return !frame.IsBatch() && bytes.Contains(frame.Bytes(), []byte("io.modelcontextprotocol"))
}

// postModern serves a message of the modern era. It reports false if it is none, after all.
func (f *httpServer) postModern(v exchange, frame wire.Frame, accepted accepts) bool {
	byHeader := hasModernRevision(v.r)
	if !byHeader && (v.r.Header.Get(sessionHeader) != "" || !mentionsRevision(frame)) {
		return false
	}
	if frame.IsBatch() {
		v.refuseModern(nil, &metatool.Error{Code: protocol.CodeInvalidRequest, Message: noBatches})
		return true
	}
	message, err := wire.Parse(frame)
	if err != nil {
		if byHeader {
			v.reject(frame, err)
		}
		return byHeader
	}
	t := readMeta(message.Params.Member("_meta"))
	switch {
	case !byHeader && (t.revision.IsAbsent() || !message.IsRequest() || string(message.Method) == protocol.MethodInitialize):
		return false
	case message.IsResponse():
		v.refuseModern(nil, &metatool.Error{Code: protocol.CodeInvalidRequest, Message: "Invalid request: the protocol revision in use has no responses of clients"})
	case !message.IsRequest():
		v.w.WriteHeader(http.StatusAccepted)
	default:
		f.serveModern(v, message, t, accepted)
	}
	return true
}

// serveModern serves one request of the modern era.
func (f *httpServer) serveModern(v exchange, message wire.Message, t requestMeta, accepted accepts) {
	id := bytes.Clone(message.ID.Bytes())
	if refused := checkHeaders(v.r.Header, message, t); refused != nil {
		v.refuseModern(id, refused)
		return
	}
	if string(message.Method) == protocol.MethodListen && !accepted.stream {
		refuse(v.w, http.StatusNotAcceptable, protocol.CodeInvalidRequest, "The Accept header must list text/event-stream")
		return
	}
	mark, marked := t.hops.Text()
	if err := f.server.admit(mark); err != nil {
		v.refuseModern(id, &metatool.Error{Code: protocol.CodeInvalidRequest, Message: err.Error()})
		return
	}
	if t.mark = v.r.Header.Get(hops.Header); marked {
		t.mark = strings.Clone(mark)
	}
	client := f.statelessClients.enter(v.owner, v.account, v.audience, t)
	if client == nil {
		v.w.Header().Set("Retry-After", "60")
		refuse(v.w, http.StatusServiceUnavailable, protocol.CodeInternalError, "There are too many clients. Try again later")
		return
	}
	refused, later := client.checkArguments(v.r.Header, message)
	if refused != nil {
		client.idle.release()
		v.refuseModern(id, refused)
		return
	}
	st := newStream(f.shelf.of(v.account), 0, id)
	// Several clients may use the same ids, so that requests are told apart by numbers.
	key := strconv.FormatUint(lastRequestKey.Add(1), 10)
	r := client.newRequest(st, key, t)
	r.check = later
	r.start(&message)
	// That the HTTP client goes cancels its request.
	if gone := v.answerModern(st, accepted); gone {
		client.requests.cancel(key, call.Cancelled{})
	}
}

var lastRequestKey atomic.Uint64

// refuseModern answers a request that is not looked at.
func (v exchange) refuseModern(id []byte, reason *metatool.Error) {
	v.w.Header().Set("Content-Type", "application/json")
	status := statusOf(reason.Code)
	if status == http.StatusOK {
		status = http.StatusBadRequest
	}
	v.w.WriteHeader(status)
	r := response{id: id, answer: metatool.Answer{Error: reason}}
	_, _ = v.w.Write(r.encode())
}

// statusOf is the status of an answer that is an error: what stands between a client and us
// can tell it from a result.
func statusOf(code int) int {
	switch code {
	case protocol.CodeHeaderMismatch, protocol.CodeMissingCapability, protocol.CodeUnsupportedRevision, protocol.CodeInvalidParams:
		return http.StatusBadRequest
	case protocol.CodeMethodNotFound:
		return http.StatusNotFound
	}
	return http.StatusOK
}

// answerModern sends the response to a request. It reports whether the client may have gone
// before there was one.
func (v exchange) answerModern(st *stream, accepted accepts) (gone bool) {
	defer st.drop()
	switch form, answer := st.form(v.r.Context(), accepted); form {
	case alone:
		v.answerJSON(statusOf(st.errorCode), answer)
	case streamed:
		out := newOutput(v.w)
		out.unnumbered = true
		lost := st.attach()
		out.begin()
		st.pump(v.r.Context(), out, 0, lost)
		return true
	case bodyless:
		v.w.WriteHeader(http.StatusAccepted)
	case abandoned:
		return true
	}
	return false
}
