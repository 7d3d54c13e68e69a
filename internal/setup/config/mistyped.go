package config

import (
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
)

// literalHint says what could have been meant by a look-alike of a variable or a form in a text, of which shown is the start.
func literalHint(text, shown string, mayHaveForms bool) string {
	const variables = "variables are ${NAME} or ${NAME:-default} with NAME in capitals"
	const literal = "; write $${ for a literal ${"
	start := strings.TrimSuffix(shown, "…")
	if !mayHaveForms || start == shown || !strings.Contains(text, start+":") || strings.Contains(text, start+":-") {
		return variables + literal
	}
	kinds := make([]string, len(formKinds))
	for i, kind := range formKinds {
		kinds[i] = string(kind)
	}
	forms := "secrets are ${keyring:NAME}, ${exec:COMMAND ARGS}, ${file:PATH} or ${credential:NAME}; "
	if near := toolbox.Nearest(strings.TrimPrefix(start, "${"), kinds, 1); len(near) > 0 {
		forms = "did you mean ${" + near[0] + ":…}? " + forms
	}
	return forms + variables + literal
}
