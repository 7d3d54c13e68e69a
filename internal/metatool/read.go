package metatool

import (
	"github.com/mcp-workbench/mcp-workbench/internal/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/wire"
)

// written is what calls have in common that are written alike, but for the arguments of the
// tool and their _meta.
type written struct {
	name string
	ref  toolbox.Ref // see Request
}

// The slots of calls that are written alike.
const (
	argumentsSlot = iota
	metaSlot
)

// ReadCall reads a tools/call; ok is false if it does not name a tool.
func ReadCall(message *wire.Message) (request Request, ok bool) {
	request.Params = message.Params
	if known, ok := message.Meaning().(*written); ok && request.fill(known, message) {
		return request, true
	}
	if !request.read() {
		return request, false
	}
	if request.Name == useName {
		ref, arguments, problem := parseUse(request.Arguments)
		if problem != "" { // is told by useTool, if that is what the name stands for
			return request, true
		}
		request.ref, request.Arguments = ref, arguments
	}
	if len(request.Extra) == 0 {
		message.Learn(func() any { return &written{request.Name, request.ref} }, request.Arguments, request.Meta)
	}
	return request, true
}

// fill reads a call that is recognized; it reports false if there is something wrong with it.
func (request *Request) fill(known *written, message *wire.Message) bool {
	arguments := message.Slot(argumentsSlot)
	if known.ref != (toolbox.Ref{}) {
		var problem string
		if arguments, problem = parseArguments(arguments); problem != "" {
			return false
		}
	}
	request.Name, request.ref = known.name, known.ref
	request.Arguments, request.Meta = arguments, message.Slot(metaSlot)
	return true
}

// read goes through the params once. Of members that stand twice the last counts, as in most
// decoders.
func (request *Request) read() (ok bool) {
	var name wire.Payload
	for key, value := range request.Params.Members() {
		switch string(key) {
		case "name":
			name = value
		case "arguments":
			request.Arguments = value
		case "_meta":
			request.Meta = value
		default:
			if len(request.Extra) > 0 {
				request.Extra = append(request.Extra, ',')
			}
			request.Extra = append(wire.AppendString(request.Extra, string(key)), ':')
			request.Extra = append(request.Extra, value.Bytes()...)
		}
	}
	request.Name, ok = name.Name()
	return ok
}

// unfold gives a call of use_tool back its own arguments, where that is the name of some tool
// and no other.
func (request *Request) unfold() {
	if request.ref != (toolbox.Ref{}) {
		request.ref = toolbox.Ref{}
		request.Arguments = request.Params.Member("arguments")
	}
}
