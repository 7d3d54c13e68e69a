package front

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/metatool"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/era"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
)

// suspension lets a request of a stateless client wait for answers to a server's questions: the
// request is answered with the questions, and continues when the client sends it again with the
// answers.
type suspension struct {
	binding digest                  // hash of what the retry must repeat; zero if the request cannot be suspended
	resumed atomic.Pointer[request] // the suspended request that this one continues; nil for most

	// Guarded by suspendedCalls.mu:
	bytes  int         // of the questions that the client was asked
	expiry *time.Timer // abandons the request

	mu        sync.Mutex
	isOver    bool
	isWaiting bool             // for the client to come back
	kept      *metatool.Answer // answer that arrived while the client was away
	open      []openQuestion
	atPage    bool        // a person at the page was asked for the request, which may be of either era
	asked     int         // questions so far
	askTimer  *time.Timer // fires when no more questions are waited for; nil if none are
}

// openQuestion is a server's question that the client has not answered.
type openQuestion struct {
	key      string
	question *downstream.Question
}

// Limits of questions to a stateless client.
const (
	// settleTime is how long further questions are waited for before the client is asked: each
	// round costs it a request.
	settleTime = 40 * time.Millisecond
	// maxOpen is how many questions one request may have open.
	maxOpen = 100
	// maxKept limits an answer that waits for its client to come back.
	maxKept = 64 << 10
)

// suspendFor puts a question to the client: it waits a moment for others, and then becomes the
// response. While the client has not come back, it waits for that.
func (r *request) suspendFor(question *downstream.Question) {
	if !isQuestion(question.Method) || !canBeAsked(r.session.capabilities(), question) {
		question.RefuseUnsupported()
		return
	}
	if problem := call.Ambiguous(question.Method, question.Params); problem != "" {
		question.Refuse(protocol.CodeInvalidParams, problem)
		return
	}
	s := &r.suspension
	s.mu.Lock()
	if s.isOver || len(s.open) == maxOpen {
		s.mu.Unlock()
		question.Refuse(protocol.CodeInternalError, "The call has ended, or has too many questions open")
		return
	}
	s.asked++
	key := fmt.Sprintf("question-%d", s.asked)
	s.open = append(s.open, openQuestion{key, question})
	r.suspendLater()
	s.mu.Unlock()
	question.OnWithdraw(func(wire.Payload) { s.withdraw(key) })
}

// isQuestion reports whether a request of a server is one that the modern era has as a question.
func isQuestion(method string) bool {
	switch method {
	case protocol.MethodElicitation, protocol.MethodSampling, protocol.MethodRootsList:
		return true
	}
	return false
}

// suspendLater schedules the questions for the client, if it waits for a response. Called with mu held.
func (r *request) suspendLater() {
	if s := &r.suspension; !s.isWaiting && s.askTimer == nil {
		s.askTimer = time.AfterFunc(settleTime, r.suspend)
	}
}

// withdraw removes a question that the server does not want answered any more.
func (s *suspension) withdraw(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = slices.DeleteFunc(s.open, func(o openQuestion) bool { return o.key == key })
}

// suspend answers the request with the open questions, and has it wait for the answers.
func (r *request) suspend() {
	s := &r.suspension
	s.mu.Lock()
	s.askTimer = nil
	if s.isOver || s.isWaiting || len(s.open) == 0 {
		s.mu.Unlock()
		return
	}
	size := 0
	for _, o := range s.open {
		size += len(o.question.Params.Bytes())
	}
	state, ok := r.session.server.suspended.add(r, size)
	if !ok {
		open := s.takeOpen()
		s.mu.Unlock()
		refuseAll(open, "Too many calls wait for answers of their clients")
		return
	}
	s.isWaiting = true
	var questions era.Questions
	for _, o := range s.open {
		questions.Add(o.key, o.question.Method, o.question.Params)
	}
	to := r.reply
	s.mu.Unlock()
	r.send(to, metatool.Answer{Text: questions.Result(state)})
}

// resume continues the suspended request whose questions this request answers.
func (r *request) resume(message *wire.Message) {
	answers, problem := readAnswers(message.Params.Member(protocol.InputResponses))
	if problem != "" {
		r.fail(invalidParams(problem))
		return
	}
	state, _ := message.Params.Member(protocol.RequestState).Text()
	suspended, ok := r.session.server.suspended.claim(state, bind(r.session.stateless.caller, r.method, message.Params))
	if !ok {
		r.fail(invalidParams("the requestState is unknown: it may have been used or have expired, " +
			"or belongs to another request. Send the request again without it"))
		return
	}
	s := &suspended.suspension
	s.mu.Lock()
	if kept := s.kept; kept != nil {
		s.mu.Unlock()
		r.respond(*kept)
		return
	}
	suspended.reply, s.isWaiting = r.reply, false
	var answered []openQuestion
	s.open = slices.DeleteFunc(s.open, func(o openQuestion) bool {
		_, ok := answers[o.key]
		if ok {
			answered = append(answered, o)
		}
		return ok
	})
	if len(s.open) > 0 { // they are asked again
		suspended.suspendLater()
	}
	s.mu.Unlock()
	r.suspension.resumed.Store(suspended)
	if cause := r.canceller.Cause(); cause != nil { // before that was stored
		suspended.cancel(cause)
	}
	for _, o := range answered {
		o.question.Answer(wire.Message{Result: answers[o.key]})
	}
}

// readAnswers reads the answers that a client sends, and copies them: each goes to a server in a
// buffer of its own.
func readAnswers(sent wire.Payload) (answers map[string]wire.Payload, problem string) {
	if kind := sent.Kind(); kind != "object" && kind != "undefined" {
		return nil, "'" + protocol.InputResponses + "' must be an object, not " + kind
	}
	answers = make(map[string]wire.Payload)
	for key, value := range sent.Members() {
		if value.Kind() != "object" {
			return nil, fmt.Sprintf("'%s' of '%s' must be an object, not %s", key, protocol.InputResponses, value.Kind())
		}
		answers[string(key)] = wire.Raw(bytes.Clone(value.Bytes()))
	}
	return answers, ""
}

// abandon ends a suspended request whose client did not come back.
func (r *request) abandon(cause error) {
	s := &r.suspension
	s.mu.Lock()
	open := s.takeOpen()
	s.kept = nil
	s.mu.Unlock()
	r.canceller.Cancel(cause)
	refuseAll(open, cause.Error())
}

var errUnanswered = errors.New("the client did not answer the server's questions in time")

// keepAnswer keeps an answer until the client comes back. Called with mu held.
func (s *suspension) keepAnswer(answer metatool.Answer) {
	if len(answer.Text)+len(answer.Outcome.Result.Bytes())+len(answer.Outcome.Error.Bytes()) > maxKept {
		answer = metatool.Answer{Error: &metatool.Error{
			Code: protocol.CodeInternalError, Message: "The answer came before the questions were answered, and was too long to be kept. The call has run.",
		}}
	}
	s.kept = &answer
}

// takeOpen removes and returns the open questions. Called with mu held.
func (s *suspension) takeOpen() []openQuestion {
	open := s.open
	s.open = nil
	if s.askTimer != nil {
		s.askTimer.Stop()
		s.askTimer = nil
	}
	return open
}

// takeOpenIfAny is takeOpen, but skips the lock if the request cannot be suspended.
func (s *suspension) takeOpenIfAny() []openQuestion {
	if s.binding == 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.takeOpen()
}

func refuseAll(open []openQuestion, text string) {
	for _, o := range open {
		o.question.Refuse(protocol.CodeInternalError, text)
	}
}
