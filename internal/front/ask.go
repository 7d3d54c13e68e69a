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
	if s.ending || !canBeAsked(s.capabilities, question) {
		s.mu.Unlock()
		question.RefuseUnsupported()
		return
	}
	s.lastAsked++
	id := s.lastAsked
	token := question.Params.Member("_meta").Member(protocol.ProgressToken)
	s.asked[id] = asking{question, token.Bytes()}
	s.mu.Unlock()

	params := question.Params.Bytes()
	if !token.IsAbsent() { // those of several servers may be the same
		params = wire.AppendEdited(nil, question.Params, wire.Edit{Part: token, With: strconv.AppendUint(nil, id, 10)})
	}
	question.OnWithdraw(func(params wire.Payload) { s.withdraw(id, params, to) })
	if !to(wire.Request(id, question.Method, params)) {
		s.takeAsking(id)
		question.Refuse(protocol.CodeInternalError, errUnread.Error())
	}
}

// canBeAsked reports whether a client declared what a question needs: the methods of a
// capability begin with its name, and some of what they ask for is declared inside of it.
// What the protocol does not know is between the two.
func canBeAsked(capabilities wire.Payload, question *downstream.Question) bool {
	area, _, _ := strings.Cut(question.Method, "/")
	declared := capabilities.Member(area)
	has := func(part string) bool { return declared.Member(part).Kind() == "object" }
	switch area {
	case "roots", "tasks":
		return declared.Kind() == "object"
	case "sampling":
		needsTools := !question.Params.Member("tools").IsAbsent() || !question.Params.Member("toolChoice").IsAbsent()
		return declared.Kind() == "object" && (!needsTools || has("tools"))
	case "elicitation":
		if mode, _ := question.Params.Member("mode").Text(); mode == "url" {
			return has("url")
		}
		// Before there were modes, there were just forms.
		return has("form") || declared.Kind() == "object" && !has("url")
	}
	return true
}

// withdraw tells the client that a server does not want an answer any more; params are
// those of the server's notification, absent if the server has ended.
func (s *session) withdraw(id uint64, params wire.Payload, to func(message []byte) bool) {
	if _, ok := s.takeAsking(id); !ok {
		return
	}
	theirs := strconv.AppendUint(nil, id, 10)
	var notice []byte
	if params.IsAbsent() {
		notice = append(append([]byte(`{"requestId":`), theirs...), '}')
	} else {
		notice = wire.AppendEdited(nil, params, wire.Edit{Part: params.Member("requestId"), With: theirs})
	}
	to(wire.Notification(protocol.NotifyCancelled, notice))
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
