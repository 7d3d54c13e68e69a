package config

import (
	"net/url"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/secret"
)

// expansion is a string with its variables replaced, and everything to report about it.
type expansion struct {
	text     string
	values   []string // inserted by variables and defaults
	shown    []string // defaults that are addresses: a person has to see where a server is
	unset    []string // variables without a value or default
	unclosed []string // name-like text after each ${ without a closing brace
	literal  []string // look-alikes, left unchanged
	pieces   []Piece  // of a text with forms; otherwise nil
	wrong    []string // what is wrong with forms
}

// expand is expandForms for a text that cannot have forms.
func expand(s string, lookup func(string) (string, bool)) expansion {
	return expandForms(s, lookup, false)
}

// expandForms replaces ${VAR} and ${VAR:-default} in one pass and never expands a value again. $${ is a literal ${, and any
// other ${…} stays unchanged. An unchanged ${ needs a closing brace of its own, so that a missing brace is detected
// even if a later variable contains one. With forms, the pieces of a text that names secrets are told apart; no value of a
// variable is taken for a form.
func expandForms(s string, lookup func(string) (string, bool), forms bool) expansion {
	if !strings.Contains(s, "${") {
		return expansion{text: s}
	}
	var e expansion
	var out strings.Builder
	begin := 0 // of the literal piece, in out
	for s != "" {
		switch {
		case strings.HasPrefix(s, "$${"):
			out.WriteString("${")
			s = s[len("$${"):]
		case forms && e.takeForm(&s, &out, &begin):
		case strings.HasPrefix(s, "${"):
			ref := parseReference(s)
			if ref.size == 0 {
				e.keepLiteral(ref.shown, ref.name)
				out.WriteString("${")
				s = s[len("${"):]
				continue
			}
			out.WriteString(e.resolve(ref, lookup))
			s = s[ref.size:]
		default:
			if s[0] == '}' && len(e.unclosed) > 0 {
				e.unclosed = e.unclosed[:len(e.unclosed)-1]
			}
			plain := 1 + strings.IndexAny(s[1:], "$}")
			if plain == 0 {
				plain = len(s)
			}
			out.WriteString(s[:plain])
			s = s[plain:]
		}
	}
	e.text = out.String()
	if e.pieces != nil && begin < len(e.text) {
		e.pieces = append(e.pieces, Piece{Text: e.text[begin:]})
	}
	return e
}

// takeForm moves a form from the beginning of s to out, and reports whether there was one.
func (e *expansion) takeForm(s *string, out *strings.Builder, begin *int) bool {
	form, size, wrong := parseForm(*s)
	if wrong != "" {
		e.wrong = addOnce(e.wrong, "${"+string(form.Kind)+":…} "+wrong)
	}
	if size == 0 {
		return false
	}
	if *begin < out.Len() {
		e.pieces = append(e.pieces, Piece{Text: out.String()[*begin:]})
	}
	out.WriteString(form.Text)
	e.pieces = append(e.pieces, Piece{Form: &form})
	*s, *begin = (*s)[size:], out.Len()
	return true
}

// keepLiteral records a ${ that is left unchanged and still needs its closing brace.
func (e *expansion) keepLiteral(shown, name string) {
	e.literal = addOnce(e.literal, shown)
	e.unclosed = append(e.unclosed, name)
}

// resolve returns the replacement of the reference.
func (e *expansion) resolve(ref reference, lookup func(string) (string, bool)) string {
	for range strings.Count(ref.fallback, "${") - strings.Count(ref.fallback, "$${") {
		e.keepLiteral("${"+ref.name+":-${…}}", ref.name)
	}
	value, set := lookup(ref.name)
	if !set && !ref.hasFallback {
		e.unset = addOnce(e.unset, ref.name)
		return "${" + ref.name + "}"
	}
	if !set {
		value = strings.ReplaceAll(ref.fallback, "$${", "${")
	}
	if !set && isWebAddress(value) && !secret.Is(ref.name, value) {
		e.shown = append(e.shown, value)
		return value
	}
	e.values = append(e.values, value)
	return value
}

// isWebAddress reports whether a text is the URL of a server.
func isWebAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
}

// addOnce limits how much one string can report.
func addOnce(list []string, item string) []string {
	const most = 20
	if len(list) == most || slices.Contains(list, item) {
		return list
	}
	return append(list, item)
}

// reference is the text after a "${".
type reference struct {
	name        string
	fallback    string
	hasFallback bool
	size        int    // in bytes, with ${ and }; 0 if this is not a reference
	shown       string // otherwise the part that a message may show
}

// parseReference parses [A-Z_][A-Z0-9_]* followed by } or :-default}. For other text only the name-like start is kept:
// the rest may be part of a password, and messages must not show it.
func parseReference(s string) reference {
	inner := s[len("${"):]
	end := 0
	for end < len(inner) && isNameByte(inner[end]) {
		end++
	}
	name, rest := inner[:end], inner[end:]
	ref := reference{name: name}
	if isVariableName(name) {
		if strings.HasPrefix(rest, "}") {
			ref.size = len("${") + len(name) + len("}")
			return ref
		}
		fallback, isDefault := strings.CutPrefix(rest, ":-")
		fallback, _, closed := strings.Cut(fallback, "}")
		if isDefault && closed {
			ref.fallback, ref.hasFallback = fallback, true
			ref.size = len("${") + len(name) + len(":-") + len(fallback) + len("}")
			return ref
		}
	}
	const longest = 40
	ref.name = name[:min(len(name), longest)]
	ref.shown = "${" + ref.name + "…"
	if ref.name == name && strings.HasPrefix(rest, "}") {
		ref.shown = "${" + name + "}"
	}
	return ref
}

func isNameByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func isVariableName(name string) bool {
	return name != "" && strings.ToUpper(name) == name && (name[0] < '0' || name[0] > '9')
}
