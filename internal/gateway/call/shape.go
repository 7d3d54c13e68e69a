package call

import (
	"strconv"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

const (
	maxShape     = 160      // bytes of a description of arguments; the rest is left out
	maxShapeName = 40       // bytes of an argument's name in it; a longer one is left out, since it may be a value
	maxShaped    = 16 << 10 // bytes of arguments that are described one by one; of longer ones only the size is told
)

// cutMark stands for what is left out.
const cutMark = "…"

// shapeOf describes arguments without their values: name, kind, and the size of what can be long. It allocates once.
func shapeOf(arguments wire.Payload) string {
	size := len(arguments.Bytes())
	if size == 0 {
		return ""
	}
	var room [maxShape]byte
	if size > maxShaped || arguments.Kind() != "object" {
		return string(appendSized(append(room[:0], arguments.Kind()...), size))
	}
	text := room[:0]
	for name, value := range arguments.Members() {
		if string(name) == "_meta" { // of other methods than tools/call; it is the protocol's
			continue
		}
		before := len(text)
		text = appendMember(text, name, value)
		if len(text) > maxShape-len(", "+cutMark) {
			text = append(text[:before], ", "+cutMark...)
			break
		}
	}
	return string(text)
}

// appendMember describes one argument. It may be longer than what there is room for.
func appendMember(text, name []byte, value wire.Payload) []byte {
	var room [maxShape]byte // so that a long one stays on the stack
	one := room[:0]
	if len(text) > 0 {
		one = append(one, ", "...)
	}
	if len(name) > maxShapeName {
		name = []byte(cutMark)
	}
	one = append(one, name...)
	one = append(one, ": "...)
	one = append(one, value.Kind()...)
	switch size := len(value.Bytes()); value.Kind() {
	case "string":
		one = appendSized(one, size-len(`""`))
	case "object", "array":
		one = appendSized(one, size)
	}
	if len(text)+len(one) > maxShape {
		return text[:maxShape] // too long: the caller takes it back
	}
	return append(text, one...)
}

func appendSized(text []byte, size int) []byte {
	return append(strconv.AppendInt(append(text, ' '), int64(size), 10), " B"...)
}
