package front

import (
	"strconv"
	"strings"
	"sync"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
)

// questionTable holds the requests that a client has been sent and has not answered.
type questionTable struct {
	mu     sync.Mutex
	open   map[uint64]pendingQuestion
	last   uint64 // id
	closed bool   // the client is asked nothing, or nothing any more
}

// pendingQuestion waits for the client's answer.
type pendingQuestion struct {
	question *downstream.Question        // of a server; nil if it is our own
	token    []byte                      // the server's progress token; empty without one
	answered func(response wire.Message) // of a question of our own
}

// add enters a question under a new id.
func (t *questionTable) add(q pendingQuestion) (id uint64, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return 0, false
	}
	t.last++
	t.open[t.last] = q
	return t.last, true
}

func (t *questionTable) find(id uint64) (q pendingQuestion, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	q, ok = t.open[id]
	return q, ok
}

func (t *questionTable) remove(id uint64) (q pendingQuestion, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	q, ok = t.open[id]
	delete(t.open, id)
	return q, ok
}

// close has no more questions asked.
func (t *questionTable) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
}

// refuseAll answers all questions for a client that is gone.
func (t *questionTable) refuseAll() {
	t.mu.Lock()
	open := t.open
	t.open = make(map[uint64]pendingQuestion)
	t.mu.Unlock()
	for _, q := range open {
		if q.question != nil {
			q.question.Refuse(protocol.CodeInternalError, "The client is gone")
		}
	}
}

// putQuestion sends a server's question to the client: by the path of the response to the request
// that it belongs to, or by the session's own. A client that has not declared that it can be
// asked is not asked.
func (s *session) putQuestion(question *downstream.Question, send func(message outgoing) bool) {
	if problem := call.Ambiguous(question.Method, question.Params); problem != "" {
		question.Refuse(protocol.CodeInvalidParams, problem)
		return
	}
	token := question.Params.Member("_meta").Member(protocol.ProgressToken)
	id, ok := uint64(0), canBeAsked(s.capabilities(), question)
	if ok {
		id, ok = s.questions.add(pendingQuestion{question: question, token: token.Bytes()})
	}
	if !ok {
		question.RefuseUnsupported()
		return
	}
	params := question.Params.Bytes()
	if !token.IsAbsent() { // those of several servers may be the same
		params = wire.AppendEdited(nil, question.Params, wire.Edit{Part: token, With: strconv.AppendUint(nil, id, 10)})
	}
	question.OnWithdraw(func(params wire.Payload) { s.withdrawQuestion(id, params, send) })
	if !send(outgoing{id: id, method: question.Method, params: params}) {
		s.questions.remove(id)
		question.Refuse(protocol.CodeInternalError, errUnread.Error())
	}
}

// canBeAsked reports whether a client declared what a question needs: the methods of a
// capability begin with its name, and some of what they ask for is declared inside of it.
// Methods that the protocol does not know are between the server and the client.
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

// withdrawQuestion tells the client that a server does not want an answer any more; params are
// those of the server's cancellation, absent if the server has ended.
func (s *session) withdrawQuestion(id uint64, params wire.Payload, send func(message outgoing) bool) {
	if _, ok := s.questions.remove(id); !ok {
		return
	}
	theirs := strconv.AppendUint(nil, id, 10)
	var notice []byte
	if params.IsAbsent() {
		notice = append(append([]byte(`{"requestId":`), theirs...), '}')
	} else {
		notice = wire.AppendEdited(nil, params, wire.Edit{Part: params.Member("requestId"), With: theirs})
	}
	send(outgoing{method: protocol.NotifyCancelled, params: notice})
}

// receiveAnswer passes a client's answer to the one who asked.
func (s *session) receiveAnswer(message wire.Message) {
	id, err := strconv.ParseUint(string(message.ID.Bytes()), 10, 64)
	if err != nil {
		return
	}
	q, ok := s.questions.remove(id)
	switch {
	case !ok:
	case q.answered != nil:
		q.answered(message)
	default:
		if q.question.Method == protocol.MethodRootsList {
			s.learnRoots(message)
		}
		q.question.Answer(message)
	}
}

// forwardProgress passes the client's progress with a question to the server that asked.
func (s *session) forwardProgress(params wire.Payload) {
	token := params.Member(protocol.ProgressToken)
	id, err := strconv.ParseUint(string(token.Bytes()), 10, 64)
	if err != nil {
		return
	}
	if q, ok := s.questions.find(id); ok && len(q.token) > 0 {
		q.question.Notify(protocol.NotifyProgress, wire.AppendEdited(nil, params, wire.Edit{Part: token, With: q.token}))
	}
}
