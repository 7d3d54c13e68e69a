package era

import (
	"strconv"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// RaisePages returns the result by which a modern client is asked to open pages, where a
// legacy server does that with an error, and says to try again then. It is absent for any
// other error.
func RaisePages(rpcError wire.Payload) wire.Payload {
	if string(rpcError.Member("code").Bytes()) != strconv.Itoa(protocol.CodeURLElicitationRequired) {
		return wire.Payload{}
	}
	result := wire.AppendMember([]byte("{"), protocol.ResultType, protocol.ResultInputRequired)
	result = append(result, `,"`+protocol.InputRequests+`":{`...)
	pages := 0
	for page := range rpcError.Member("data").Member("elicitations").Elements() {
		if page.Kind() != "object" {
			continue
		}
		if pages++; pages > 1 {
			result = append(result, ',')
		}
		result = append(wire.AppendString(result, "page-"+strconv.Itoa(pages)), ':')
		result = wire.AppendMember(append(result, '{'), "method", protocol.MethodElicitation)
		result = append(result, `,"params":`...)
		result = append(append(result, RaiseQuestion(protocol.MethodElicitation, page).Bytes()...), '}')
	}
	if pages == 0 {
		return wire.Payload{}
	}
	return wire.Raw(append(result, "}}"...))
}
