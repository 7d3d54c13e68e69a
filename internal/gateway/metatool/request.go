package metatool

import (
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// Request is a tools/call or a tools/list of a client.
type Request struct {
	Origin
	Arguments wire.Payload
	Meta      wire.Payload
	Extra     []byte       // further members of the params, as raw JSON; may be nil
	Params    wire.Payload // unchanged

	// Check is run before a tool that is called natively; see call.Request. It may be nil.
	Check call.Check

	// ref is the tool that a call of use_tool or read_tool names. If it is set, Arguments are the arguments of
	// that tool.
	ref toolbox.Ref
}

// Origin is the part of a request that its answer needs.
type Origin struct {
	Name      string // of the tool; only of a call
	Session   Session
	Canceller *Canceller
	Answerer  Answerer
}

// Canceller cancels a request, and holds the memory of its invocation. The zero value is ready to
// use, for one request.
type Canceller struct {
	call.Canceller

	invocation invocation
}

// Answerer gets the answer to a request.
type Answerer interface {
	// Answer is called exactly once, possibly before Call or List returns. It owns the buffer of
	// the answer.
	Answer(answer Answer)
}

// Answer is the answer to a request. Exactly one of its first four fields is set.
type Answer struct {
	Text      []byte       // a result of the workbench
	Outcome   call.Outcome // a server's answer, forwarded unchanged
	Error     *Error       // a JSON-RPC error
	Cancelled error        // why the request was cancelled

	// From is the tool that the outcome comes from.
	From toolbox.Ref

	limit *resultLimit // of a result; nil: none
}

// Error is a JSON-RPC error.
type Error struct {
	Code    int
	Message string
	Data    []byte // raw JSON; nil without any
}

// ReadCall parses a tools/call; problem describes invalid params, and is "" if there are none.
func ReadCall(message *wire.Message) (request Request, problem string) {
	request.Params = message.Params
	if problem := request.readParams(); problem != "" {
		return request, problem
	}
	if request.namesTool() {
		ref, arguments, problem := parseUse(request.Arguments)
		if problem != "" { // runTool reports it, unless a tool of a server has this name
			return request, ""
		}
		request.ref, request.Arguments = ref, arguments
	}
	return request, ""
}

// namesTool reports whether it is a call of a meta-tool that runs the tool which its arguments name.
func (request *Request) namesTool() bool {
	return request.Name == useName || request.Name == readToolName
}

// readParams reads the params in one pass.
func (request *Request) readParams() (problem string) {
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

// addExtra keeps an unknown member, which is forwarded unchanged.
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

// restoreArguments undoes the parsing of a call of use_tool or read_tool, for direct mode, where a server's tool may have that name.
func (request *Request) restoreArguments() {
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
