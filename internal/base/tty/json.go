package tty

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode"
	"unicode/utf16"

	"github.com/mcp-workbench/mcp-workbench/internal/base/hidden"
)

// WriteJSON writes one value for scripts. Characters that a person cannot see, or that would make a terminal do something, are
// escaped: the value is the same.
func WriteJSON(out io.Writer, value any) error {
	if screen, ok := out.(*Screen); ok {
		out = screen.Writer // strings are not broken
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		return err
	}
	_, err := out.Write(EscapeJSON(text.Bytes()))
	return err
}

// EscapeJSON escapes invisible characters in valid JSON, where they can only be inside strings.
func EscapeJSON(text []byte) []byte {
	text = hidden.AppendEscaped(nil, text)
	isSeen := func(r rune) bool { // characters that fonts do not know are not hidden, but no help either
		return r == '\n' || r == '\t' || r == '\r' || r == 0xfffd || unicode.IsPrint(r)
	}
	if bytes.IndexFunc(text, func(r rune) bool { return !isSeen(r) }) < 0 {
		return text
	}
	escaped := make([]byte, 0, len(text)+64)
	for _, r := range string(text) {
		if isSeen(r) {
			escaped = append(escaped, string(r)...)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			escaped = fmt.Appendf(escaped, `\u%04x`, unit)
		}
	}
	return escaped
}
