package downstream

import (
	"errors"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
)

// Opening is the strategy of a handshake. The probe (server/discover) is a request of the modern era, initialize one of
// the legacy era.
type Opening int32

// The openings. With the first two, the second request follows an error or silence.
const (
	ProbeFirst Opening = iota
	InitializeFirst
	// InitializeOnly sends the probe only after initialize was refused: the probe may end the server, or the server is
	// known to be legacy.
	InitializeOnly
	// ProbeOnly sends initialize only after the probe was refused: initialize may end the server, or the server is
	// known to be modern.
	ProbeOnly
)

// OpeningError is a failed handshake that may succeed with another opening.
type OpeningError struct {
	// Ended means that the server certainly read the request and then exited, or is settled on an unwanted era.
	Ended bool
	// Alone means that only one request was unanswered, so that it must be the cause.
	Alone bool
	// Instead is the opening that avoids the cause.
	Instead Opening
	// Eras is what the server revealed of its eras.
	Eras Eras
	Err  error
}

func (e *OpeningError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *OpeningError) Unwrap() error { return e.Err }

// isConclusive reports whether a server would fail again in the same way: it refused initialize with err, or could not
// ask its client in the session that it began (nil).
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
