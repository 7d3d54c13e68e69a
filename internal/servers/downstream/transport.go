package downstream

import (
	"context"
	"net/http"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/tracecontext"
)

// transport carries messages between a session and its server. It passes messages of the server to receive, and
// failures to fail and finish. Methods do not block unless documented. A transport owns the messages that it is given.
type transport interface {
	// open begins to read from the server. It blocks until that is possible or ctx ends.
	open(ctx context.Context) error
	// send sends a request.
	send(request outgoing)
	// beginSession begins a session of the negotiated revision. It sends initialized unless that is nil. It blocks until that
	// is done, or ctx ends.
	beginSession(ctx context.Context, revision protocol.Revision, initialized []byte) error
	// reply sends a notification or an answer to the server, and returns false if the queue is full.
	reply(message []byte) bool
	// forget is called when nobody waits for the response to a request any more.
	forget(id uint64)
	// cancel asks the server to stop working on a forgotten request; notice is the notification of the legacy era.
	cancel(id uint64, notice []byte)
	// isUnread reports whether the server is known not to have read everything sent to it.
	isUnread() bool
	// canAsk reports whether a server that accepted initialize can send requests to its client in this session.
	canAsk() bool
	// blame returns the error of a handshake that broke off: opening with Ended set, or the wrapped error if the
	// opening cannot be the cause.
	blame(opening OpeningError) error
	// flush waits briefly until queued messages are sent.
	flush()
	// close releases what remains when the session has ended. It blocks for a short time.
	close()
}

// outgoing is a request to send.
type outgoing struct {
	message []byte
	id      uint64
	method  string
	name    string                // the tool of a call; "" for other requests
	header  http.Header           // headers of this request only; may be nil
	trace   *tracecontext.Carrier // may be nil
	owned   bool                  // see wire.Writer.WriteOwned
}

// newTransport returns the transport that the session's options select.
func newTransport(s *Session) (transport, error) {
	if s.options.Remote == nil {
		return newStdio(s), nil
	}
	r, err := newRemote(s)
	switch {
	case err != nil:
		return nil, err
	case s.options.Remote.SSE:
		return &sse{remote: r}, nil
	default:
		return &streamable{remote: r}, nil
	}
}
