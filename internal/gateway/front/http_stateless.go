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

// mentionsRevision reports whether a frame may be of the modern era, without parsing it.
func mentionsRevision(frame wire.Frame) bool {
	return !frame.IsBatch() && bytes.Contains(frame.Bytes(), []byte("io.modelcontextprotocol"))
}

// postModern serves a message of the modern era. It reports false if it is of the legacy era.
func (h *httpServer) postModern(e exchange, frame wire.Frame, accepted accepts) bool {
	byHeader := hasModernRevision(e.r)
	if !byHeader && (e.r.Header.Get(sessionHeader) != "" || !mentionsRevision(frame)) {
		return false
	}
	if frame.IsBatch() {
		e.refuseModern(nil, &metatool.Error{Code: protocol.CodeInvalidRequest, Message: noBatches})
		return true
	}
	message, err := wire.Parse(frame)
	if err != nil {
		if byHeader {
			e.reject(frame, err)
		}
		return byHeader
	}
	t := readMetaOf(message.Params)
	switch {
	case !byHeader && (t.revision.IsAbsent() || !message.IsRequest() || string(message.Method) == protocol.MethodInitialize):
		return false
	case message.IsResponse():
		e.refuseModern(nil, &metatool.Error{Code: protocol.CodeInvalidRequest, Message: "Invalid request: the protocol revision in use has no responses of clients"})
	case !message.IsRequest():
		e.w.WriteHeader(http.StatusAccepted)
	default:
		h.serveModern(e, message, t, accepted)
	}
	return true
}

// serveModern serves one request of the modern era.
func (h *httpServer) serveModern(e exchange, message wire.Message, meta requestMeta, accepted accepts) {
	id := bytes.Clone(message.ID.Bytes())
	if refused := checkHeaders(e.r.Header, message, meta); refused != nil {
		e.refuseModern(id, refused)
		return
	}
	listens := string(message.Method) == protocol.MethodListen
	if listens && !accepted.stream {
		refuse(e.w, http.StatusNotAcceptable, protocol.CodeInvalidRequest, "The Accept header must list text/event-stream")
		return
	}
	mark, marked := meta.hops.Text()
	if err := h.server.admit(mark); err != nil {
		e.refuseModern(id, &metatool.Error{Code: protocol.CodeInvalidRequest, Message: err.Error()})
		return
	}
	if e.ending && !h.server.suspended.isOurs(meta.state) {
		refuseNew(e.w)
		return
	}
	if meta.mark = e.r.Header.Get(hops.Header); marked {
		meta.mark = strings.Clone(mark)
	}
	meta.distant = isDistant(e.r)
	client := h.statelessClients.enter(e.sender, meta)
	if client == nil && h.refuseOwn(e, h.statelessClients.isAtLimit(e.account)) {
		return
	}
	if client == nil {
		e.w.Header().Set("Retry-After", "60")
		refuse(e.w, http.StatusServiceUnavailable, protocol.CodeInternalError, "There are too many clients. Try again later")
		return
	}
	refused, later := client.checkArguments(e.r.Header, message)
	if refused != nil {
		client.idle.release()
		e.refuseModern(id, refused)
		return
	}
	st := newStream(h.spill.of(e.account), 0, id)
	st.trace, st.remote = h.server.traceOf(e.r), e.r.RemoteAddr
	// Several clients may use the same ids, so requests have numbers as keys.
	key := strconv.FormatUint(lastRequestKey.Add(1), 10)
	r := client.newRequest(st, key, meta)
	r.check = later
	r.start(&message)
	streamEnded := func(*output) {}
	if listens {
		streamEnded = func(out *output) {
			if h.draining.Load() {
				comeBack(out)
			}
		}
	}
	// That the HTTP client goes cancels its request.
	if gone := e.answerModern(st, accepted, streamEnded); gone {
		client.requests.cancel(key, call.Cancelled{})
	}
}

var lastRequestKey atomic.Uint64

// refuseModern answers a request that no client handles.
func (e exchange) refuseModern(id []byte, reason *metatool.Error) {
	e.w.Header().Set("Content-Type", "application/json")
	status := statusOf(reason.Code)
	if status == http.StatusOK {
		status = http.StatusBadRequest
	}
	e.w.WriteHeader(status)
	r := response{id: id, answer: metatool.Answer{Error: reason}}
	_, _ = e.w.Write(r.encode())
}

// statusOf is the status of an error response, for proxies.
func statusOf(code int) int {
	switch code {
	case protocol.CodeHeaderMismatch, protocol.CodeMissingCapability, protocol.CodeUnsupportedRevision, protocol.CodeInvalidParams:
		return http.StatusBadRequest
	case protocol.CodeMethodNotFound:
		return http.StatusNotFound
	case protocol.CodeTooMany:
		return http.StatusTooManyRequests
	}
	return http.StatusOK
}

// answerModern sends the response to a request. It reports whether the client may have gone
// before there was one. streamEnded is called at the end of a stream.
func (e exchange) answerModern(st *stream, accepted accepts, streamEnded func(*output)) (gone bool) {
	defer st.drop()
	switch form, answer := st.form(e.r.Context(), accepted); form {
	case alone:
		e.answerJSON(statusOf(st.errorCode), answer)
	case streamed:
		out := newOutput(e.w)
		out.unnumbered = true
		lost := st.attach()
		out.writeHeader()
		st.pump(e.r.Context(), out, 0, lost)
		streamEnded(out)
		return true
	case bodyless:
		e.w.WriteHeader(http.StatusAccepted)
	case abandoned:
		return true
	}
	return false
}
