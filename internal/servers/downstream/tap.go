package downstream

import (
	"strconv"
	"sync/atomic"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// Tap observes the messages of sessions. Its methods must not block, and must not keep the message, which others use next.
type Tap interface {
	// Sent is called before a message is sent to the server. method is that of a request; otherwise "".
	Sent(session *Session, method string, message []byte)
	// Received is called with everything that the server sent: a message, a batch, or neither. owner is the id of the
	// request that a response without an id belongs to; may be nil.
	Received(session *Session, message, owner []byte)
	// Skipped is called with the size of a message of the server that was too long to be read.
	Skipped(session *Session, size int64)
}

// TapPoint is where one Tap can be attached to the sessions with a server, also to those that begin later. While there is
// none, a message costs one atomic load.
type TapPoint struct{ tap atomic.Pointer[Tap] }

// Attach attaches a tap, unless there is one already.
func (p *TapPoint) Attach(tap Tap) bool { return p.tap.CompareAndSwap(nil, &tap) }

// Detach removes a tap. It may still be called by those who looked before.
func (p *TapPoint) Detach(tap Tap) {
	if attached := p.tap.Load(); attached != nil && *attached == tap {
		p.tap.CompareAndSwap(attached, nil)
	}
}

// attached returns the tap, or nil.
func (p *TapPoint) attached() *Tap {
	if p == nil {
		return nil
	}
	return p.tap.Load()
}

// send sends a request.
func (s *Session) send(request outgoing) {
	if tap := s.options.Taps.attached(); tap != nil {
		(*tap).Sent(s, request.method, request.message)
	}
	s.transport.send(request)
}

// reply sends a notification or an answer, and returns false if the queue is full.
func (s *Session) reply(message []byte) bool {
	s.tapSent(message)
	return s.transport.reply(message)
}

// tapSent shows a tap a message that is not a request.
func (s *Session) tapSent(message []byte) {
	if tap := s.options.Taps.attached(); tap != nil {
		(*tap).Sent(s, "", message)
	}
}

// tapReceived shows a tap what the server sent.
func (s *Session) tapReceived(message []byte, owner uint64) {
	tap := s.options.Taps.attached()
	switch {
	case tap == nil:
	case owner == 0:
		(*tap).Received(s, message, nil)
	case owner == probeKey:
		(*tap).Received(s, message, []byte(probeID))
	default:
		(*tap).Received(s, message, strconv.AppendUint(nil, owner, 10))
	}
}

// Handshake returns the request and the response that began the session, as far as they are known, with an id. A tap that
// was attached later has not seen them.
func (s *Session) Handshake(id uint64) (request, response []byte) {
	method, params := protocol.MethodInitialize, []byte(nil)
	if s.Modern() {
		method, params = protocol.MethodDiscover, s.params(nil)
	} else {
		params = s.initializeParams(s.revision)
	}
	return wire.Request(id, method, params), wire.Result(strconv.AppendUint(nil, id, 10), s.offer.Bytes())
}
