package front

import (
	"bytes"
	"errors"
	"sync"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// statelessRequest is one request of a client of the modern era in flight.
type statelessRequest struct {
	statelessClient *statelessClient
	to              replyPath
	id              []byte // as the client wrote it
	idSpace         [24]byte
	key             string // what it is found by among those in flight
	token           []byte // of progress; empty without one
	severity        int    // of the log messages that are wanted; -1 without
	check           call.Check

	work work // that it set going, if it does not go on with that of another

	mu    sync.Mutex
	cause error    // why it was cancelled
	under underWay // nil before anything is
}

// underWay is what a request waits for.
type underWay interface {
	// stop ends it for the request, and does nothing if it is over for that one.
	stop(r *statelessRequest, cause error)
}

// stopping is something under way that needs to be told nothing.
type stopping func()

func (s stopping) stop(*statelessRequest, error) { s() }

// begin handles a request. While too many are under way it blocks. The guest was entered
// for it. The check of a call may be nil.
func (c *statelessClient) begin(message *wire.Message, t requestMeta, to replyPath, key string, check call.Check) *statelessRequest {
	// Copied: forwarding a call uses up the buffer that they are in.
	r := &statelessRequest{
		statelessClient: c, to: to, key: key,
		token: bytes.Clone(t.token.Bytes()), severity: t.severity(), check: check,
	}
	r.id = append(r.idSpace[:0], message.ID.Bytes()...)
	if admitted, refusal := c.admit(key, r.id, r); !admitted {
		c.release()
		to.send(refusal)
		return r
	}
	r.handle(message)
	return r
}

// handle answers the request, now or later; it does not block for long.
func (r *statelessRequest) handle(message *wire.Message) {
	method := wire.Name(message.Method)
	switch {
	case method == protocol.MethodDiscover:
		r.discover()
	case method == protocol.MethodListen:
		r.statelessClient.subscriptions.begin(r, message.Params)
	case protocol.FindMethod(method).Removed:
		r.refuse(unknownMethod(method))
	case protocol.FindMethod(method).MayAsk && r.statelessClient.server.parking.isBroughtBy(message):
		r.resume(message)
	default:
		r.statelessClient.hold() // for the work, which may outlast the request
		r.newWork(method, message).start(message)
	}
}

// isBroughtBy reports whether a request goes on with what another one began.
func (p *suspendedCalls) isBroughtBy(message *wire.Message) bool {
	return p.isOurs(message.Params.Member(protocol.RequestState))
}

// await has what is under way stopped when the request is cancelled, which may have happened.
func (r *statelessRequest) await(under underWay) {
	r.mu.Lock()
	r.under = under
	cause := r.cause
	r.mu.Unlock()
	if cause != nil {
		under.stop(r, cause)
	}
}

// cancel implements cancellable. It does nothing to a request that was answered.
func (r *statelessRequest) cancel(cause error) {
	r.mu.Lock()
	if r.cause != nil {
		r.mu.Unlock()
		return
	}
	r.cause = cause
	under := r.under
	r.mu.Unlock()
	if under != nil {
		under.stop(r, cause)
	}
}

func (r *statelessRequest) refuse(reason *refusal) { r.finish(reason.response(r.id)) }

// finish ends the request with its answer, unless the client cancelled it.
func (r *statelessRequest) finish(answer []byte) {
	s := r.statelessClient.session
	s.forget(r.key)
	r.mu.Lock()
	cause := r.cause
	r.mu.Unlock()
	if _, cancelled := errors.AsType[call.Cancelled](cause); cancelled {
		answer = nil
	}
	r.to.send(answer)
	r.statelessClient.release()
	s.requests.Done()
}
