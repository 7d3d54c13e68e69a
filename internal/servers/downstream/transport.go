package downstream

import (
	"context"
	"net/http"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
)

// transport carries a session's messages to the server and hands those of the server to
// the session: messages to receive, and what went wrong to fail and finish. No method
// blocks unless it says so. A message that is given to it is its own from then on.
type transport interface {
	// open begins to read from the server. It blocks until that is possible or ctx ends.
	open(ctx context.Context) error
	// send sends a request of ours.
	send(request outgoing)
	// begin begins a session of that revision, which was agreed on, by sending initialized
	// unless that is nil. It blocks until that is done, or ctx ends.
	begin(ctx context.Context, revision protocol.Revision, initialized []byte) error
	// reply answers a request of the server, and reports whether there was room for that.
	reply(message []byte) bool
	// forget says that nobody waits for the answer to a request any more.
	forget(id uint64)
	// cancel tells the server to stop working on a request that was forgotten; notice is
	// the notification that says so in the legacy era.
	cancel(id uint64, notice []byte)
	// isUnread reports whether the server is known not to have read all that it was sent.
	isUnread() bool
	// canAsk reports whether a server that accepted initialize can ask its client in the
	// session that this began.
	canAsk() bool
	// blame returns the error of a handshake that broke off: opening with Ended set, or what
	// it wraps if the opening cannot have been the reason.
	blame(opening OpeningError) error
	// flush waits until the server was told what was to be told, but not for long.
	flush()
	// close ends what is left when the session has ended. It blocks, for a short time.
	close()
}

// outgoing is a request on its way down.
type outgoing struct {
	message []byte
	id      uint64
	method  string
	name    string      // of the tool that is called; "" for other requests
	header  http.Header // that a call over HTTP has of its own; nil for none
	owned   bool        // see wire.Writer.WriteOwned
}

// newTransport makes the transport that the session's options ask for.
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
