package httpauth

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
)

// Right is a use that a token permits.
type Right string

// The rights of tokens.
const (
	Calls   Right = "calls"   // to use MCP: toolboxes and their tools
	Metrics Right = "metrics" // to read the number, durations and errors of calls
	Page    Right = "page"    // to inspect the workbench with a browser
)

// Rights are all rights.
var Rights = []Right{Calls, Metrics, Page}

// checkRights validates rights and returns them in canonical order; none means Calls.
func checkRights(given []Right) ([]Right, error) {
	if len(given) == 0 {
		return []Right{Calls}, nil
	}
	var rights []Right
	for _, right := range Rights {
		if slices.Contains(given, right) {
			rights = append(rights, right)
		}
	}
	for _, right := range given {
		if !slices.Contains(Rights, right) {
			return nil, &toolbox.Error{
				Code:    toolbox.TokenInvalid,
				Message: fmt.Sprintf("A token cannot be for '%.50s'", string(right)),
				Hint:    "It can be for " + JoinRights(Rights) + ".",
			}
		}
	}
	return rights, nil
}

// JoinRights lists rights for people.
func JoinRights(rights []Right) string {
	names := make([]string, len(rights))
	for i, right := range rights {
		names[i] = string(right)
	}
	return strings.Join(names, ", ")
}
