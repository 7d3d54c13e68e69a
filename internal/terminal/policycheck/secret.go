package policycheck

import (
	"fmt"

	"github.com/mcp-workbench/mcp-workbench/internal/base/secret"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// secretIn returns the kind of the first secret of a known form in a value, and where it is; "" if there is none.
func secretIn(value wire.Payload, at string) (path, kind string) {
	if text, ok := value.Text(); ok {
		_, kind = secret.MaskForms(text)
		return at, kind
	}
	for name, member := range value.Members() {
		below := string(name)
		if at != "" {
			below = at + "." + below
		}
		if path, kind = secretIn(member, below); kind != "" {
			return path, kind
		}
	}
	i := 0
	for element := range value.Elements() {
		if path, kind = secretIn(element, fmt.Sprintf("%s[%d]", at, i)); kind != "" {
			return path, kind
		}
		i++
	}
	return "", ""
}
