package front

import (
	"bytes"
	"errors"
	"sync"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/metatool"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/passthrough"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
)

// work is what a request of a modern client set going. It outlasts the request if a server
// has a question: then the request is answered with the question, and the work waits for
// the one that brings the answer.
type work struct {
	statelessClient *statelessClient
	method          string
	mayTask         bool
	token           []byte // of progress, that the server's messages have
	check           call.Check
	binding         digest // of what has to be the same when the client comes back; zero if it cannot
	canceller       metatool.Canceller

	mu      sync.Mutex
	request *statelessRequest // that it is for; nil while it waits for the next
	over    bool
	kept    *metatool.Answer // that came while there was no request
	open    []openQuestion
	asked   int         // questions so far
	settle  *time.Timer // runs out when no more questions are waited for; nil if none are
}

// openQuestion is a server's question that the client has not answered.
type openQuestion struct {
	key      string
	question *downstream.Question
}

// newWork makes the work of a request, which it belongs to from the beginning.
func (r *statelessRequest) newWork(method string, message *wire.Message) *work {
	w := &r.work
	w.statelessClient, w.method, w.token, w.check, w.request = r.statelessClient, method, r.token, r.check, r
	if r.statelessClient.answers && protocol.FindMethod(method).MayAsk {
		w.binding = bind(r.statelessClient.caller, w.method, message.Params) // now: the params are used up by the call
	}
	r.await(w)
	return w
}

// answersAny reports whether a client declared that it can be asked anything at all.
func answersAny(capabilities wire.Payload) bool {
	for key := range capabilities.Members() {
		switch string(key) {
		case "elicitation", "sampling", "roots":
			return true
		}
	}
	return false
}

func (w *work) start(message *wire.Message) {
	switch w.method {
	case protocol.MethodToolsList:
		if message.Params.Member("cursor").Kind() == "string" {
			w.refuse("Invalid params: unknown cursor; the list has one page")
			return
		}
		w.statelessClient.surface.Load().List(metatool.Request{Origin: metatool.Origin{Session: w, Canceller: &w.canceller, Answerer: w}})
	case protocol.MethodToolsCall:
		call, problem := metatool.ReadCall(message)
		if problem != "" {
			w.refuse(problem)
			return
		}
		w.mayTask = true // a server of this era decides that itself
		call.Session, call.Canceller, call.Answerer = w, &w.canceller, w
		call.Check = w.check
		w.statelessClient.surface.Load().Call(&call)
	default:
		if problem := call.Ambiguous(w.method, message.Params); problem != "" {
			w.refuse(problem)
			return
		}
		w.statelessClient.passage.Load().Handle(passthrough.Request{
			Method: w.method, Params: message.Params, Session: w, Canceller: &w.canceller.Canceller, Replier: w,
		})
	}
}

// refuse answers a request whose params are wrong.
func (w *work) refuse(problem string) {
	w.Answer(metatool.Answer{Error: &metatool.Error{Code: protocol.CodeInvalidParams, Message: problem}})
}

// Notify implements call.Client. It holds the lock, so that nothing can follow an answer.
func (w *work) Notify(method string, params []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.request == nil {
		return nil
	}
	params, wanted := w.request.fit(method, params, w.token)
	if !wanted {
		return nil
	}
	return w.request.to.notify(wire.Notification(method, params))
}

// Party implements call.Client.
func (w *work) Party() *fleet.Party { return w.statelessClient.Party() }

// IsOpen implements metatool.Session.
func (w *work) IsOpen(string) bool { return true }

// MarkOpen implements metatool.Session: nothing changes by opening.
func (w *work) MarkOpen(string) (first bool) { return false }

// HoldNews implements metatool.Session: in this era, changes are told to who listens.
func (w *work) HoldNews() (release func()) { return func() {} }

// WaitUntil implements metatool.Session.
func (w *work) WaitUntil(limit time.Duration) time.Time { return w.statelessClient.WaitUntil(limit) }

// Links implements metatool.Session.
func (w *work) Links(ref toolbox.Ref, definition wire.Payload) []wire.Edit {
	return w.statelessClient.Links(ref, definition)
}

// Memory implements passage.Session.
func (w *work) Memory() *passthrough.Memory { return w.statelessClient.memory }

// Answer implements metatool.Answerer.
func (w *work) Answer(answer metatool.Answer) {
	w.statelessClient.relate(w, &answer, w.mayTask)
	w.end(answer)
}

// Reply implements call.Replier, for what took the passage.
func (w *work) Reply(outcome call.Outcome, cancelled error) {
	w.end(metatool.Answer{Outcome: outcome, Cancelled: cancelled})
}

// maxKept is how long an answer may be that waits for its client to come back.
const maxKept = 64 << 10

// end ends the work with its answer, which waits if there is no request for it.
func (w *work) end(answer metatool.Answer) {
	w.mu.Lock()
	w.over = true
	r := w.request
	w.request = nil
	open := w.takeOpen()
	if r == nil {
		w.kept = keep(answer)
	}
	w.mu.Unlock()
	if r != nil {
		r.finish(w.encode(r.id, answer))
	}
	refuseAll(open, "The call has ended")
	w.statelessClient.release()
}

func keep(answer metatool.Answer) *metatool.Answer {
	if len(answer.Text)+len(answer.Outcome.Result.Bytes())+len(answer.Outcome.Error.Bytes()) > maxKept {
		answer = metatool.Answer{Error: &metatool.Error{
			Code: protocol.CodeInternalError, Message: "The answer came before the questions were answered, and was too long to be kept. The call has run.",
		}}
	}
	return &answer
}

// stop implements underWay: the work ends if it is still for that request.
func (w *work) stop(r *statelessRequest, cause error) {
	w.mu.Lock()
	if w.request != r {
		w.mu.Unlock()
		return
	}
	open := w.takeOpen()
	w.mu.Unlock()
	w.canceller.Cancel(cause)
	refuseAll(open, "The client cancelled the call")
}

// abandon ends work that waits for a request that did not come.
func (w *work) abandon(cause error) {
	w.mu.Lock()
	open := w.takeOpen()
	w.kept = nil
	w.mu.Unlock()
	w.canceller.Cancel(cause)
	refuseAll(open, cause.Error())
}

var errUnanswered = errors.New("the client did not answer the server's questions in time")

// takeOpen is called with mu held.
func (w *work) takeOpen() []openQuestion {
	open := w.open
	w.open = nil
	if w.settle != nil {
		w.settle.Stop()
		w.settle = nil
	}
	return open
}

func refuseAll(open []openQuestion, text string) {
	for _, o := range open {
		o.question.Refuse(protocol.CodeInternalError, text)
	}
}

// fit returns the params of a notification as the request wants them; wanted is false if it
// does not want the notification. token is the progress token that the server's messages have,
// which another request may have brought.
func (r *statelessRequest) fit(method string, params, token []byte) (fitted []byte, wanted bool) {
	switch {
	case method == protocol.NotifyMessage:
		level, _ := wire.Raw(params).Member("level").Text()
		return params, r.severity >= 0 && protocol.Severity(level) >= r.severity
	case method != protocol.NotifyProgress || bytes.Equal(token, r.token):
		return params, true
	case len(r.token) == 0:
		return nil, false
	}
	all := wire.Raw(params)
	return wire.AppendEdited(nil, all, wire.Edit{Part: all.Member(protocol.ProgressToken), With: r.token}), true
}
