package front

import (
	"maps"
	"slices"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// This file keeps count of the requests of a client that are not answered yet.

// cancellable is a request in flight.
type cancellable interface {
	cancel(cause error)
}

// maxInFlight limits the requests that one client can make us hold.
const maxInFlight = 4096

// begin handles a request. While too many are under way, nothing more is read.
func (s *session) begin(message *wire.Message, to replyPath) {
	// The id is copied: forwarding a call uses up the buffer that it is in.
	r := &request{session: s, to: to, key: idKey(message.ID)}
	r.id = append(r.idSpace[:0], message.ID.Bytes()...)
	if admitted, refusal := s.admit(r.key, r.id, r); !admitted {
		to.send(refusal)
		return
	}
	r.handle(message)
}

// admit has a request count as one in flight, until forget. It blocks while too many are. If it
// is not admitted, the refusal is what the client is told; nothing at the end of the session,
// since the client could not tell that from an answer.
func (s *session) admit(key string, id []byte, r cancellable) (admitted bool, refusal []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.inFlight) >= maxInFlight && !s.ending {
		if s.full == nil {
			s.full = make(chan struct{})
		}
		full := s.full
		s.mu.Unlock()
		select {
		case <-full:
		case <-s.life.Done():
		}
		s.mu.Lock()
	}
	if s.ending {
		return false, nil
	}
	if _, twice := s.inFlight[key]; twice {
		return false, wire.ErrorResponse(id, protocol.CodeInvalidRequest,
			"Invalid request: another request with this id is still in flight")
	}
	s.inFlight[key] = r
	s.requests.Add(1)
	return true, nil
}

// forget lets the client use the key again. When the answer was sent, requests is to be told.
func (s *session) forget(key string) {
	s.mu.Lock()
	delete(s.inFlight, key)
	if s.full != nil {
		close(s.full)
		s.full = nil
	}
	s.mu.Unlock()
}

// cancel cancels the request that a client's notification names.
func (s *session) cancel(params wire.Payload) {
	s.mu.Lock()
	r, ok := s.inFlight[idKey(params.Member("requestId"))]
	s.mu.Unlock()
	if !ok {
		return
	}
	var cause call.Cancelled
	if reason := params.Member("reason"); reason.Kind() == "string" {
		cause.Reason = reason.Bytes()
	}
	r.cancel(cause)
}

// cancelAll cancels every request in flight.
func (s *session) cancelAll(cause error) {
	s.mu.Lock()
	all := slices.Collect(maps.Values(s.inFlight))
	s.mu.Unlock()
	for _, r := range all {
		r.cancel(cause)
	}
}

// busy reports whether requests are in flight.
func (s *session) busy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.inFlight) > 0
}

// idKey makes an id comparable: strings may be escaped in different ways.
func idKey(id wire.Payload) string {
	if text, ok := id.Text(); ok {
		return `"` + text
	}
	return string(id.Bytes())
}
