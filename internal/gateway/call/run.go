package call

import (
	"bytes"
	"errors"
	"fmt"
	"sync"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/era"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
)

// run is one request on its way to a server and back. It receives the messages that belong to it.
type run struct {
	router    *Router
	call      Call
	asked     string // the Name of the call, as the client sent it
	canceller *Canceller
	replier   Replier
	lease     *fleet.Lease // nil while there is none
	token     []byte       // the client's progress token; empty without one

	timing      timing
	requestSize int
	status      Status // zero: it follows from the reply
	errorType   string // "": it follows from the status and the reply
	admitted    bool   // by all stages
	denied      bool   // the client does not see the tool, because the policy denies it
	answers     []AnswerReviser

	isList   bool
	crossing crossing
	// again sends the request once more with additional members of the params, raw and without braces. It is nil
	// unless the server may ask for input.
	again    func(members []byte) error
	rounds   int // of questions so far
	progress serverProgress
	logins   int // that a person was asked for

	forwarding *Forwarding // the request, unless it is a tool call

	passErrors bool
	raw        bool // not a tool call: the result may be any JSON value
	logs       int  // rankOf the request; only toLegacy

	mu      sync.Mutex
	id      uint64
	task    *task   // that the server created for the request; or nil
	waiting waiting // nil while a request is at the server
	over    bool    // finish was called
}

// Progress implements downstream.Sink: it forwards a progress notification to the client. It holds the lock, so that
// none can follow the response.
func (r *run) Progress(message wire.Message) {
	if len(r.token) == 0 {
		return
	}
	message.Params = r.reviseInterim(message.Params)
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.over {
		if r.call.Client.Profile().AtPage() {
			r.progress.record(message.Params)
		}
		// If the client is gone, the call is cancelled.
		_ = r.call.Client.Notify(protocol.NotifyProgress, progressParams(message, r.token))
	}
}

// progressParams returns the params of a server's progress notification with the client's
// token in place of ours.
func progressParams(message wire.Message, token []byte) []byte {
	return wire.AppendEdited(nil, message.Params,
		wire.Edit{Part: message.Params.Member(protocol.ProgressToken), With: token})
}

// Caller implements downstream.Sink.
func (r *run) Caller() downstream.Caller { return r }

// Profile implements downstream.Caller.
func (r *run) Profile() any { return r.call.Client.Profile() }

// Ask implements downstream.Caller.
func (r *run) Ask(question *downstream.Question) {
	question.Params = r.reviseInterim(question.Params)
	if t := r.call.Trace; t != nil {
		question.OnSettled(t.asked())
	}
	r.describe(question)
	r.call.Client.Ask(question)
}

// Notice implements downstream.Caller. No notification may follow the response on its way. One that comes when the response
// was just passed on, as over another connection to the server, goes to the client like one that belongs to no request.
func (r *run) Notice(message wire.Message) {
	if r.crossing == toLegacy && !r.wantsNotice(message) {
		return
	}
	message.Params = r.reviseInterim(message.Params)
	r.mu.Lock()
	isOver := r.over
	if !isOver {
		_ = r.call.Client.Notify(string(message.Method), message.Params.Bytes())
	}
	r.mu.Unlock()
	if isOver {
		r.call.Client.Profile().Notice(r.call.Server, message)
	}
}

// Done implements downstream.Sink.
func (r *run) Done(response wire.Message, err error) {
	if err != nil {
		// Explaining blocks until the process has ended. The session must go on meanwhile.
		go r.failed(err)
		return
	}
	r.timing.answer()
	if r.answers != nil {
		if failure := r.reviseResponse(&response); failure != nil {
			r.errorType = typeDenied
			r.finish(Outcome{}, failure)
			return
		}
	}
	switch {
	case r.crossing == toModern && r.continues(response):
		return
	case r.crossing == sameEra && r.again != nil && r.asksPerson(response.Result):
		r.nextRound(response.Result)
		return
	}
	r.finish(r.shape(response))
}

// cancelled implements cancelHook.
func (r *run) cancelled(cause error) {
	r.mu.Lock()
	id, interim, task, lease := r.id, r.waiting, r.task, r.lease
	r.waiting = nil
	r.mu.Unlock()
	if task != nil {
		task.cancel()
	}
	if interim != nil {
		interim.stop()
		r.finish(Outcome{}, cause)
		return
	}
	reason := reasonOf(cause)
	if lease == nil { // logIn sees the cause
		return
	}
	if lease.Session.Cancel(id, reason) {
		r.finish(Outcome{}, cause)
	}
}

