package call

import (
	"fmt"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// Ambiguous describes the problem with params that a server could parse differently than the workbench, and that could
// so bypass its checks: a duplicate member, or one that differs only in case. It returns "" if there is no problem, or if
// the method is unknown. Tool arguments are not checked.
func Ambiguous(method string, params wire.Payload) string {
	if !protocol.HasDecisiveMembers(method) {
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

// AmbiguousMembers checks the members of one object.
func AmbiguousMembers(object wire.Payload) string {
	seen := make([]string, 0, 8) // stays on the stack
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

// AmbiguousKey checks one key against the decisive keys before it.
func AmbiguousKey(key string, before []string) string {
	if protocol.IsCaseVariant(key) {
		return fmt.Sprintf("Invalid params: the member '%.100s' differs from a known one only in the case of its letters", key)
	}
	for _, other := range before {
		if key == other {
			return fmt.Sprintf("Invalid params: the member '%s' stands twice", key)
		}
	}
	return ""
}
