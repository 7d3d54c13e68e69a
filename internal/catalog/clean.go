package catalog

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/mcp-workbench/mcp-workbench/internal/wire"
)

// Text that people cannot see, but a model reads, is a way to smuggle instructions
// into a definition. It is removed where prose stands, and only there: what a tool
// computes with (enum, const, default, pattern) never changes.

// maxCleanDepth is how deep prose is looked for; no schema comes near it.
const maxCleanDepth = 500

// cleaning returns the edits that take invisible text out of a definition.
func cleaning(definition wire.Payload) []wire.Edit {
	if !suspicious(definition.Bytes()) {
		return nil
	}
	return appendCleaning(nil, definition, false, 0)
}

// appendCleaning looks for prose in a value. In a map of schemas the keys are names that
// the server gave, not keywords: a parameter may well be called "pattern".
func appendCleaning(edits []wire.Edit, value wire.Payload, isMap bool, depth int) []wire.Edit {
	if depth > maxCleanDepth {
		return edits
	}
	for element := range value.Elements() {
		edits = appendCleaning(edits, element, false, depth+1)
	}
	for key, member := range value.Members() {
		holdsMap := false
		switch string(key) {
		case "enum", "const", "default", "pattern":
			if !isMap {
				continue
			}
		case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
			holdsMap = !isMap
		case "name", "title", "description":
			if text, ok := member.Text(); ok {
				if clean := CleanText(text); clean != text {
					edits = append(edits, wire.Edit{Part: member, With: wire.AppendString(nil, clean)})
				}
				continue
			}
		}
		edits = appendCleaning(edits, member, holdsMap, depth+1)
	}
	return edits
}

// cleaningEntry returns the edits that take invisible text out of what people read in the entry
// of a list, and in the arguments of a prompt. Names stay: they are what is asked for.
func cleaningEntry(entry wire.Payload) (edits []wire.Edit) {
	if !suspicious(entry.Bytes()) {
		return nil
	}
	for key, member := range entry.Members() {
		switch string(key) {
		case "title", "description":
			if text, ok := member.Text(); ok && CleanText(text) != text {
				edits = append(edits, wire.Edit{Part: member, With: wire.AppendString(nil, CleanText(text))})
			}
		case "arguments":
			for argument := range member.Elements() {
				edits = append(edits, cleaningEntry(argument)...)
			}
		}
	}
	return edits
}

// suspicious tells whether a definition can hold anything to remove at all: nearly
// all are plain ASCII without escaped control characters.
func suspicious(raw []byte) bool {
	for i, c := range raw {
		if c >= 0x7f {
			return true
		}
		if c == '\\' && i+1 < len(raw) && (raw[i+1] == 'u' || raw[i+1] == 'b' || raw[i+1] == 'f') {
			return true
		}
	}
	return false
}

// terminalSequence matches what makes a terminal do something: control sequences,
// strings for the terminal up to their end, and other escapes.
var terminalSequence = regexp.MustCompile(
	`(?:\x1b\[|\x{9b})[0-?]*[ -/]*[@-~]` +
		`|(?:\x1b[\]PX^_]|[\x{9d}\x{90}\x{98}\x{9e}\x{9f}])[^\x07\x1b\x{9c}]*(?:\x07|\x1b\\|\x{9c})?` +
		`|\x1b[ -/]*[0-~]`)

// terminalIntroducers are what a terminal sequence may begin with. Looking for them first
// is much faster than the expression.
const terminalIntroducers = "\x1b\u0090\u0098\u009b\u009d\u009e\u009f"

// CleanText removes what people and models cannot see from a text.
func CleanText(text string) string {
	if strings.IndexFunc(text, isInvisible) < 0 {
		return text
	}
	if strings.ContainsAny(text, terminalIntroducers) {
		text = terminalSequence.ReplaceAllString(text, "")
	}
	return strings.Map(func(r rune) rune {
		if isInvisible(r) {
			return -1
		}
		return r
	}, text)
}

func isInvisible(r rune) bool {
	switch {
	case r == '\t', r == '\n', r == '\r':
		return false
	case unicode.IsControl(r):
		return true
	case r == 0x200b, 0x2060 <= r && r <= 0x2064, r == 0xfeff,
		0x202a <= r && r <= 0x202e, 0x2066 <= r && r <= 0x2069, 0xe0000 <= r && r <= 0xe007f:
		return true
	}
	return false
}