// wasSent completes the sending of a request, which failed if the session had ended.
func (r *run) wasSent(err error) bool {
	if err != nil {
		r.timing.unsent()
		r.lease.Release()
		r.lease = nil
		return false
	}
	r.canceller.setHook(r)
	return true
}

// finish ends the request, whether it was sent or not. It is called exactly once.
func (r *run) finish(outcome Outcome, err error) {
	r.mu.Lock()
	r.over = true
	r.mu.Unlock()
	if r.lease != nil {
		r.lease.Release()
	}
	if r.answers != nil {
		err = r.reviseFailure(err)
	}
	if len(r.router.stages.Observe) > 0 {
		r.tellObservers(outcome, err)
	}
	r.replier.Reply(outcome, err)
}

// failure explains why there is no response.
func (r *run) failure(err error) error {
	if silence, ok := errors.AsType[*downstream.SilenceError](err); ok {
		return &Failure{Message: silence.Error(), Cause: err}
	}
	explained := r.lease.Explain(err)
	return &Failure{Message: explained.Error(), Cause: explained}
}

// shape turns a response into an outcome or a failure. A result is passed on unchanged, and so is an error that the
// client must handle or wants to see; any other error becomes a failure.
func (r *run) shape(response wire.Message) (Outcome, error) {
	if response.Error.IsAbsent() {
		if kind := response.Result.Kind(); kind != "object" && !r.raw {
			return Outcome{}, &Failure{Message: "the server's result is not an object but " + kind}
		}
		if !r.isList { // lists are cleaned
			r.lease.WarnAboutHiddenText(response.Result, r.call.Method, r.call.Name)
		}
		switch r.crossing {
		case toModern:
			if failure := unfinished(response.Result); failure != nil {
				return Outcome{}, failure
			}
			return Outcome{Result: era.LowerResult(r.call.Method, response.Result)}, nil
		case toLegacy:
			return Outcome{Result: era.RaiseResult(r.call.Method, response.Result, r.lease.Session.ServerInfo())}, nil
		}
		return Outcome{Result: response.Result}, nil
	}
	rpc := downstream.NewRPCError(response.Error)
	r.status, r.errorType = StatusRPCError, codeType(rpc.Code)
	switch {
	case r.isForClient(rpc.Code):
		return Outcome{Error: response.Error}, nil
	case r.passErrors && !protocol.ClientMustAct(rpc.Code):
		return Outcome{Error: r.translated(r.withoutSecrets(rpc))}, nil
	}
	explained := r.lease.Explain(rpc)
	failure := &Failure{Message: explained.Error(), Cause: explained}
	if rpc.Code == protocol.CodeMissingCapability && r.crossing == toModern {
		failure.Hint = "It needs something of the client" + kinds(capabilityNames(rpc)) + " that this client does not offer."
	}
	if rpc.Code == protocol.CodeInvalidParams && !r.call.Tool.IsAbsent() {
		failure.Schema = bytes.Clone(r.call.Tool.Member("inputSchema").Bytes())
	}
	return Outcome{}, failure
}

// isForClient reports whether the client must handle an error. Errors of a modern server are about the workbench's own
// request, unless the client is modern too: then it may have to list the tools again, or to declare more.
func (r *run) isForClient(code int) bool {
	switch {
	case !protocol.ClientMustAct(code):
		return false
	case r.lease.Session.Modern():
		return r.crossing == sameEra && code != protocol.CodeUnsupportedRevision
	}
	return true
}

// withoutSecrets returns the error unchanged, unless it contains a secret: then only its code and its masked message.
func (r *run) withoutSecrets(rpc *downstream.RPCError) wire.Payload {
	raw, message := string(rpc.Object.Bytes()), r.lease.Mask(rpc.Message)
	if message == rpc.Message && r.lease.Mask(raw) == raw {
		return rpc.Object
	}
	masked := fmt.Appendf(nil, `{"code":%d,"message":`, rpc.Code)
	return wire.Raw(append(wire.AppendString(masked, message), '}'))
}
