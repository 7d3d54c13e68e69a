// Package call takes one tool call through its stages: resolve it to a server and a
// tool, run it there, and shape what comes back.
package call

import (
	"bytes"
	"context"

	"github.com/mcp-workbench/mcp-workbench/internal/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/wire"
)

// Client is the one that a call is for.
type Client interface {
	// Notify sends a complete message to the client. It blocks while the client has too
	// much to read, until its session ends.
	Notify(message []byte) error
}

// Request is one call of a tool.
type Request struct {
	Ref       toolbox.Ref
	Arguments wire.Payload // an object; absent means {}. Its buffer is used up by the call
	Meta      wire.Payload // the request's _meta; may be absent
	Client    Client
}

// Outcome is what the server answered: a result, or an error that the client's program
// has to act on.
type Outcome struct {
	Result wire.Payload
	Error  wire.Payload // the error object; absent if there is a result
}

// Reply gets the end of a call, exactly once: the outcome, or an error that is a
// *Failure or the cause of the context's end. It may be called before Start returns, or
// later from the goroutine that reads the server's messages.
type Reply func(Outcome, error)

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

// Start begins a call; it does not block. When ctx ends, the server is told to cancel.
// Whether the toolbox may be used by the client was decided before.
func Start(ctx context.Context, servers *fleet.Fleet, request Request, reply Reply) {
	server, err := resolveServer(servers, request.Ref)
	if err != nil {
		reply(Outcome{}, err)
		return
	}
	if lease := server.TryLease(); lease != nil && send(ctx, lease, request, reply) {
		return
	}
	// The server has to be started first, which takes its time.
	go func() {
		lease, err := server.Lease(ctx)
		switch {
		case ctx.Err() != nil:
			if lease != nil {
				lease.Release()
			}
			reply(Outcome{}, context.Cause(ctx))
		case err != nil:
			reply(Outcome{}, &Failure{Message: err.Error(), Cause: err})
		case !send(ctx, lease, request, reply):
			err := lease.Explain(lease.Session.Err())
			reply(Outcome{}, &Failure{Message: err.Error(), Cause: err})
		}
	}()
}

// send finds the tool and sends the call. It returns false if the session had ended: the
// server cannot have seen the call then, so that it may be sent to the next one. What may
// have been seen is never sent again.
func send(ctx context.Context, lease *fleet.Lease, request Request, reply Reply) bool {
	tool, err := resolveTool(lease.Tools, request.Ref)
	if err != nil {
		lease.Release()
		reply(Outcome{}, err)
		return true
	}
	r := &run{
		ctx: ctx, client: request.Client, lease: lease, tool: tool, reply: reply,
		// Copied first: sending the call uses up the buffer that the token is in.
		token: bytes.Clone(request.Meta.Member(protocol.ProgressToken).Bytes()),
	}
	r.mu.Lock() // an answer has to wait until the call is complete
	defer r.mu.Unlock()
	r.id, err = lease.Session.CallTool(downstream.ToolCall{Name: tool.Original, Arguments: request.Arguments, Meta: request.Meta}, r)
	if err != nil {
		lease.Release()
		return false
	}
	r.unwatch = context.AfterFunc(ctx, r.cancel)
	return true
}
