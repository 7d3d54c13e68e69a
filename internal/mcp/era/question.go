package era

import (
	"strconv"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// Questions builds the result that asks a modern client. The zero value has no questions.
type Questions struct {
	members []byte // of inputRequests
}

// Add adds a legacy server's question.
func (q *Questions) Add(key, method string, params wire.Payload) {
	q.members = append(wire.AppendString(comma(q.members), key), ':')
	q.members = wire.AppendMember(append(q.members, '{'), "method", method)
	q.members = append(q.members, `,"params":`...)
	q.members = append(append(q.members, withoutProgress(RaiseQuestion(method, params)).Bytes()...), '}')
}

// Result returns the result. The state is what the client sends back with its answers; "" without
// one.
func (q *Questions) Result(state string) []byte {
	result := wire.AppendMember([]byte("{"), protocol.ResultType, protocol.ResultInputRequired)
	result = append(result, `,"`+protocol.InputRequests+`":{`...)
	result = append(append(result, q.members...), '}')
	if state != "" {
		result = wire.AppendMember(result, protocol.RequestState, state)
	}
	return append(result, '}')
}

// withoutProgress returns the params of a question without the wish for progress: a modern client
// has nothing to send it with.
func withoutProgress(params wire.Payload) wire.Payload {
	meta := params.Member(metaKey)
	isToken := func(key string) bool { return key == protocol.ProgressToken }
	if !has(meta, isToken) {
		return params
	}
	return wire.Raw(wire.AppendEdited(nil, params, wire.Edit{Part: meta, With: wire.AppendWithMembers(nil, meta, isToken, nil)}))
}

// RaisePages returns the result that asks a modern client to open pages, where a legacy server
// does so with an error and expects the call again afterwards. It is absent for any other error.
func RaisePages(rpcError wire.Payload) wire.Payload {
	if string(rpcError.Member("code").Bytes()) != strconv.Itoa(protocol.CodeURLElicitationRequired) {
		return wire.Payload{}
	}
	var questions Questions
	pages := 0
	for page := range rpcError.Member("data").Member("elicitations").Elements() {
		if page.Kind() == "object" {
			pages++
			questions.Add("page-"+strconv.Itoa(pages), protocol.MethodElicitation, page)
		}
	}
	if pages == 0 {
		return wire.Payload{}
	}
	return wire.Raw(questions.Result(""))
}
