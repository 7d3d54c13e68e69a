package recording

import (
	"regexp"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/secret"
	"github.com/mcp-workbench/mcp-workbench/internal/wire"
)

// shapes are values that are secrets wherever they stand: well-known tokens, keys, and
// what follows the scheme of an authorization.
var shapes = regexp.MustCompile(`(?:gh[pousr]_|github_pat_|glpat-|xox[abeoprs]-|sk-|pk_live_|sk_live_|rk_live_|AKIA|ASIA|AIza|ya29\.|npm_|hf_|dop_v1_|shpat_)[A-Za-z0-9_\-]{12,}` +
	`|eyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]*` +
	`|(?i:bearer|basic) +[A-Za-z0-9_\-.~+/=]{8,}` +
	`|-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*-----END [A-Z ]*PRIVATE KEY-----`)

// secretNames are parts of names whose values are secrets, without case and separators.
var secretNames = []string{
	"password", "passwd", "passphrase", "secret", "apikey", "accesskey", "privatekey", "credential",
	"accesstoken", "authtoken", "refreshtoken", "idtoken", "bearertoken", "sessiontoken", "authorization", "cookie",
}

// mask hides the secrets of messages: values that are known, names that say so, shapes
// that are known.
type mask struct{ known *secret.Masker }

func (m mask) text(text string) string {
	return shapes.ReplaceAllString(m.known.Mask(text), secret.Mask)
}

// message returns the message with its secrets hidden; all else stays as it is.
func (m mask) message(value wire.Payload) []byte {
	var edits []wire.Edit
	m.collect(value, false, &edits)
	return wire.AppendEdited(nil, value, edits...)
}

func (m mask) collect(value wire.Payload, hidden bool, edits *[]wire.Edit) {
	switch value.Kind() {
	case "object":
		for key, member := range value.Members() {
			m.collect(member, isSecretName(string(key)), edits)
		}
	case "array":
		for element := range value.Elements() {
			m.collect(element, hidden, edits)
		}
	case "string":
		text, _ := value.Text()
		shown := secret.Mask
		if !hidden {
			shown = m.text(text)
		}
		if shown != text && text != "" {
			*edits = append(*edits, wire.Edit{Part: value, With: wire.AppendString(nil, shown)})
		}
	}
}

func isSecretName(name string) bool {
	plain := strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == ' ' || r == '.' {
			return -1
		}
		return r
	}, strings.ToLower(name))
	if plain == "token" || plain == "pin" || plain == "otp" {
		return true
	}
	for _, part := range secretNames {
		if strings.Contains(plain, part) {
			return true
		}
	}
	return false
}
