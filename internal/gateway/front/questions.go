package front

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
)

// pendingQuestion is a question that waits for the client's answer: a server's, or one of ours.
type pendingQuestion struct {
	question *downstream.Question
	token    []byte // the server's progress token; empty without one
	ours     func(answer wire.Message)
}

// ask puts a server's question to the client. It goes the way of the answer to the request
// that it belongs to, or unasked; a client that did not say that it can be asked is not.
func (s *session) ask(question *downstream.Question, to func(message []byte) bool) {
	if problem := call.Ambiguous(question.Method, question.Params); problem != "" {
		question.Refuse(protocol.CodeInvalidParams, problem)
		return
	}
	s.mu.Lock()
	if s.ending || !canBeAsked(s.capabilities, question) {
		s.mu.Unlock()
		question.RefuseUnsupported()
		return
	}
	s.lastAsked++
	id := s.lastAsked
	token := question.Params.Member("_meta").Member(protocol.ProgressToken)
	s.asked[id] = pendingQuestion{question: question, token: token.Bytes()}
	s.mu.Unlock()

	params := question.Params.Bytes()
	if !token.IsAbsent() { // those of several servers may be the same
		params = wire.AppendEdited(nil, question.Params, wire.Edit{Part: token, With: strconv.AppendUint(nil, id, 10)})
	}
	question.OnWithdraw(func(params wire.Payload) { s.withdraw(id, params, to) })
	if !to(wire.Request(id, question.Method, params)) {
		s.removeQuestion(id)
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
	if _, ok := s.removeQuestion(id); !ok {
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

// receiveAnswer takes in a client's answer to a server's question.
func (s *session) receiveAnswer(message wire.Message) {
	id, err := strconv.ParseUint(string(message.ID.Bytes()), 10, 64)
	if err != nil {
		return
	}
	a, ok := s.removeQuestion(id)
	switch {
	case !ok:
	case a.ours != nil:
		a.ours(message)
	default:
		if a.question.Method == protocol.MethodRootsList {
			s.learnRoots(message)
		}
		a.question.Answer(message)
	}
}

// learnRoots takes in what the client says its roots are, to whomever.
func (s *session) learnRoots(answer wire.Message) {
	roots, party := answer.Result.Member("roots"), s.Party()
	if roots.Kind() != "array" || party == nil {
		return
	}
	s.mu.Lock()
	s.rootsAsked = true
	s.mu.Unlock()
	party.SetRoots(roots.Bytes())
}

// rootsTime is how long a client may take to tell its roots before it is treated as one
// that has nothing in common with others.
const rootsTime = time.Second

// meetAlike has this client and those that declare the same tell their roots: then those
// who have the same can share servers that ask for them. A client by itself is asked if there
// is such a server, which may be left from a client like it.
func (s *session) meetAlike() {
	alike := s.server.alike(s)
	if len(alike) == 1 && (s.declared().Member("roots").Kind() != "object" || !s.server.options.RootsMatter()) {
		return
	}
	for _, client := range alike {
		client.mu.Lock()
		asked := client.rootsAsked
		client.rootsAsked = true
		client.mu.Unlock()
		if !asked {
			client.askRoots()
		}
	}
	// Who comes first must not take servers of its own while another one is about to tell
	// that it has the same.
	var awaited []chan struct{}
	for _, client := range alike {
		client.mu.Lock()
		if client != s && client.settled != nil {
			awaited = append(awaited, client.settled)
		}
		client.mu.Unlock()
	}
	s.mu.Lock()
	s.awaited = awaited
	s.mayWait.Store(true)
	s.mu.Unlock()
}

// askRoots asks the client for its roots, and has its requests wait for them.
func (s *session) askRoots() {
	s.mu.Lock()
	if s.settled == nil {
		s.settled = make(chan struct{})
		s.mayWait.Store(true)
	}
	s.lastAsked++
	id := s.lastAsked
	s.asked[id] = pendingQuestion{ours: func(answer wire.Message) {
		s.learnRoots(answer)
		s.settle()
	}}
	s.mu.Unlock()
	if !s.own.tell(wire.Request(id, protocol.MethodRootsList, nil)) {
		s.removeQuestion(id)
		s.settle()
	}
}

// settle lets the requests go on that wait for the client's roots.
func (s *session) settle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.settled != nil {
		close(s.settled)
		s.settled = nil
	}
}

// unsettled returns what to wait for before it is known with whom the client shares servers.
func (s *session) unsettled() (waits []chan struct{}) {
	if !s.mayWait.Load() {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.settled != nil {
		waits = append(waits, s.settled)
	}
	for _, other := range s.awaited {
		select {
		case <-other:
		default:
			waits = append(waits, other)
		}
	}
	s.mayWait.Store(len(waits) > 0)
	return waits
}

// awaitRoots waits for the roots of a client that was asked for them, and of those that it
// may share servers with.
func (s *session) awaitRoots(ctx context.Context) {
	waits := s.unsettled()
	if len(waits) == 0 {
		return
	}
	patience := time.NewTimer(rootsTime)
	defer patience.Stop()
	for _, settled := range waits {
		select {
		case <-settled:
		case <-patience.C:
			s.settle()
			s.mu.Lock()
			s.awaited = nil
			s.mu.Unlock()
			return
		case <-ctx.Done():
			return
		}
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

func (s *session) removeQuestion(id uint64) (pendingQuestion, bool) {
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
	s.asked = make(map[uint64]pendingQuestion)
	s.mu.Unlock()
	for _, a := range open {
		if a.question == nil {
			continue
		}
		a.question.Refuse(protocol.CodeInternalError, "The client is gone")
	}
}
