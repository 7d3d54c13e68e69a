// Package call takes one tool call through its stages: resolve it to a server and a
// tool, run it there, and shape what comes back.
package call

import (
	"bytes"
	"context"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/era"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
)

// Client is the one that a call is for.
type Client interface {
	// Notify sends a notification to the client; params are raw JSON, nil without any, and are
	// not used after it returns. It blocks while the client has too much to read, until its
	// session ends.
	Notify(method string, params []byte) error
	// Ask puts a question of the server to the client. It does not block.
	Ask(question *downstream.Question)
	// Party is the client as the fleet knows it; nil for one that declares nothing.
	Party() *fleet.Party
}

// Request is one call of a tool.
type Request struct {
	Ref       toolbox.Ref
	Arguments wire.Payload // an object; absent means {}. Its buffer is used up by the call
	Meta      wire.Payload // the request's _meta; may be absent
	Plain     bool         // Meta is known to say nothing but who the client is and what it can do
	Extra     []byte       // raw text of further members of the params; may be nil
	Client    Client
	Canceller *Canceller // cancels the call
	Replier   Replier

	// PassErrors says that the client wants the server's errors as they are, not in words.
	PassErrors bool
	// Check may be nil.
	Check Check
}

// Check gets a tool's input schema, when that is known, and the arguments of a call. An error
// object that it returns is the answer, and the tool is not called.
type Check func(inputSchema, arguments wire.Payload) (rpcError wire.Payload)

// Outcome is what the server answered: a result, or an error that the client's program
// has to act on or wants to see.
type Outcome struct {
	Result wire.Payload
	Error  wire.Payload // the error object; absent if there is a result
}

// Replier gets the end of a call.
type Replier interface {
	// Reply is called exactly once: with the outcome, or with an error that is a *Failure
	// or the cause of the canceller's cancellation. It may be called before Start returns, or
	// later by the goroutine that reads the server's messages.
	Reply(outcome Outcome, err error)
}

// Failure is a call that did not get an answer that could be passed on.
type Failure struct {
	// NotFound says that the call names nothing that exists; it was not run.
	NotFound bool
	Message  string
	Hint     string // what to do next; may be empty
	// Schema is the tool's input schema where the arguments did not fit it.
	Schema []byte
	Cause  error
}

func (f *Failure) Error() string { return f.Message }

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Cause }

// Cancelled is the cause with which a client's cancellation ends the context of a call.
type Cancelled struct {
	Reason []byte // the client's reason, a JSON string; nil without one
}

func (Cancelled) Error() string { return "the client cancelled the request" }

// Start begins a call; it does not block. When the canceller is cancelled, so is the call.
// Whether the client opened the toolbox, where it has to, was decided before.
func Start(visible Toolboxes, request *Request) {
	server, err := resolveServer(visible, request.Ref)
	if err != nil {
		request.Replier.Reply(Outcome{}, err)
		return
	}
	party := request.Client.Party()
	if lease := server.For(party).TryLease(); lease != nil {
		if request.logLevelToRequest(lease.Session) != "" {
			lease.Release()
		} else if request.send(lease) {
			return
		}
	}
	later := *request // so that the usual call stays off the heap
	go startAndSend(server, party, &later, later.Canceller, later.Replier)
}

// sending is a request of a client that a server is leased for.
type sending interface {
	// send sends it. It returns false if the session had ended: the server cannot have seen
	// it then, so that it may be sent to the next one. What may have been seen is never sent
	// again.
	send(lease *fleet.Lease) bool
	// logLevelToRequest is from which level on the server has to be asked for log messages first; ""
	// if it need not be.
	logLevelToRequest(session *downstream.Session) (level string)
}

// startAndSend sends a request to a server that has to be started or told something first,
// which takes its time.
func startAndSend(server *fleet.Server, party *fleet.Party, request sending, canceller *Canceller, replier Replier) {
	ctx, stop := canceller.Context()
	lease, err := server.LeaseFor(ctx, party)
	if err == nil {
		if level := request.logLevelToRequest(lease.Session); level != "" {
			lease.Session.AskForLogs(ctx, level)
		}
	}
	cause := context.Cause(ctx)
	stop()
	switch {
	case cause != nil:
		if lease != nil {
			lease.Release()
		}
		replier.Reply(Outcome{}, cause)
	case err != nil:
		replier.Reply(Outcome{}, &Failure{Message: err.Error(), Cause: err})
	case !request.send(lease):
		err := lease.Explain(lease.Session.Err())
		replier.Reply(Outcome{}, &Failure{Message: err.Error(), Cause: err})
	}
}

// logLevelToRequest implements sending.
func (request *Request) logLevelToRequest(session *downstream.Session) (level string) {
	if request.Plain {
		return ""
	}
	return logLevelToRequest(request.Client, session, request.Meta)
}

// send implements sending: it finds the tool and sends the call.
func (request *Request) send(lease *fleet.Lease) bool {
	tool, err := resolveTool(lease.Tools, request.Ref)
	if err != nil {
		lease.Release()
		request.Replier.Reply(Outcome{}, err)
		return true
	}
	if request.Check != nil {
		if problem := request.Check(tool.Definition.Member("inputSchema"), request.Arguments); !problem.IsAbsent() {
			lease.Release()
			request.Replier.Reply(Outcome{Error: problem}, nil)
			return true
		}
	}
	lease.Called(request.Client.Party())
	r := request.Canceller.newRun()
	r.client, r.canceller, r.replier, r.lease, r.tool = request.Client, request.Canceller, request.Replier, lease, tool.Name
	r.method, r.crossing, r.passErrors = protocol.MethodToolsCall, crossingOf(request.Client, lease.Session), request.PassErrors
	// Copied first: sending the call uses up the buffer that the token is in.
	if !request.Plain {
		r.token = bytes.Clone(request.Meta.Member(protocol.ProgressToken).Bytes())
	}
	if r.crossing == toLegacy && era.BringsState(request.Extra) {
		lease.Release()
		request.Replier.Reply(unknownState, nil)
		return true
	}
	call := downstream.ToolCall{Name: tool.Name, Arguments: request.Arguments, Meta: request.Meta, Untracked: len(r.token) == 0, Extra: request.Extra}
	if r.crossing != sameEra {
		r.translateCall(&call, request.Plain)
	}
	call.Asker.Modern = request.Client.Party().Modern()
	r.mu.Lock() // an answer has to wait until the id is known
	r.id, err = lease.Session.CallTool(call, r)
	r.mu.Unlock()
	if err != nil {
		lease.Release()
		return false
	}
	request.Canceller.setHook(r)
	return true
}
