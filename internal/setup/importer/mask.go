package importer

import (
	"regexp"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/secret"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/clients"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/configwrite"
)

// shortestMasked is the shortest masked text, in bytes. Without it a password "a" would hide every "a".
const shortestMasked = 4

// Masker masks what looks like a secret anywhere in a client's file, since a diff shows more than
// the changed lines.
func Masker(file string, contents [][]byte, sources []clients.Source) *secret.Masker {
	var values []string
	add := func(value string) {
		if len(value) >= shortestMasked {
			values = append(values, value)
		}
	}
	for _, content := range contents {
		for _, text := range clients.Texts(file, content) {
			if secret.Is(text.Name, text.Value) && !isReference(text) {
				add(text.Value)
				if _, credentials, ok := strings.Cut(text.Value, " "); ok {
					add(credentials)
				}
			}
		}
	}
	names := &configwrite.Names{}
	for _, source := range sources {
		for _, server := range source.Servers {
			if entry, err := encode(server); err == nil {
				_, _, _ = configwrite.Conceal(server.Name, entry, names) // what it finds is in names
			}
		}
	}
	for _, variable := range names.Added() {
		add(variable.Value)
	}
	return secret.NewMasker(values)
}

// reference matches a value that is in a variable, in the notation of any client, possibly after the scheme of a header.
var (
	reference    = regexp.MustCompile(`^([A-Za-z]+ )?(\$\{(env:|input:)?[A-Za-z_][A-Za-z0-9_-]*\}|\{env:[A-Za-z_][A-Za-z0-9_]*\})$`)
	variableName = regexp.MustCompile(`^[A-Z_][A-Z0-9_]*$`)
)

// isReference reports whether a text names a variable instead of holding a secret.
func isReference(text clients.Text) bool {
	if text.Name == "bearer_token_env_var" {
		return variableName.MatchString(text.Value) && !secret.LooksRandom(text.Value)
	}
	return reference.MatchString(text.Value)
}

// MaskedEnv returns the content of a workbench.env with all values masked; nil for nil.
func MaskedEnv(content []byte) []byte {
	if content == nil {
		return nil
	}
	var out strings.Builder
	for line := range strings.Lines(string(content)) {
		name, _, ok := strings.Cut(line, "=")
		if ok && !strings.HasPrefix(strings.TrimSpace(line), "#") {
			line = name + "=" + secret.Mask + "\n"
		}
		out.WriteString(line)
	}
	return []byte(out.String())
}
