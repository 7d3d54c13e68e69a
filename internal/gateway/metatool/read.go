package metatool

import (
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// ReadCall reads a tools/call; the problem is what is wrong with it, "" if nothing is.
func ReadCall(message *wire.Message) (request Request, problem string) {
	request.Params = message.Params
	if problem := request.read(); problem != "" {
		return request, problem
	}
	if request.Name == useName {
		ref, arguments, problem := parseUse(request.Arguments)
		if problem != "" { // is told by useTool, if that is what the name stands for
			return request, ""
		}
		request.ref, request.Arguments = ref, arguments
	}
	return request, ""
}

// read goes through the params once, and says what is wrong with them.
func (request *Request) read() (problem string) {
	var name wire.Payload
	for key, value := range request.Params.Members() {
		known := &request.Arguments
		switch string(key) {
		case "name":
			known = &name
		case "arguments":
		case "_meta":
			known = &request.Meta
		default:
			if problem = request.addExtra(string(key), value); problem != "" {
				return problem
			}
			continue
		}
		if !known.IsAbsent() {
			return call.AmbiguousKey(string(key), []string{string(key)})
		}
		*known = value
	}
	var ok bool
	if request.Name, ok = name.Name(); !ok {
		return noToolName
	}
	return call.AmbiguousMembers(request.Meta)
}

const noToolName = "Invalid params: 'name' must be a string, the name of a tool"

// addExtra keeps a member that is passed on as it is.
func (request *Request) addExtra(key string, value wire.Payload) (problem string) {
	if problem = call.AmbiguousKey(key, nil); problem == "" {
		problem = call.AmbiguousMembers(value)
	}
	if len(request.Extra) > 0 {
		request.Extra = append(request.Extra, ',')
	}
	request.Extra = append(wire.AppendString(request.Extra, key), ':')
	request.Extra = append(request.Extra, value.Bytes()...)
	return problem
}

// unfold gives a call of use_tool back its own arguments, where that is the name of some tool
// and no other.
func (request *Request) unfold() {
	if request.ref != (toolbox.Ref{}) {
		request.ref = toolbox.Ref{}
		request.Arguments = request.Params.Member("arguments")
	}
}
