package call

import (
	"strconv"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// The progress of waiting requests is counted from the first of these moments to the second.
var (
	firstMoment = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	lastMoment  = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)
)

// WaitProgress returns the params of a notification that a request waits for a person. The number only depends on the time,
// and is between -1 and 0: so it increases, also for a call that is asked about twice, by one workbench or by one behind the
// other, and is below whatever the server reports later for the same request.
func WaitProgress(token []byte, now time.Time, message string) []byte {
	return waitProgress(token, -float64(lastMoment.Sub(now))/float64(lastMoment.Sub(firstMoment)), message)
}

func waitProgress(token []byte, number float64, message string) []byte {
	text := append([]byte(`{"`+protocol.ProgressToken+`":`), token...)
	text = append(text, `,"progress":`...)
	text = strconv.AppendFloat(text, number, 'f', 15, 64)
	return append(wire.AppendMember(text, "message", message), '}')
}
