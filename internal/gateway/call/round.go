package call

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/era"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
)

// This file handles results of modern servers that ask for input. Each question is sent to the legacy client as a
// request, and then the original request is sent again with the answers. A modern client gets the result itself, unless a
// person at the page answers for it.

const (
	maxRounds    = 16  // rounds of questions per request; beyond it the request fails
	maxQuestions = 100 // questions per round; beyond it the request fails
	// maxRetryPause is the longest pause before a request is sent again if the server asked no question:
	// it waits for something itself.
	maxRetryPause = 500 * time.Millisecond
	retryPause    = 50 * time.Millisecond // the shortest, after the first time
)

// waiting is what a request waits for between two requests to its server.
type waiting interface {
	// stop ends the wait. It is called at most once, and never after the wait has ended.
	stop()
}

// waitFor sets what the request waits for. Cancelling the request ends the wait.
func (r *run) waitFor(interim waiting) {
	r.mu.Lock()
	r.waiting = interim
	r.mu.Unlock()
	if cause := r.canceller.Cause(); cause != nil { // it was cancelled before the wait was set
		r.cancelled(cause)
	}
}

// endWait ends a wait, and reports whether it had not ended before; only then may the caller go on.
func (r *run) endWait(interim waiting) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.waiting != interim {
		return false
	}
	r.waiting = nil
	return true
}

// proceed sends the next request, unless the wait was stopped. The request is in a phase then.
func (r *run) proceed(interim waiting, at phase, send func() error) {
	r.mu.Lock()
	if r.waiting != interim {
		r.mu.Unlock()
		return
	}
	r.waiting = nil
	r.timing.enter(at)
	err := send()
	r.mu.Unlock()
	if err != nil {
		go func() { r.finish(Outcome{}, r.failure(err)) }() // explaining takes a while
		return
	}
	if cause := r.canceller.Cause(); cause != nil {
		r.cancelled(cause)
	}
}

// continues handles a response of a modern server that is not the final one for a legacy client. It returns false
// for the final one.
func (r *run) continues(response wire.Message) bool {
	if r.task != nil {
		return r.task.handleResponse(response)
	}
	kind, _ := response.Result.Member(protocol.ResultType).Text()
	switch kind {
	case protocol.ResultInputRequired:
		r.nextRound(response.Result)
		return true
	case protocol.ResultTask:
		return r.pollTask(response.Result)
	}
	return false
}

// nextRound gets the input that the server asks for, and sends the request again.
func (r *run) nextRound(result wire.Payload) {
	var state []byte
	if s := result.Member(protocol.RequestState); !s.IsAbsent() {
		state = append([]byte(`"`+protocol.RequestState+`":`), s.Bytes()...)
	}
	r.ask(result.Member("inputRequests"), func(interim waiting, responses []byte) {
		members := state
		if responses != nil {
			members = joined(append([]byte(`"`+protocol.InputResponses+`":`), responses...), state)
		}
		r.proceed(interim, atServer, func() error { return r.again(members) })
	})
}

// ask sends all questions to the client at once. then gets the object of the answers, or nil without questions.
func (r *run) ask(questions wire.Payload, then func(interim waiting, responses []byte)) {
	r.rounds++
	if r.rounds > maxRounds {
		r.finish(Outcome{}, &Failure{
			Message: fmt.Sprintf("the server asked for input more than %d times", maxRounds),
			Hint:    "Try again with arguments that answer the questions in advance.",
		})
		return
	}
	s := &round{run: r, then: then, over: make(chan struct{})}
	s.end = sync.OnceFunc(func() { close(s.over) })
	for key, request := range questions.Members() {
		method, _ := request.Member("method").Text()
		params := era.LowerQuestion(method, request.Member("params"), string(key))
		i := len(s.asked)
		s.asked = append(s.asked, askedQuestion{key: wire.AppendString(nil, string(key))})
		s.asked[i].question = downstream.NewQuestion(method, params, func(response wire.Message, unsupported bool) {
			s.recordAnswer(i, response, unsupported)
		})
		r.describe(s.asked[i].question)
	}
	switch {
	case len(s.asked) > maxQuestions || !r.canBeAsked(questions):
		r.finish(Outcome{}, cannotAsk(questions))
	case len(s.asked) == 0:
		r.retryLater(then)
	default:
		s.putQuestions()
	}
}

