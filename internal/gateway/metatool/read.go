package metatool

import (
	"bytes"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// written is what calls have in common that are written alike, but for the arguments of the
// tool and their _meta.
type written struct {
	name string
	ref  toolbox.Ref  // see Request
	meta wire.Payload // that all of them have; absent if each has its own, or none

	quiet bool // meta wants no log messages
}

// The slots of calls that are written alike.
const (
	argumentsSlot = iota
	metaSlot
)

// ReadCall reads a tools/call; the problem is what is wrong with it, "" if nothing is.
func ReadCall(message *wire.Message) (request Request, problem string) {
	request.Params = message.Params
	if known, ok := message.Meaning().(*written); ok && request.fill(known, message) {
		return request, call.AmbiguousMembers(message.Slot(metaSlot))
	}
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
	if len(request.Extra) == 0 {
		request.learn(message)
	}
	return request, ""
}

// maxCommon is how long a _meta may be that counts as a part of how a call is written, which
// must not be long.
const maxCommon = 768

// learn has calls be recognized that are written like this one.
func (request *Request) learn(message *wire.Message) {
	slots, common := [...]wire.Payload{argumentsSlot: request.Arguments, metaSlot: request.Meta}, wire.Payload{}
	if len(request.Meta.Bytes()) <= maxCommon && isOfClient(request.Meta) {
		slots[metaSlot], common = common, request.Meta
	}
	message.Learn(func() any {
		return &written{
			name: request.Name, ref: request.ref, meta: wire.Raw(bytes.Clone(common.Bytes())),
			quiet: common.Member(protocol.MetaLogLevel).IsAbsent(),
		}
	}, slots[:]...)
}

// isOfClient reports that a _meta tells of the client alone, so that all of its calls have the
// same.
func isOfClient(meta wire.Payload) bool {
	for key := range meta.Members() {
		if !protocol.OfOneHop(string(key)) {
			return false
		}
	}
	return meta.Kind() == "object"
}

// CommonMeta returns the _meta of a call that is written like those before it, and has the
// same; ok is false for any other message. Such a call has no params but the name, the arguments
// and that.
func CommonMeta(message *wire.Message) (meta wire.Payload, ok bool) {
	known, ok := message.Meaning().(*written)
	if !ok || known.meta.IsAbsent() {
		return wire.Payload{}, false
	}
	return known.meta, true
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
	request.Arguments, request.Meta, request.plain = arguments, known.meta, known.quiet
	if request.Meta.IsAbsent() {
		request.Meta = message.Slot(metaSlot)
		request.plain = request.Meta.IsAbsent()
	}
	return true
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
