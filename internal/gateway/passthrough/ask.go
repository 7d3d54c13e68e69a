package passthrough

import (
	"context"
	"fmt"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
)

// rpcError is an error that a server answered with.
type rpcError struct{ object wire.Payload }

func (e *rpcError) Error() string {
	message, _ := e.object.Member("message").Text()
	return fmt.Sprintf("%.1000s (code %d)", message, code(e.object))
}

// answered is what became of a question of ours.
type answered struct {
	outcome call.Outcome
	err     error
}

// waiter hands the answer to the one who waits for it.
type waiter chan answered

// Reply implements call.Replier.
func (w waiter) Reply(outcome call.Outcome, err error) { w <- answered{outcome, err} }

// ask sends a request of ours and waits for the answer, at most until ctx ends.
func (e *errand) ask(ctx context.Context, server *fleet.Server, method string, params []byte) (wire.Payload, error) {
	var canceller call.Canceller
	reply := make(waiter, 1)
	e.carrier.forward(server, forwarding{method: method, params: wire.Raw(params), canceller: &canceller, replier: reply})
	select {
	case a := <-reply:
		return a.read()
	case <-ctx.Done():
		canceller.Cancel(context.Cause(ctx))
		return (<-reply).read() // comes at once: the canceller was cancelled
	}
}

func (a answered) read() (wire.Payload, error) {
	switch {
	case a.err != nil:
		return wire.Payload{}, a.err
	case !a.outcome.Error.IsAbsent():
		return wire.Payload{}, &rpcError{a.outcome.Error}
	}
	return a.outcome.Result, nil
}
