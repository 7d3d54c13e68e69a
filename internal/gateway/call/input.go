package call

import (
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
)

// unfinished returns an error for a result of a modern server that is not final; nil if it is. A legacy client would
// mistake it for an empty success.
func unfinished(result wire.Payload) error {
	kind := result.Member(protocol.ResultType)
	if name, _ := kind.Text(); kind.IsAbsent() || name == protocol.ResultComplete {
		return nil
	}
	return &Failure{Message: "the server's result is of a type that this version of the workbench does not know"}
}

// inputNames returns the kinds of input that a server asks for.
func inputNames(questions wire.Payload) (names []string) {
	for _, request := range questions.Members() {
		method, _ := request.Member("method").Text()
		area, _, _ := strings.Cut(method, "/")
		names = append(names, area)
	}
	return names
}

// capabilityNames returns the capabilities that a server requires of the client.
func capabilityNames(rpc *downstream.RPCError) (names []string) {
	for name := range rpc.Object.Member("data").Member("requiredCapabilities").Members() {
		names = append(names, string(name))
	}
	return names
}

// kinds lists the names that the protocol knows, each once. It omits others, since a server can put any text there.
func kinds(names []string) string {
	var known []string
	for _, name := range []string{"elicitation", "sampling", "roots"} {
		if slices.Contains(names, name) {
			known = append(known, name)
		}
	}
	if len(known) == 0 {
		return ""
	}
	return " (" + strings.Join(known, ", ") + ")"
}
