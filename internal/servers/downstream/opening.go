package downstream

import (
	"errors"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
)

// Opening is what the handshake with a server begins with. The probe (server/discover) is a
// request of the modern era, initialize one of the legacy era.
type Opening int32

// The openings. In the first two the second request follows an error, or silence.
const (
	ProbeFirst Opening = iota
	InitializeFirst
	// InitializeOnly sends the probe only after initialize was refused: the server may not
	// survive it, or is known to be legacy.
	InitializeOnly
	// ProbeOnly sends initialize only after the probe was refused: the server may not survive
	// it, or is known to be modern.
	ProbeOnly
)

// OpeningError is the end of a handshake that may succeed with another opening.
type OpeningError struct {
	// Ended says for sure that the server read what it was sent and ended then, or is settled
	// on an era that it was not wanted in.
	Ended bool
	// Alone says that one request was unanswered, so that nothing else can be the reason.
	Alone bool
	// Instead is the opening that avoids the reason.
	Instead Opening
	// Eras is what the server said of its eras, if it did.
	Eras Eras
	Err  error
}

func (e *OpeningError) Error() string { return e.Err.Error() }

// Unwrap returns what happened.
func (e *OpeningError) Unwrap() error { return e.Err }

// isConclusive reports whether a server that refused initialize with err, or could not ask in the
// session that it began (nil), would do so again.
func isConclusive(err error) bool {
	if err == nil {
		return true
	}
	if rpc, ok := errors.AsType[*RPCError](err); ok {
		return rpc.Code != protocol.CodeInternalError
	}
	status, ok := errors.AsType[*StatusError](err)
	return ok && status.NoEndpoint()
}
