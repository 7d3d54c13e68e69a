package approval

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcp-workbench/mcp-workbench/internal/base/hidden"
	"github.com/mcp-workbench/mcp-workbench/internal/base/secret"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// This file shows the arguments of a call to a person.

const (
	maxArguments = 50      // arguments that are shown; of further ones the number is
	maxDepth     = 50      // how deep values may nest that are shown, since each level is read once more; what is deeper is not
	maxText      = 300     // bytes of a value that are shown; of a longer one the shape is, and how it begins
	maxBeginning = 120     // bytes of the beginning of a longer text that are shown; the rest is not
	maxExamined  = 8 << 10 // bytes of a text that are searched for secrets, since no more can be shown
	maxName      = 60      // bytes of an argument's name that are shown; the rest is not
	maxNames     = 10      // names of an object's members that are shown; of further ones the number is
)

// viewer shows values, with secrets masked.
type viewer struct{ mask func(text string) string }

// arguments returns one line for each argument; "" if there are none. Servers may accept arguments that are not an object.
func (v viewer) arguments(arguments wire.Payload) string {
	if kind := arguments.Kind(); kind != "object" && !arguments.IsAbsent() {
		return "not an object: " + v.value("", arguments)
	}
	var lines []string
	count := 0
	for key, value := range arguments.Members() {
		if count++; count <= maxArguments {
			lines = append(lines, v.name(string(key))+": "+v.value(string(key), value))
		}
	}
	if count > maxArguments {
		lines = append(lines, fmt.Sprintf("… and %d more", count-maxArguments))
	}
	return strings.Join(lines, "\n")
}

var plainName = regexp.MustCompile(`^[\w.-]+$`)

// name shows the name of an argument. A name that could be mistaken for something else is quoted.
func (v viewer) name(name string) string {
	name = cut(v.masked(name), maxName)
	if plainName.MatchString(name) {
		return name
	}
	return quote(name)
}

// value shows a value as JSON if it is short, and otherwise its shape.
func (v viewer) value(name string, value wire.Payload) string {
	text, isText := value.Text()
	if isText && len(text) > maxText {
		if isSecret(name, text) {
			return secret.Mask
		}
		lines := ""
		if count := 1 + strings.Count(strings.TrimSuffix(text, "\n"), "\n"); count > 1 {
			lines = fmt.Sprintf(" in %d lines", count)
		}
		return fmt.Sprintf("text of %d characters%s that begins with %s", utf8.RuneCountInString(text), lines, quote(cut(v.masked(text), maxBeginning)))
	}
	shown := string(v.appendJSON(nil, name, value, 1, secret.IsNamed(name)))
	if len(shown) <= maxText {
		return shown
	}
	switch value.Kind() {
	case "object":
		return v.shapeOfObject(value)
	case "array":
		count := 0
		for range value.Elements() {
			count++
		}
		return fmt.Sprintf("list of %d values that begins with %s", count, cut(shown, maxBeginning))
	}
	return cut(shown, maxText)
}

func (v viewer) shapeOfObject(object wire.Payload) string {
	var names []string
	count := 0
	for key := range object.Members() {
		if count++; count <= maxNames {
			names = append(names, v.name(string(key)))
		}
	}
	text := fmt.Sprintf("object with %d members: %s", count, strings.Join(names, ", "))
	if count > maxNames {
		text += ", …"
	}
	return text
}

// appendJSON appends a value at a depth without spaces, as far as it may be shown. Everything inside of a value with the name
// of a secret is one.
func (v viewer) appendJSON(dst []byte, name string, value wire.Payload, depth int, isNamed bool) []byte {
	switch {
	case len(dst) > maxText:
		return dst
	case depth > maxDepth:
		return append(dst, "…"...)
	}
	switch value.Kind() {
	case "object":
		dst = append(dst, '{')
		for key, member := range value.Members() {
			if dst[len(dst)-1] != '{' {
				dst = append(dst, ", "...)
			}
			dst = append(append(dst, v.name(string(key))...), ": "...)
			dst = v.appendJSON(dst, string(key), member, depth+1, isNamed || secret.IsNamed(string(key)))
			if len(dst) > maxText {
				return dst
			}
		}
		return append(dst, '}')
	case "array":
		dst = append(dst, '[')
		for element := range value.Elements() {
			if dst[len(dst)-1] != '[' {
				dst = append(dst, ", "...)
			}
			if dst = v.appendJSON(dst, name, element, depth+1, isNamed); len(dst) > maxText {
				return dst
			}
		}
		return append(dst, ']')
	case "string":
		text, _ := value.Text()
		if isNamed && secret.MayBe(text) || isSecret(name, text) {
			return append(dst, secret.Mask...)
		}
		return append(dst, quote(v.masked(text))...)
	}
	raw := value.Bytes()
	if isNamed && secret.MayBe(string(raw[:min(len(raw), maxText)])) {
		return append(dst, secret.Mask...)
	}
	return append(dst, v.mask(string(raw[:min(len(raw), maxText+1)]))...)
}

func isSecret(name, text string) bool { return secret.Is(name, text[:min(len(text), maxExamined)]) }

// masked returns the beginning of a text without secrets.
func (v viewer) masked(text string) string {
	return v.mask(secret.MaskWithin(text[:min(len(text), maxExamined)]))
}

// cut returns at most so many bytes of a text, in whole characters.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit] + "…"
}

// lineEnds are those that JSON does not escape.
var lineEnds = strings.NewReplacer("\u2028", `\u2028`, "\u2029", `\u2029`)

// quote returns a text on one line, with everything that cannot be seen escaped.
func quote(text string) string {
	return lineEnds.Replace(string(hidden.AppendEscaped(nil, wire.AppendString(nil, text))))
}

// shownTool quotes the name of a tool. Its server chose the name, which must not look like anything else of the question.
func shownTool(ref toolbox.Ref) string {
	name := ref.Toolbox + "/" + ref.Server + "/" + ref.Name
	isOdd := func(r rune) bool { return r == '\'' || r != ' ' && unicode.IsSpace(r) }
	if hidden.Has(name) || len(name) > maxText || strings.ContainsFunc(name, isOdd) {
		return quote(cut(name, maxText))
	}
	return "'" + name + "'"
}

// oneLine returns a text of the policy without line ends, and without what cannot be seen.
func oneLine(text string) string { return strings.Join(strings.Fields(hidden.Clean(text)), " ") }
