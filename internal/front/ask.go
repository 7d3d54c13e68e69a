package front

import (
	"strconv"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/wire"
)

// asking is a server's question that waits for the client's answer.
type asking struct {
	question *downstream.Question
	token    []byte // the server's progress token; empty without one
}

// ask puts a server's question to the client. It goes the way of the answer to the request
// that it belongs to, or unasked; a client that did not say that it can be asked is not.
func (s *session) ask(question *downstream.Question, to func(message []byte) bool) {
	s.mu.Lock()
	if s.ending || !canBeAsked(s.capabilities, question.Method) {
		s.mu.Unlock()
		question.RefuseUnsupported()
		return
	}
	s.lastAsked++
	id := s.lastAsked
	token := question.Params.Member("_meta").Member(protocol.ProgressToken)
	s.asked[id] = asking{question, token.Bytes()}
	s.mu.Unlock()

	message := wire.AppendRequestPrefix(make([]byte, 0, len(question.Params.Bytes())+128), id, question.Method)
	switch {
	case question.Params.IsAbsent():
		message = append(message, "{}"...)
	case token.IsAbsent():
		message = append(message, question.Params.Bytes()...)
	default: // tokens of several servers may be the same
		message = wire.AppendEdited(message, question.Params, wire.Edit{Part: token, With: strconv.AppendUint(nil, id, 10)})
	}
	question.OnWithdraw(func(reason []byte) { s.withdraw(id, reason, to) })
	if !to(append(message, wire.Suffix...)) {
		s.takeAsking(id)
		question.Refuse(protocol.CodeInternalError, errUnread.Error())
	}
}

// canBeAsked reports whether a client declared what a question needs: the methods of a
// capability begin with its name.
func canBeAsked(capabilities wire.Payload, method string) bool {
	area, _, _ := strings.Cut(method, "/")
	return capabilities.Member(area).Kind() == "object"
}

// withdraw tells the client that a server does not want an answer any more.
func (s *session) withdraw(id uint64, reason []byte, to func(message []byte) bool) {
	if _, ok := s.takeAsking(id); !ok {
		return
	}
	params := strconv.AppendUint([]byte(`{"requestId":`), id, 10)
	if reason != nil {
		params = append(append(params, `,"reason":`...), reason...)
	}
	to(wire.Notification(protocol.NotifyCancelled, append(params, '}')))
}

// takeAnswer takes in a client's answer to a server's question.
func (s *session) takeAnswer(message wire.Message) {
	id, err := strconv.ParseUint(string(message.ID.Bytes()), 10, 64)
	if err != nil {
		return
	}
	if a, ok := s.takeAsking(id); ok {
		a.question.Answer(message)
	}
}

// progressOfAnswer passes on the client's progress with a server's question.
func (s *session) progressOfAnswer(params wire.Payload) {
	token := params.Member(protocol.ProgressToken)
	id, err := strconv.ParseUint(string(token.Bytes()), 10, 64)
	if err != nil {
		return
	}
	s.mu.Lock()
	a, ok := s.asked[id]
	s.mu.Unlock()
	if ok && len(a.token) > 0 {
		a.question.Notify(protocol.NotifyProgress, wire.AppendEdited(nil, params, wire.Edit{Part: token, With: a.token}))
	}
}

func (s *session) takeAsking(id uint64) (asking, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, ok := s.asked[id]
	delete(s.asked, id)
	return a, ok
}

// refuseAsked answers all questions for a client that is gone.
func (s *session) refuseAsked() {
	s.mu.Lock()
	open := s.asked
	s.asked = make(map[uint64]asking)
	s.mu.Unlock()
	for _, a := range open {
		a.question.Refuse(protocol.CodeInternalError, "The client is gone")
	}
}