// canBeAsked reports whether the client, or a person at the page for it, has the capabilities for all of the questions. Otherwise
// none is sent.
func (r *run) canBeAsked(questions wire.Payload) bool {
	capabilities := r.call.Client.Profile().Offered()
	for _, request := range questions.Members() {
		method, _ := request.Member("method").Text()
		switch method {
		case protocol.MethodElicitation, protocol.MethodSampling, protocol.MethodRootsList:
		default:
			return false
		}
		area, _, _ := strings.Cut(method, "/")
		if capabilities.Member(area).Kind() != "object" {
			return false
		}
	}
	return true
}

func cannotAsk(questions wire.Payload) error {
	return &Failure{
		Message: "the server needs input" + kinds(inputNames(questions)) + " that this client cannot be asked for",
		Hint:    "Use a client that can be asked, or arguments that answer the questions in advance.",
	}
}

// retryLater sends the request again without answers.
func (r *run) retryLater(then func(interim waiting, responses []byte)) {
	pause := time.Duration(0)
	if r.rounds > 1 {
		pause = min(retryPause<<(r.rounds-2), maxRetryPause)
	}
	later := &delay{begun: make(chan struct{})}
	later.timer = time.AfterFunc(pause, func() {
		<-later.begun
		then(later, nil)
	})
	r.timing.enter(awaitsServer)
	r.waitFor(later)
	close(later.begun)
}

// delay is a wait for a time.
type delay struct {
	timer *time.Timer
	begun chan struct{} // closed when waitFor has returned
}

func (d *delay) stop() { d.timer.Stop() }

// round is the wait for the client's answers.
type round struct {
	run  *run
	then func(interim waiting, responses []byte)
	over chan struct{} // closed by end when the wait is over
	end  func()

	mu       sync.Mutex
	asked    []askedQuestion
	answered int
}

type askedQuestion struct {
	key      []byte // the server's name of the question, a JSON string
	question *downstream.Question
	result   wire.Payload
}

func (s *round) putQuestions() {
	s.run.timing.enter(atQuestion)
	s.run.waitFor(s)
	for i := range s.asked { // not by value: an answer may be recorded meanwhile
		if s.isOver() { // a question was refused, or the request cancelled
			return
		}
		s.run.call.Client.Ask(s.asked[i].question)
	}
	go s.watch()
}

func (s *round) isOver() bool {
	select {
	case <-s.over:
		return true
	default:
		return false
	}
}

// watch ends the wait with the server's session.
func (s *round) watch() {
	session := s.run.lease.Session
	select {
	case <-s.over:
	case <-session.Done():
		if s.run.endWait(s) {
			s.stop()
			s.run.finish(Outcome{}, s.run.failure(session.Err()))
		}
	}
}

// stop implements waiting.
func (s *round) stop() {
	s.end()
	for i := range s.asked { // as above
		s.asked[i].question.Withdraw()
	}
}

// recordAnswer records an answer of the client. A refusal ends the request.
func (s *round) recordAnswer(i int, response wire.Message, unsupported bool) {
	r := s.run
	if !response.Error.IsAbsent() {
		if !r.endWait(s) {
			return
		}
		s.stop()
		r.finish(r.refused(s.asked[i].question.Method, response.Error, unsupported))
		return
	}
	s.mu.Lock()
	s.asked[i].result = response.Result
	s.answered++
	complete := s.answered == len(s.asked)
	s.mu.Unlock()
	if !complete {
		return
	}
	s.end()
	responses := []byte("{")
	for i, one := range s.asked {
		if i > 0 {
			responses = append(responses, ',')
		}
		responses = append(append(responses, one.key...), ':')
		responses = append(responses, one.result.Bytes()...)
	}
	s.then(s, append(responses, '}'))
}

// refused shapes the response to a request for which the client refused to answer a question.
func (r *run) refused(method string, rpcError wire.Payload, unsupported bool) (Outcome, error) {
	area, _, _ := strings.Cut(method, "/")
	switch {
	case unsupported:
		return Outcome{}, &Failure{
			Message: "the server needs input" + kinds([]string{area}) + " that this client cannot be asked for",
			Hint:    "Use a client that can be asked, or arguments that answer the questions in advance.",
		}
	case r.passErrors:
		return Outcome{Error: rpcError}, nil
	}
	return Outcome{}, &Failure{Message: fmt.Sprintf("the client refused the server's question '%s': %s", method, downstream.NewRPCError(rpcError).Message)}
}
