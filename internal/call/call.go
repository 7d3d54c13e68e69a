// Package call takes one tool call through its stages: resolve it to a server and a
// tool, run it there, and shape what comes back.
package call

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/wire"
)

// Client is the one that a call is for.
type Client interface {
	// Notify sends a complete message to the client. It blocks while the client does
	// not read, until ctx ends.
	Notify(ctx context.Context, message []byte) error
	// Budget limits the bytes of answers that are held for the client.
	Budget() *wire.Budget
}

// Request is one call of a tool.
type Request struct {
	Ref       toolbox.Ref
	Arguments wire.Payload // an object; absent means {}. Its buffer is used up by the call
	Meta      wire.Payload // the request's _meta; may be absent
	Client    Client
}

// Outcome is what the server answered: a result, or an error that the client's program
// has to act on. Close it once it has been sent.
type Outcome struct {
	Result wire.Payload
	Error  wire.Payload // the error object; absent if there is a result
	close  func()
}

// Close frees what the outcome holds.
func (o *Outcome) Close() {
	if o.close != nil {
		o.close()
	}
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

// Run takes a call through all stages. Whether the toolbox may be used by the client
// was decided before. The error is a *Failure, or the cause of ctx's end, in which
// case the server was told to cancel.
func Run(ctx context.Context, servers *fleet.Fleet, request Request) (*Outcome, error) {
	server, err := resolveServer(servers, request.Ref)
	if err != nil {
		return nil, err
	}
	// A session that ended before the call was sent cannot have run it, so that one
	// more try is safe. What was sent is never sent again.
	outcome, sent, err := runOn(ctx, server, request)
	if err != nil && !sent && isBroken(err) && ctx.Err() == nil {
		outcome, _, err = runOn(ctx, server, request)
	}
	return outcome, err
}

func isBroken(err error) bool {
	return errors.Is(err, downstream.ErrOutputClosed) || errors.Is(err, downstream.ErrClosed)
}

// runOn leases the server, finds the tool and runs it; sent says that the server may
// have seen the call.
func runOn(ctx context.Context, server *fleet.Server, request Request) (outcome *Outcome, sent bool, err error) {
	lease, err := server.Lease(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return nil, false, context.Cause(ctx)
		}
		return nil, false, &Failure{Message: err.Error(), Cause: err}
	}
	tool, err := resolveTool(lease.Tools, request.Ref)
	if err != nil {
		lease.Release()
		return nil, false, err
	}
	// The token is copied first: sending the call uses up the buffer that it is in.
	token := bytes.Clone(request.Meta.Member(protocol.ProgressToken).Bytes())
	r := runner{request: request, lease: lease, tool: tool, token: token}
	ctx, r.extend, r.stop = withPatience(ctx, lease.CallTimeout)
	stream, err := lease.Session.CallTool(ctx, downstream.ToolCall{
		Name: tool.Original, Arguments: request.Arguments, Meta: request.Meta, Budget: request.Client.Budget(),
	})
	if err != nil {
		r.stop()
		lease.Release()
		return nil, false, r.failed(ctx, err)
	}
	r.stream = stream
	outcome, err = r.pump(ctx)
	if err != nil {
		r.close()
		return nil, true, err
	}
	outcome.close = r.close
	return outcome, true, nil
}

// silence is the cause of the end of a call without a sign of life.
type silence struct{ limit time.Duration }

func (s silence) Error() string {
	return fmt.Sprintf("no answer and no progress for %s (timeouts.call): timeout", s.limit)
}

// withPatience returns a context that ends when extend was not called for the limit.
func withPatience(ctx context.Context, limit time.Duration) (_ context.Context, extend, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(limit, func() { cancel(silence{limit}) })
	return ctx, func() { timer.Reset(limit) }, func() {
		timer.Stop()
		cancel(nil)
	}
}

// Cancelled is the cause with which a client's cancellation ends the context of a call.
type Cancelled struct {
	Reason []byte // the client's reason, a JSON string; nil without one
}

func (Cancelled) Error() string { return "the client cancelled the request" }
