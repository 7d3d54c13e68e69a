package call

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/wire"
)

// cancelTime is how long a cancellation may wait for a server that does not read.
const cancelTime = time.Second

// runner is one call that was sent.
type runner struct {
	request Request
	lease   *fleet.Lease
	tool    catalog.Tool
	token   []byte // the client's progress token; empty without one
	stream  *downstream.Stream
	extend  func() // gives the server its full time again
	stop    func() // ends the clock
}

func (r *runner) close() {
	r.stream.Close()
	r.stop()
	r.lease.Release()
}

// pump carries progress to the client until the response is there.
func (r *runner) pump(ctx context.Context) (*Outcome, error) {
	for {
		message, err := r.stream.Next(ctx)
		if err != nil {
			if ctx.Err() != nil {
				r.cancel(ctx)
			}
			return nil, r.failed(ctx, err)
		}
		r.extend()
		if message.IsResponse() {
			return r.shape(message)
		}
		if len(r.token) > 0 {
			if err := r.request.Client.Notify(ctx, progressFor(message, r.token)); err != nil {
				r.cancel(ctx)
				return nil, r.failed(ctx, err)
			}
		}
	}
}

// cancel tells the server that nobody waits any more.
func (r *runner) cancel(ctx context.Context) {
	reason := []byte(`"The call took too long"`)
	if cancelled, ok := errors.AsType[Cancelled](context.Cause(ctx)); ok {
		reason = cancelled.Reason
	}
	// The call's own context has ended, and the server must hear of it all the same.
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), cancelTime)
	defer stop()
	_ = r.stream.Cancel(ctx, reason) // a server that takes no input is beyond being told
}

// failed says why there is no answer.
func (r *runner) failed(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	if quiet, ok := errors.AsType[silence](cause); ok {
		return &Failure{Message: quiet.Error(), Cause: err}
	}
	if cause != nil {
		return cause
	}
	err = r.lease.Explain(err)
	return &Failure{Message: err.Error(), Cause: err}
}

// shape decides what becomes of a response: a result is passed on as it is, and so is
// an error that the client's program must act on; any other error is told in words.
func (r *runner) shape(message wire.Message) (*Outcome, error) {
	if message.Error.IsAbsent() {
		if kind := message.Result.Kind(); kind != "object" {
			return nil, &Failure{Message: "the server's result is no object but " + kind}
		}
		return &Outcome{Result: message.Result}, nil
	}
	rpc := downstream.NewRPCError(message.Error)
	if protocol.ClientMustAct(rpc.Code) {
		return &Outcome{Error: message.Error}, nil
	}
	explained := r.lease.Explain(rpc)
	failure := &Failure{Message: explained.Error(), Cause: explained}
	if rpc.Code == protocol.CodeInvalidParams {
		failure.Schema = bytes.Clone(r.tool.Definition.Member("inputSchema").Bytes())
	}
	return nil, failure
}

// progressFor returns the progress notification for the client: the server's own, but
// for the token.
func progressFor(message wire.Message, token []byte) []byte {
	params := wire.AppendEdited(nil, message.Params,
		wire.Edit{Part: message.Params.Member(protocol.ProgressToken), With: token})
	return wire.Notification(protocol.NotifyProgress, params)
}
