package front

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/metatool"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/passthrough"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/era"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
)

// request is one request of a client, of either era, until its response has been sent.
type request struct {
	session   *session
	method    string
	canceller metatool.Canceller
	mayTask   bool       // it is a call that the server may make a task
	resumes   bool       // it brings the state of a suspended call
	check     call.Check // of the arguments of a tool call; may be nil

	idSpace    [24]byte
	origin     *call.Origin // nil unless requests are traced
	reply      reply        // guarded by suspension.mu once the request is handled
	notices    *era.Notices // that the server's notifications are made for
	suspension suspension
}

// reply is where the response to a message of the client goes.
type reply struct {
	to      replyPath
	id      []byte       // as the client wrote it
	key     string       // in the table of requests
	notices *era.Notices // that the client wants before the response
	origin  *call.Origin // of the message; nil unless requests are traced

	isCounted bool // among the calls in flight of its sender
}

// start handles a request, for which the idle clock of its session is held. It blocks while too
// many are in flight.
func (r *request) start(message *wire.Message) {
	// The id is copied: forwarding a call uses up the buffer that it is in.
	r.reply.id = append(r.idSpace[:0], message.ID.Bytes()...)
	r.method, r.notices = wire.Name(message.Method), r.reply.notices
	if r.session.server.options.Answered != nil {
		r.origin = r.session.findOrigin(message, r.reply.to)
		r.reply.origin = r.origin
	}
	if problem := r.countCall(); problem != "" {
		r.reject(protocol.CodeTooMany, problem)
		return
	}
	problem, ok := r.session.requests.add(r.reply.key, r)
	if ok {
		r.handle(message)
		return
	}
	r.session.uncountCall(r.reply)
	r.reject(protocol.CodeInvalidRequest, problem)
}

// reject ends a request that was not begun; without a problem, nobody waits for an answer.
func (r *request) reject(code int, problem string) {
	if problem == "" {
		r.reply.to.respond(noResponse)
	} else {
		if r.origin != nil {
			r.traceAnswer(r.origin, metatool.Answer{Error: &metatool.Error{Code: code}}, false)
		}
		r.reply.to.respond(errorTo(r.reply.id, code, problem))
	}
	r.session.idle.release()
}

// handle answers the request, now or later; it does not block for long.
func (r *request) handle(message *wire.Message) {
	var done bool
	if client := r.session.stateless; client != nil {
		done = client.prepare(r, message)
	} else {
		done = r.session.prepare(r)
	}
	if done {
		return
	}
	switch r.method {
	case protocol.MethodToolsList:
		r.listTools(message)
	case protocol.MethodToolsCall:
		r.callTool(message)
	default:
		if problem := call.Ambiguous(r.method, message.Params); problem != "" {
			r.refuse(protocol.CodeInvalidParams, problem)
			return
		}
		r.session.forwarder.Load().Handle(passthrough.Request{
			Method: r.method, Params: message.Params, Session: r, Canceller: &r.canceller.Canceller, Replier: r,
		})
	}
}

// prepare answers requests that only the legacy era has, and those that cannot be answered yet;
// it reports whether it did.
func (s *session) prepare(r *request) (done bool) {
	switch {
	case r.method == protocol.MethodPing:
		r.respond(metatool.Answer{Text: []byte("{}")})
	case r.method == protocol.MethodDiscover, r.method == protocol.MethodListen: // of the modern era
		r.refuse(protocol.CodeMethodNotFound, fmt.Sprintf("Method not found: '%s'", r.method))
	case !s.live.Load():
		r.refuse(protocol.CodeInvalidRequest,
			fmt.Sprintf("Invalid request: '%.200s' came before 'initialize'; begin the session with an initialize request", r.method))
	default:
		return false
	}
	return true
}

func (r *request) listTools(message *wire.Message) {
	if cursor := message.Params.Member("cursor"); cursor.Kind() == "string" {
		r.refuse(protocol.CodeInvalidParams, "Invalid params: unknown cursor; the list has one page")
		return
	}
	r.session.surface.Load().List(metatool.Request{Origin: metatool.Origin{Session: r, Canceller: &r.canceller, Answerer: r}})
}

func (r *request) callTool(message *wire.Message) {
	call, problem := r.session.calls.Read(message)
	if problem != "" {
		r.refuse(protocol.CodeInvalidParams, problem)
		return
	}
	// In the legacy era the client asks for a task with a member of the params, which there is no
	// need to look for; in the modern one the server decides.
	r.mayTask = r.session.stateless != nil || len(call.Extra) > 0
	if r.origin != nil && metatool.IsMetaTool(call.Name) {
		r.origin.Tool = strings.Clone(call.Name)
	}
	call.Session, call.Canceller, call.Answerer, call.Check = r, &r.canceller, r, r.check
	r.session.surface.Load().Call(&call)
}

// cancel cancels the request.
func (r *request) cancel(cause error) {
	open := r.suspension.takeOpenIfAny()
	r.canceller.Cancel(cause)
	refuseAll(open, cancelledText(cause))
	if resumed := r.suspension.resumed.Load(); resumed != nil {
		resumed.cancel(cause)
	}
}

// Notify implements call.Client. It holds the lock, so that nothing can follow the response.
func (r *request) Notify(method string, params []byte) error {
	r.suspension.mu.Lock()
	defer r.suspension.mu.Unlock()
	params, wanted := r.fit(method, params)
	if !wanted {
		return nil
	}
	return r.reply.to.notify(outgoing{method: method, params: params})
}

