package downstream

import (
	"fmt"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/wire"
)

// Question is a request of the server, for the client. It gets one answer: by Answer or by
// Refuse, unless the server withdraws it.
type Question struct {
	Method string
	Params wire.Payload

	session *Session
	id      []byte // as the server wrote it
	// withdraw is told that no answer is wanted any more; guarded by Session.mu.
	withdraw func(params wire.Payload)
}

// maxQuestions is how many questions of a server may be open at once.
const maxQuestions = 1000

// asked takes in a request of the server. One that finds no room is refused: a server that
// asks without reading must not stop our reading.
func (s *Session) asked(message wire.Message, owner uint64) {
	if s.modern.Load() {
		s.log.Debug("ignored a request of the server: its revision has none, and no answers to them")
		return
	}
	q := &Question{Method: string(message.Method), Params: message.Params, session: s, id: message.ID.Bytes()}
	if q.Method == protocol.MethodPing {
		q.reply(wire.Result(q.id, []byte("{}")))
		return
	}
	if s.options.Asked == nil {
		q.reply(q.unsupported())
		return
	}
	s.mu.Lock()
	taken := len(s.questions) < maxQuestions && s.err == nil
	if taken {
		s.questions[string(q.id)] = q
	}
	s.mu.Unlock()
	if !taken {
		q.reply(wire.ErrorResponse(q.id, protocol.CodeInternalError, "Too many questions are waiting for an answer"))
		return
	}
	caller, several := s.callerOf(owner)
	s.options.Asked(q, caller, several)
}

// callerOf returns whose request a message of the server belongs to. Where the transport
// does not tell, it is that of the one client that has requests in flight, the newest of
// them; several says that there are several such clients.
func (s *Session) callerOf(owner uint64) (caller Caller, several bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p, ok := s.pending[owner]; ok {
		if caller := p.sink.Caller(); caller != nil {
			return caller, false
		}
	}
	newest := uint64(0)
	for id, p := range s.pending {
		candidate := p.sink.Caller()
		switch {
		case candidate == nil:
		case caller != nil && caller.Party() != candidate.Party():
			return nil, true
		case id > newest:
			caller, newest = candidate, id
		}
	}
	return caller, false
}

// OnWithdraw has a function called if the server withdraws the question, with its reason
// (a JSON string, or nil), or ends before there was an answer.
func (q *Question) OnWithdraw(withdraw func(params wire.Payload)) {
	q.session.mu.Lock()
	q.withdraw = withdraw
	q.session.mu.Unlock()
}

// Answer answers the question with what the client's response holds.
func (q *Question) Answer(response wire.Message) {
	if !q.close() {
		return
	}
	if !response.Error.IsAbsent() {
		q.reply(response.Error.Wrap(wire.AppendErrorPrefix(nil, q.id), []byte(wire.Suffix)))
		return
	}
	q.reply(response.Result.Wrap(wire.AppendResultPrefix(nil, q.id), []byte(wire.Suffix)))
}

// Refuse answers the question with an error of our own.
func (q *Question) Refuse(code int, text string) {
	if q.close() {
		q.reply(wire.ErrorResponse(q.id, code, text))
	}
}

// RefuseUnsupported answers as a client does that cannot be asked such things.
func (q *Question) RefuseUnsupported() {
	if q.close() {
		q.reply(q.unsupported())
	}
}

func (q *Question) unsupported() []byte {
	return wire.ErrorResponse(q.id, protocol.CodeMethodNotFound, fmt.Sprintf("The client does not support '%.100s'", q.Method))
}

// Notify sends a notification to the server that asked.
func (q *Question) Notify(method string, params []byte) { q.session.Notify(method, params) }

// close takes the question off the list, and reports whether it was still there. While it
// was, the server could not go on with its own work.
func (q *Question) close() bool {
	s := q.session
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.questions[string(q.id)] != q {
		return false
	}
	delete(s.questions, string(q.id))
	for id, p := range s.pending {
		p.heard = time.Now()
		s.pending[id] = p
	}
	return true
}

func (q *Question) reply(message []byte) {
	if !q.session.transport.reply(message) {
		q.session.log.Debug("dropped a reply to the server, which does not read")
	}
}

// withdrawn tells whoever answers the question that it is over.
func (q *Question) withdrawn(params wire.Payload) {
	q.session.mu.Lock()
	withdraw := q.withdraw
	q.session.mu.Unlock()
	if withdraw != nil {
		withdraw(params)
	}
}

// withdraw takes back the question that a server's notification names.
func (s *Session) withdraw(params wire.Payload) {
	s.mu.Lock()
	q, ok := s.questions[string(params.Member("requestId").Bytes())]
	s.mu.Unlock()
	if !ok || !q.close() {
		return
	}
	q.withdrawn(params)
}
