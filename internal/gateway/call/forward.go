package call

import (
	"bytes"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
)

// Forwarding is any request other than a tool call. The request and its response are forwarded unchanged, errors
// included.
type Forwarding struct {
	Method    string
	Params    wire.Payload // as the client sent them; may be absent
	Edits     []wire.Edit  // of parts of Params
	Name      string       // of the subject of the request; see Call.Name
	Client    Client
	Canceller *Canceller // cancels the request
	Replier   Replier
	// Guessed: the request may be meant for another server, so that nobody is asked to log in for it.
	Guessed bool

	meta wire.Payload // the _meta of Params
}

// describe fills in the description for the stages.
func (request *Forwarding) describe(call *Call, server *fleet.Server) {
	request.meta = request.Params.Member("_meta")
	call.Server, call.Client, call.Method, call.Name = server, request.Client, request.Method, request.Name
	call.Arguments, call.Meta = request.arguments(), request.meta
}

func (request *Forwarding) arguments() wire.Payload {
	if request.Method == protocol.MethodToolsCall {
		return request.Params.Member("arguments")
	}
	return request.Params
}

// logLevelToRequest implements sendable.
func (request *Forwarding) logLevelToRequest(session *downstream.Session) (level string) {
	return logLevelToRequest(request.Client, session, request.meta)
}

// send implements sendable.
func (request *Forwarding) send(r *run, lease *fleet.Lease) bool {
	r.lease = lease
	if !request.prepare(r) {
		return true
	}
	if later, next, now := r.askStages(0); !now {
		if later.Wait != nil {
			go r.waitAndSend(request, later, next)
		}
		return true
	}
	return request.dispatch(r)
}

// prepare returns false if the request was answered without the server.
func (request *Forwarding) prepare(r *run) bool {
	if outcome, ok := request.answerHere(r.lease.Session); ok {
		r.finish(outcome, nil)
		return false
	}
	r.crossing = crossingOf(request.Client, r.lease.Session)
	if r.crossing == toLegacy && protocol.FindMethod(request.Method).MayAsk && !request.Params.Member(protocol.RequestState).IsAbsent() {
		r.refuse(unknownState, nil)
		return false
	}
	r.call.Arguments, r.call.Meta = request.arguments(), request.meta
	r.isList = strings.HasSuffix(request.Method, "/list")
	arguments, ok := r.revise()
	if ok {
		request.reviseArguments(arguments)
	}
	return ok
}

// dispatch implements sendable.
func (request *Forwarding) dispatch(r *run) bool {
	if !r.isList { // reading a list changes no state of the server
		r.lease.RecordCaller(request.Client.Profile())
	}
	r.token = bytes.Clone(request.meta.Member(protocol.ProgressToken).Bytes())
	forward := downstream.Forward{
		Method: request.Method, Params: request.Params, Edits: request.Edits,
		Requester: downstream.Requester{Modern: request.Client.Profile().Modern()},
	}
	if protocol.FindMethod(request.Method).InHeader {
		forward.Name = request.Name
	}
	r.call.Arguments, r.call.Meta = wire.Payload{}, wire.Payload{}
	switch {
	case r.crossing != sameEra:
		r.translateForward(&forward)
	case r.mayAskPerson():
		r.keepForward(&forward)
	}
	r.timing.enter(atServer)
	r.mu.Lock() // the response has to wait until the id is known
	err := r.sendForward(forward)
	r.mu.Unlock()
	return r.wasSent(err)
}
