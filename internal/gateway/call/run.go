package call

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/era"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
)

// run is one call that was sent. It is the sink of its messages.
type run struct {
	router    *Router
	call      Call
	canceller *Canceller
	replier   Replier
	lease     *fleet.Lease // nil while there is none
	token     []byte       // the client's progress token; empty without one

	began       time.Time // zero without observers
	requestSize int
	status      Status // zero while it follows from the reply
	admitted    bool   // all stages did

	isList   bool
	crossing crossing
	// again sends the request once more with further members of the params, raw and without
	// braces; nil unless the server may want that.
	again  func(members []byte) (id uint64, err error)
	rounds int // of questions so far

	passErrors bool
	raw        bool // it is no call of a tool, and its result may be of any kind
	logs       int  // the rank of the least severe log messages that the client wants, from 1; only at a crossing

	mu      sync.Mutex
	id      uint64
	task    *task   // that the server made of the request; nil if it did not
	waiting waiting // what is waited for while the server has no request of ours; nil if it has
	over    bool    // the reply was given or is being given
}

// Progress carries a progress notification to the client. It holds the lock, so that
// none can follow the answer.
func (r *run) Progress(message wire.Message) {
	if len(r.token) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.over {
		// That the client is gone also cancels the call.
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

// Party implements downstream.Caller.
func (r *run) Party() any { return r.call.Client.Party() }

// Ask implements downstream.Caller.
func (r *run) Ask(question *downstream.Question) { r.call.Client.Ask(question) }

// Notice implements downstream.Caller. Nothing may follow the answer.
func (r *run) Notice(message wire.Message) {
	if r.crossing == toLegacy && !r.wantsNotice(message) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.over {
		_ = r.call.Client.Notify(string(message.Method), message.Params.Bytes())
	}
}

// Done ends the call with its response.
func (r *run) Done(response wire.Message, err error) {
	if err != nil {
		// Explaining takes a while if a process has to end first. Meanwhile the session
		// must go on, and the one who waits for reply waits for this goroutine, too.
		go func() { r.finish(Outcome{}, r.failure(err)) }()
		return
	}
	if r.crossing == toModern && r.continues(response) {
		return
	}
	r.finish(r.shape(response))
}

// cancelled ends the call because its canceller was cancelled.
func (r *run) cancelled(cause error) {
	r.mu.Lock()
	id, interim, task := r.id, r.waiting, r.task
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
	var reason []byte
	if cancelled, ok := errors.AsType[Cancelled](cause); ok {
		reason = cancelled.Reason
	}
	if r.lease.Session.Cancel(id, reason) {
		r.finish(Outcome{}, cause)
	}
}

// wasSent completes the sending of a request, which failed if the session had ended.
func (r *run) wasSent(err error) bool {
	if err != nil {
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
	if len(r.router.stages.Observe) > 0 {
		r.tellObservers(outcome, err)
	}
	r.replier.Reply(outcome, err)
}

// failure says why there is no answer.
func (r *run) failure(err error) error {
	if silence, ok := errors.AsType[*downstream.SilenceError](err); ok {
		return &Failure{Message: silence.Error(), Cause: err}
	}
	explained := r.lease.Explain(err)
	return &Failure{Message: explained.Error(), Cause: explained}
}

// shape decides what becomes of a response: a result is passed on as it is, and so is
// an error that the client's program must act on or wants to see; any other error is told
// in words.
func (r *run) shape(response wire.Message) (Outcome, error) {
	if response.Error.IsAbsent() {
		if kind := response.Result.Kind(); kind != "object" && !r.raw {
			return Outcome{}, &Failure{Message: "the server's result is no object but " + kind}
		}
		if !r.isList { // lists are cleaned
			r.lease.LookAt(response.Result, r.call.Method, r.call.Name)
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
	r.status = StatusRPCError
	rpc := downstream.NewRPCError(response.Error)
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

// isForClient reports whether an error asks the client's program to do something. In the
// modern era they are about our own hop, unless that of the client is alike: then it may have
// to list the tools again, or to declare more.
func (r *run) isForClient(code int) bool {
	switch {
	case !protocol.ClientMustAct(code):
		return false
	case r.lease.Session.Modern():
		return r.crossing == sameEra && code != protocol.CodeUnsupportedRevision
	}
	return true
}

// withoutSecrets returns the error as it was sent, unless it gives away a secret: then just
// what can be masked is left of it.
func (r *run) withoutSecrets(rpc *downstream.RPCError) wire.Payload {
	raw, message := string(rpc.Object.Bytes()), r.lease.Mask(rpc.Message)
	if message == rpc.Message && r.lease.Mask(raw) == raw {
		return rpc.Object
	}
	masked := fmt.Appendf(nil, `{"code":%d,"message":`, rpc.Code)
	return wire.Raw(append(wire.AppendString(masked, message), '}'))
}
