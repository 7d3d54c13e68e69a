package downstream

import (
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// Question is a request of the server for the client. It is answered once, by Answer or Refuse, unless the server
// withdraws it.
type Question struct {
	Method string
	Params wire.Payload
	// About says which server asks, and about which tool or else for which request, as far as that is known.
	About toolbox.Ref
	// Report tells the client that its request waits for somebody else who was asked, if it wants to know; may be nil.
	Report func(text string)

	from inquirer
	id   []byte // as the server wrote it; nil for a question without a message of its own

	mu       sync.Mutex
	withdraw func(params wire.Payload) // called when no answer is needed any more
	settled  func()                    // called when it is closed; may be nil
}

// inquirer is the origin of a question, which receives the answer.
type inquirer interface {
	// close removes the question from the open ones, and reports whether it was open.
	close(q *Question) bool
	// answer receives the answer to a closed question; unsupported means that the client was not asked, since it does
	// not support such questions.
	answer(q *Question, response wire.Message, unsupported bool)
	// notify sends a notification.
	notify(method string, params []byte)
}

// NewQuestion returns a question from a result, without a message of its own. answer receives the client's answer,
// once; unsupported means that the client was not asked, since it does not support such questions.
func NewQuestion(method string, params wire.Payload, answer func(response wire.Message, unsupported bool)) *Question {
	return &Question{Method: method, Params: params, from: &resultInquirer{answered: answer}}
}

// resultInquirer is the origin of a question in a result.
type resultInquirer struct {
	closed   atomic.Bool
	answered func(response wire.Message, unsupported bool)
}

func (e *resultInquirer) close(*Question) bool { return e.closed.CompareAndSwap(false, true) }

func (e *resultInquirer) answer(_ *Question, response wire.Message, unsupported bool) {
	e.answered(response, unsupported)
}

func (*resultInquirer) notify(string, []byte) {}

// maxQuestions bounds the open questions of a server; further ones are refused.
const maxQuestions = 1000

// handleQuestion handles a request of the server. Beyond the limit it is refused: a server that asks without reading must not
// stop the reader.
func (s *Session) handleQuestion(message wire.Message, owner uint64) {
	if s.modern.Load() {
		s.log.Debug("ignored a request of the server: its revision does not allow any")
		return
	}
	q := &Question{Method: string(message.Method), Params: message.Params, from: s, id: message.ID.Bytes()}
	if q.Method == protocol.MethodPing {
		s.answer(q, wire.Message{Result: wire.Raw([]byte("{}"))}, false)
		return
	}
	if s.options.OnQuestion == nil {
		s.answer(q, q.unsupported(), true)
		return
	}
	s.mu.Lock()
	taken := len(s.questions) < maxQuestions && s.err == nil
	if taken {
		s.questions[string(q.id)] = q
	}
	s.mu.Unlock()
	if !taken {
		s.answer(q, refusalOf(protocol.CodeInternalError, "Too many questions are waiting for an answer"), false)
		return
	}
	caller, several := s.callerOf(owner)
	s.options.OnQuestion(q, caller, several)
}

// callerOf returns for whose request a message of the server is. If the transport does not show that, it is the newest
// request of the only client with requests in flight; several means that more than one client has.
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
		case caller != nil && caller.Profile() != candidate.Profile():
			return nil, true
		case id > newest:
			caller, newest = candidate, id
		}
	}
	return caller, false
}

// OnWithdraw sets a function that is called if the server withdraws the question, with its reason (a JSON string, or
// nil), or ends before there was an answer.
func (q *Question) OnWithdraw(withdraw func(params wire.Payload)) {
	q.mu.Lock()
	q.withdraw = withdraw
	q.mu.Unlock()
}

// OnSettled sets a function that is called when the question is answered, refused or withdrawn. It is not called if the
// server ends.
func (q *Question) OnSettled(settled func()) {
	q.mu.Lock()
	q.settled = settled
	q.mu.Unlock()
}

// settle closes the question, and reports whether it was open.
func (q *Question) settle() bool {
	if !q.from.close(q) {
		return false
	}
	q.mu.Lock()
	settled := q.settled
	q.mu.Unlock()
	if settled != nil {
		settled()
	}
	return true
}

// Answer answers the question with the client's response.
func (q *Question) Answer(response wire.Message) {
	if q.settle() {
		q.from.answer(q, response, false)
	}
}

// Refuse answers the question with an error of the workbench.
func (q *Question) Refuse(code int, text string) {
	if q.settle() {
		q.from.answer(q, refusalOf(code, text), false)
	}
}

// RefuseUnsupported answers like a client that does not support the method.
func (q *Question) RefuseUnsupported() {
	if q.settle() {
		q.from.answer(q, q.unsupported(), true)
	}
}

func (q *Question) unsupported() wire.Message {
	return refusalOf(protocol.CodeMethodNotFound, fmt.Sprintf("The client does not support '%.100s'", q.Method))
}

func refusalOf(code int, text string) wire.Message {
	object := strconv.AppendInt([]byte(`{"code":`), int64(code), 10)
	return wire.Message{Error: wire.Raw(append(wire.AppendMember(object, "message", text), '}'))}
}

// Notify sends a notification to the server that asked.
func (q *Question) Notify(method string, params []byte) { q.from.notify(method, params) }

// Withdraw withdraws the question and informs whoever answers it.
func (q *Question) Withdraw() {
	if q.settle() {
		q.withdrawn(wire.Payload{})
	}
}

// withdrawn informs whoever answers the question that it was withdrawn.
func (q *Question) withdrawn(params wire.Payload) {
	q.mu.Lock()
	withdraw := q.withdraw
	q.mu.Unlock()
	if withdraw != nil {
		withdraw(params)
	}
}

// close implements inquirer. The silence of requests counts anew: the server could not work while the question was
// open.
func (s *Session) close(q *Question) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.questions[string(q.id)] != q {
		return false
	}
	delete(s.questions, string(q.id))
	for id, p := range s.pending {
		p.lastSign = time.Since(s.began)
		s.pending[id] = p
	}
	return true
}

// answer implements inquirer.
func (s *Session) answer(q *Question, response wire.Message, _ bool) {
	var message []byte
	if response.Error.IsAbsent() {
		message = response.Result.Wrap(wire.AppendResultPrefix(nil, q.id), []byte(wire.Suffix))
	} else {
		message = response.Error.Wrap(wire.AppendErrorPrefix(nil, q.id), []byte(wire.Suffix))
	}
	if !s.reply(message) {
		s.log.Debug("dropped a reply to the server, which does not read")
	}
}

// notify implements inquirer.
func (s *Session) notify(method string, params []byte) { s.Notify(method, params) }

// withdraw withdraws the question that a server's notification names.
func (s *Session) withdraw(params wire.Payload) {
	s.mu.Lock()
	q, ok := s.questions[string(params.Member("requestId").Bytes())]
	s.mu.Unlock()
	if !ok || !q.settle() {
		return
	}
	q.withdrawn(params)
}
