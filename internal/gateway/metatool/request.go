package metatool

import (
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// Request is a tools/call or a tools/list as it came from the client.
type Request struct {
	Origin
	Arguments wire.Payload
	Meta      wire.Payload
	Extra     []byte       // raw text of further members of the params; may be nil
	Params    wire.Payload // all of them, as they came

	// Check looks at a tool that is called by a name of its own before it is; see call.Request.
	// It may be nil.
	Check call.Check

	// ref is the tool that a call of use_tool names. Unless it is zero, Arguments are those of
	// that tool.
	ref toolbox.Ref
}

// Origin is what is left of a request when its parts have been sent on.
type Origin struct {
	Name      string // of the tool; only of a call
	Session   Session
	Canceller *Canceller
	Answerer  Answerer
}

// Canceller cancels a request, and has the memory for what is remembered of it. The zero value is
// ready, for one request.
type Canceller struct {
	call.Canceller

	invocation invocation
}

// Answerer gets the answer to a request.
type Answerer interface {
	// Answer is called exactly once, perhaps before Call or List returns. It takes the
	// buffer that the answer lies in.
	Answer(answer Answer)
}

// Answer is the answer to a request. Exactly one of its fields is set, but for From.
type Answer struct {
	Text      []byte       // a result that we made
	Outcome   call.Outcome // a server's answer, to be passed on as it is
	Error     *Error       // a JSON-RPC error
	Cancelled error        // why the request was cancelled

	// From is the tool that the outcome comes from.
	From toolbox.Ref

	limit *resultLimit // how much of a result the client gets at once; nil: all
}

// Error is a JSON-RPC error.
type Error struct {
	Code    int
	Message string
	Data    []byte // raw JSON; nil without any
}

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

// fail answers with an error result of one or more text blocks.
func (o *Origin) fail(blocks ...string) {
	o.Answerer.Answer(Answer{Text: textResult(true, blocks...)})
}

func textResult(isError bool, blocks ...string) []byte {
	result := []byte(`{"content":[`)
	for i, text := range blocks {
		if i > 0 {
			result = append(result, ',')
		}
		result = append(result, `{"type":"text","text":`...)
		result = append(wire.AppendString(result, text), '}')
	}
	result = append(result, ']')
	if isError {
		result = append(result, `,"isError":true`...)
	}
	return append(result, '}')
}
