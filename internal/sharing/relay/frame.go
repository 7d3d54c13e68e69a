package relay

import (
	"bytes"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// ourPrefix starts the ids of the relay's own requests.
const ourPrefix = `"mcp-workbench-bridge/`

func isOwnID(id []byte) bool { return bytes.HasPrefix(id, []byte(ourPrefix)) }

// idKey makes an id comparable: strings may be escaped in different ways.
func idKey(id wire.Payload) string {
	if text, ok := id.Text(); ok {
		return `"` + text
	}
	return string(id.Bytes())
}

// line copies a frame as a line.
func line(frame wire.Frame) []byte {
	return append(bytes.Clone(frame.Bytes()), '\n')
}

// kind is the kind of a message from the workbench.
type kind int

const (
	isOther kind = iota
	isRequest
	isResponse
)

// The usual beginnings of the workbench's messages. All other messages are parsed, which is slow for large ones.
var (
	withID    = []byte(`{"jsonrpc":"2.0","id":`)
	withoutID = []byte(`{"jsonrpc":"2.0","method":`)
)

// response returns the kind of a message, and its id.
func response(frame wire.Frame) (id []byte, what kind) {
	data := frame.Bytes()
	if bytes.HasPrefix(data, withoutID) {
		return nil, isOther
	}
	if rest, ok := bytes.CutPrefix(data, withID); ok {
		end := idEnd(rest)
		switch tail := rest[end:]; {
		case end == 0:
		case bytes.HasPrefix(tail, []byte(`,"result":`)), bytes.HasPrefix(tail, []byte(`,"error":`)):
			return rest[:end], isResponse
		case bytes.HasPrefix(tail, []byte(`,"method":`)):
			return rest[:end], isRequest
		}
	}
	message, err := wire.Parse(wire.NewFrame(bytes.Clone(data)))
	switch {
	case err != nil:
		return nil, isOther
	case message.IsResponse():
		return message.ID.Bytes(), isResponse
	case message.IsRequest():
		return message.ID.Bytes(), isRequest
	}
	return nil, isOther
}

// idEnd returns the length of the id at the start of data; 0 if it has no end.
func idEnd(data []byte) int {
	if len(data) == 0 || data[0] != '"' {
		return max(bytes.IndexByte(data, ','), 0)
	}
	for i := 1; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return 0
}

// A mark is a line of the workbench for the relay only. It is not JSON, so it cannot be mistaken for a message.
const markPrefix = "#opened "

// Farewell is the last line of a workbench that ends on request. The relay reconnects only when the client needs it.
const Farewell = "#ended\n"

// Mark returns the line that reports that the client opened a toolbox.
func Mark(toolbox string) []byte {
	return append(wire.AppendString([]byte(markPrefix), toolbox), '\n')
}

// ParseMark parses a line of Mark.
func ParseMark(line []byte) (toolbox string, ok bool) {
	rest, ok := bytes.CutPrefix(line, []byte(markPrefix))
	if !ok {
		return "", false
	}
	value, err := wire.ParseValue(bytes.Clone(rest))
	if err != nil {
		return "", false
	}
	return value.Text()
}
