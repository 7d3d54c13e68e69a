package call

import (
	"fmt"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// Ambiguous says what is wrong with the params of a message that another program may read otherwise than we do, and that
// so get past what we check: a member that stands twice, or once more in other letters. It is "" where nothing is, and
// where the method is not known here. What is inside of arguments is for the server alone.
func Ambiguous(method string, params wire.Payload) string {
	if !protocol.Decides(method) {
		return ""
	}
	if problem := AmbiguousMembers(params); problem != "" {
		return problem
	}
	for _, inner := range protocol.DecisiveObjects {
		if problem := AmbiguousMembers(params.Member(inner)); problem != "" {
			return problem
		}
	}
	return ""
}

// AmbiguousMembers does the same for the members of one object.
func AmbiguousMembers(object wire.Payload) string {
	var seen []string
	for name := range object.Members() {
		key, decides := protocol.DecisiveKey(name)
		if problem := AmbiguousKey(key, seen); problem != "" {
			return problem
		}
		if decides {
			seen = append(seen, key)
		}
	}
	return ""
}

// AmbiguousKey does the same for one key, with those that came before it and are decisive.
func AmbiguousKey(key string, before []string) string {
	if protocol.IsTwin(key) {
		return fmt.Sprintf("Invalid params: the member '%.100s' differs from a known one only in the case of its letters", key)
	}
	for _, other := range before {
		if key == other {
			return fmt.Sprintf("Invalid params: the member '%s' stands twice", key)
		}
	}
	return ""
}
