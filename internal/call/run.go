package call

import (
	"bytes"
	"errors"
	"fmt"
	"sync"

	"github.com/mcp-workbench/mcp-workbench/internal/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/wire"
)

// run is one call that was sent. It is the sink of its messages.
type run struct {
	client  Client
	ticket  *Ticket
	replier Replier
	lease   *fleet.Lease
	tool    catalog.Tool
	token   []byte // the client's progress token; empty without one

	passErrors bool
	raw        bool // it is no call of a tool, and its result may be of any kind

	mu   sync.Mutex
	id   uint64
	over bool // the reply was given or is being given
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
		_ = r.client.Notify(progressFor(message, r.token))
	}
}

// progressFor returns the progress notification for the client: the server's own, but
// for the token.
func progressFor(message wire.Message, token []byte) []byte {
	params := wire.AppendEdited(nil, message.Params,
		wire.Edit{Part: message.Params.Member(protocol.ProgressToken), With: token})
	return wire.Notification(protocol.NotifyProgress, params)
}

// Caller implements downstream.Sink.
func (r *run) Caller() downstream.Caller { return r }

// Party implements downstream.Caller.
func (r *run) Party() any { return r.client.Party() }

// Ask implements downstream.Caller.
func (r *run) Ask(question *downstream.Question) { r.client.Ask(question) }

// Notice implements downstream.Caller. Nothing may follow the answer.
func (r *run) Notice(message wire.Message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.over {
		_ = r.client.Notify(wire.Notification(string(message.Method), message.Params.Bytes()))
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
	r.finish(r.shape(response))
}

// cancelled ends the call because its ticket was cancelled.
func (r *run) cancelled(cause error) {
	r.mu.Lock()
	id := r.id
	r.mu.Unlock()
	var reason []byte
	if cancelled, ok := errors.AsType[Cancelled](cause); ok {
		reason = cancelled.Reason
	}
	if r.lease.Session.Cancel(id, reason) {
		r.finish(Outcome{}, cause)
	}
}

func (r *run) finish(outcome Outcome, err error) {
	r.mu.Lock()
	r.over = true
	r.mu.Unlock()
	r.lease.Release()
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
		if failure := r.unfinished(response.Result); failure != nil {
			return Outcome{}, failure
		}
		return Outcome{Result: response.Result}, nil
	}
	rpc := downstream.NewRPCError(response.Error)
	// In the modern era these errors are about our own hop.
	modern := r.lease.Session.Modern()
	if protocol.ClientMustAct(rpc.Code) {
		if !modern {
			return Outcome{Error: response.Error}, nil
		}
	} else if r.passErrors {
		return Outcome{Error: r.withoutSecrets(rpc)}, nil
	}
	explained := r.lease.Explain(rpc)
	failure := &Failure{Message: explained.Error(), Cause: explained}
	if rpc.Code == protocol.CodeMissingCapability && modern {
		failure.Hint = "It needs something of the client" + kinds(capabilityNames(rpc)) + " that this version of the workbench cannot offer it."
	}
	if rpc.Code == protocol.CodeInvalidParams {
		failure.Schema = bytes.Clone(r.tool.Definition.Member("inputSchema").Bytes())
	}
	return Outcome{}, failure
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
