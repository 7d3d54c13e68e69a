package passthrough

import (
	"context"
	"fmt"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
)

// rpcError is an error response of a server.
type rpcError struct{ object wire.Payload }

func (e *rpcError) Error() string {
	message, _ := e.object.Member("message").Text()
	return fmt.Sprintf("%.1000s (code %d)", message, code(e.object))
}

// response is the outcome of a request.
type response struct {
	outcome call.Outcome
	err     error
}

// waiter is a call.Replier that holds the response until it is read.
type waiter chan response

// Reply implements call.Replier.
func (w waiter) Reply(outcome call.Outcome, err error) { w <- response{outcome, err} }

// ask sends a request of our own and waits for the result until ctx ends.
func (r *routing) ask(ctx context.Context, server *fleet.Server, method string, params []byte) (wire.Payload, error) {
	var canceller call.Canceller
	r.Canceller.ShowPart(&canceller)
	reply := make(waiter, 1)
	r.forwarder.Router.Forward(server, &call.Forwarding{Method: method, Params: wire.Raw(params), Client: r.Session, Canceller: &canceller, Replier: reply})
	select {
	case got := <-reply:
		return got.result()
	case <-ctx.Done():
		canceller.Cancel(context.Cause(ctx))
		return (<-reply).result() // comes at once, since the request was cancelled
	}
}

func (r response) result() (wire.Payload, error) {
	switch {
	case r.err != nil:
		return wire.Payload{}, r.err
	case !r.outcome.Error.IsAbsent():
		return wire.Payload{}, &rpcError{r.outcome.Error}
	}
	return r.outcome.Result, nil
}
