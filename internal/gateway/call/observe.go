package call

import (
	"bytes"
	"errors"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// tellObservers tells the observers how the request ended.
func (r *run) tellObservers(outcome Outcome, err error) {
	end := End{
		Status: r.statusOf(outcome, err), Began: r.began, Took: time.Since(r.began),
		RequestSize: r.requestSize, ResponseSize: len(outcome.Result.Bytes()) + len(outcome.Error.Bytes()),
	}
	for _, observer := range r.router.stages.Observe {
		observer.CallEnded(&r.call, end)
	}
}

func (r *run) statusOf(outcome Outcome, err error) Status {
	switch {
	case r.status != 0:
		return r.status
	case err != nil:
		if _, ok := errors.AsType[*Failure](err); ok {
			return StatusFailed
		}
		return StatusCancelled
	case !outcome.Error.IsAbsent():
		return StatusRPCError
	}
	return statusOfResult(r.call.Method, outcome.Result)
}

// quickSize is how long a result can be to be read without a search for the members first.
const quickSize = 4 << 10

// statusOfResult reads what a result says of itself. Most long results do not have the members, which a search in the
// bytes finds out faster than reading them would.
func statusOfResult(method string, result wire.Payload) Status {
	if !protocol.FindMethod(method).MayAsk {
		return StatusOK
	}
	if raw := result.Bytes(); len(raw) > quickSize && !bytes.Contains(raw, isErrorKey) && !bytes.Contains(raw, inputRequired) {
		return StatusOK
	}
	for key, value := range result.Members() {
		switch string(key) {
		case "isError":
			if method == protocol.MethodToolsCall && string(value.Bytes()) == "true" {
				return StatusToolError
			}
		case protocol.ResultType:
			if kind, _ := value.Text(); kind == protocol.ResultInputRequired {
				return StatusInputRequired
			}
		}
	}
	return StatusOK
}

var isErrorKey, inputRequired = []byte(`"isError"`), []byte(`"` + protocol.ResultInputRequired + `"`)