// TryNotify implements call.Client. The lock is held by others for as long as the client does not read.
func (r *request) TryNotify(method string, params []byte) {
	if !r.suspension.mu.TryLock() {
		return
	}
	defer r.suspension.mu.Unlock()
	if params, wanted := r.fit(method, params); wanted {
		r.reply.to.tryNotify(outgoing{method: method, params: params})
	}
}

// fit returns the params of a notification as the client wants it; wanted is false if it does not get it. Called with the
// suspension's mu held.
func (r *request) fit(method string, params []byte) (fitting []byte, wanted bool) {
	if r.suspension.isOver || r.suspension.isWaiting {
		return nil, false
	}
	return r.reply.notices.Fit(method, params, r.notices)
}

// Ask implements call.Client: a question takes the path of the response, or becomes the response. A client without room for
// it is not asked: whoever asks has a time limit of their own, and does not wait here.
func (r *request) Ask(question *downstream.Question) {
	if r.session.isForPerson(question) {
		r.askPerson(question)
		return
	}
	if r.suspension.binding != 0 {
		r.suspendFor(question)
		return
	}
	r.session.putQuestion(question, r.reply.to.tryNotify)
}

// Profile implements call.Client.
func (r *request) Profile() *fleet.ClientProfile { return r.session.Profile() }

// RemoteAddress implements call.Remote.
func (r *request) RemoteAddress() string {
	if st := streamOf(r.reply.to); st != nil {
		return st.remote
	}
	return ""
}

// IsOpen implements metatool.Session.
func (r *request) IsOpen(toolbox string) bool { return r.session.IsOpen(toolbox) }

// MarkOpen implements metatool.Session.
func (r *request) MarkOpen(toolbox string) (first bool) { return r.session.MarkOpen(toolbox) }

// HoldNotifications implements metatool.Session: news that the request causes take the path of its response,
// which may be the only one to a client over HTTP.
func (r *request) HoldNotifications() (release func()) {
	return r.session.news.hold(func(method string) { _ = r.Notify(method, nil) }) // fails only if the session has ended
}

// WaitUntil implements metatool.Session.
func (r *request) WaitUntil(limit time.Duration) time.Time { return r.session.WaitUntil(limit) }

// Links implements metatool.Session.
func (r *request) Links(ref toolbox.Ref, definition wire.Payload) []wire.Edit {
	return r.session.Links(ref, definition)
}

// Results implements metatool.Keeper.
func (r *request) Results() *metatool.Results { return r.session.results }

// Memory implements passthrough.Session.
func (r *request) Memory() *passthrough.Memory { return r.session.memory }

// Answer implements metatool.Answerer. The forwarder learns from a tool's result which task the
// server made, and rewrites links to resources that the client knows by another URI.
func (r *request) Answer(answer metatool.Answer) {
	if result := answer.Outcome.Result; !result.IsAbsent() {
		forwarder := r.session.forwarder.Load()
		if r.mayTask {
			forwarder.LearnTask(r, answer.From, result)
		}
		if edits := forwarder.LinkEdits(r, answer.From, result); len(edits) > 0 {
			answer.Outcome.Result = wire.Raw(wire.AppendEdited(nil, result, edits...))
		}
	}
	r.finish(answer)
}

// Reply implements call.Replier, for requests that a forwarder handled.
func (r *request) Reply(outcome call.Outcome, cancelled error) {
	r.finish(metatool.Answer{Outcome: outcome, Cancelled: cancelled})
}

// refuse answers the request with an error.
func (r *request) refuse(code int, text string) { r.fail(&metatool.Error{Code: code, Message: text}) }

func (r *request) fail(reason *metatool.Error) { r.respond(metatool.Answer{Error: reason}) }

// finish answers the request as the client's era has it.
func (r *request) finish(answer metatool.Answer) {
	if stopped, ok := errors.AsType[*call.Stopped](answer.Cancelled); ok {
		answer = metatool.Answer{Error: &metatool.Error{Code: protocol.CodeInternalError, Message: stopped.Explain()}}
	}
	if client := r.session.stateless; client != nil {
		answer = client.raise(r.method, answer)
	}
	r.respond(answer)
}

// respond ends the request with its answer. The answer to a suspended one is kept until the
// client comes back for it.
func (r *request) respond(answer metatool.Answer) {
	s := &r.suspension
	s.mu.Lock()
	s.isOver = true
	open, to, isWaiting, atPage := s.takeOpen(), r.reply, s.isWaiting, s.atPage
	if isWaiting {
		s.keepAnswer(answer)
	}
	s.mu.Unlock()
	if !isWaiting {
		r.send(to, answer)
	}
	refuseAll(open, "The call has ended")
	if atPage {
		r.session.server.options.People.Ended(r)
	}
}

// send sends the answer to a message of the client, unless the client cancelled it.
func (r *request) send(to reply, answer metatool.Answer) {
	s := r.session
	s.requests.remove(to.key)
	s.uncountCall(to) // before the answer: the client's next call must find the place free
	_, cancelled := errors.AsType[call.Cancelled](r.canceller.Cause())
	if to.origin != nil {
		r.traceAnswer(to.origin, answer, cancelled || isStopped(r.canceller.Cause()))
	}
	to.to.respond(response{id: to.id, answer: answer, isNone: cancelled})
	s.idle.release()
	s.requests.unanswered.Done()
}
