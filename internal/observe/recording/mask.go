package recording

import (
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/secret"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// secretNames are parts of names whose values are secrets, without case and separators.
var secretNames = []string{
	"password", "passwd", "passphrase", "secret", "apikey", "accesskey", "privatekey", "credential",
	"accesstoken", "authtoken", "refreshtoken", "idtoken", "bearertoken", "sessiontoken", "authorization", "cookie",
}

// mask hides the secrets of messages: known values, values of members with telling names, and values of known forms.
type mask struct{ known func(text string) string }

func (m mask) text(text string) string {
	return secret.MaskLoosely(m.known(hideMembers(text)))
}

// hideMembers hides the values of members with telling names in JSON inside a text, complete or not, quoted once or
// several times.
func hideMembers(text string) string {
	var hidden strings.Builder
	done := 0
	for at := 0; ; {
		name, next, ok := quoted(text, at)
		if !ok {
			break
		}
		at += strings.IndexByte(text[at:], '"') + 1 // the inside may be JSON itself
		after := strings.TrimLeft(text[next:], " \t\r\n")
		if !strings.HasPrefix(after, ":") {
			continue
		}
		begin := len(text) - len(strings.TrimLeft(after[1:], " \t\r\n"))
		_, end, ok := quoted(text, begin)
		if !ok || !isSecretName(name) || strings.Trim(text[begin:begin+1], `\"`) != "" {
			continue
		}
		mark := text[begin : begin+strings.IndexByte(text[begin:], '"')+1] // the quote, as escaped here
		hidden.WriteString(text[done:begin] + mark + secret.Mask + mark)
		done, at = end, end
	}
	hidden.WriteString(text[done:])
	return hidden.String()
}

// quoted returns the next quoted text from a position, and its end. A quote after some backslashes is closed by one
// after as many.
func quoted(text string, from int) (inside string, end int, ok bool) {
	first := strings.IndexByte(text[from:], '"')
	if first < 0 {
		return "", 0, false
	}
	begin := from + first + 1
	level := backslashes(text, from, begin-1)
	for at := begin; ; {
		next := strings.IndexByte(text[at:], '"')
		if next < 0 {
			return "", 0, false
		}
		at += next
		// Each quoting doubles the backslashes of a text, and adds one before each quote.
		if n := backslashes(text, begin, at); n%(2*level+2) == level {
			return text[begin : at-level], at + 1, true
		}
		at++
	}
}

// backslashes counts the backslashes directly before a position, not beyond from.
func backslashes(text string, from, at int) int {
	n := 0
	for at-n > from && text[at-n-1] == '\\' {
		n++
	}
	return n
}

// message returns the message with its secrets hidden, otherwise unchanged.
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
