package importer

import (
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
			if secret.Is(text.Name, text.Value) {
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
