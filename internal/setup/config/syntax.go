package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

const invalidJSON = "Invalid JSON in config file: "

// parseSyntax parses a configuration file, or reports the position of the first syntax error. It hides the parser's message where that
// quotes the file: a value with a wrong escape may be a password.
func parseSyntax(data []byte, r *report) (*hujson.Value, bool) {
	return parseJSON(data, r, invalidJSON)
}

// parseJSON is parseSyntax for any file; messages start with prefix.
func parseJSON(data []byte, r *report, prefix string) (*hujson.Value, bool) {
	refuse := func(offset int, message, hint string) (*hujson.Value, bool) {
		r.fail(offset, nil, prefix+message, hint)
		return nil, false
	}
	if !utf8.Valid(data) {
		hint := "save the file as UTF-8"
		if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
			hint = "it looks like UTF-16; " + hint
		}
		return refuse(firstInvalidUTF8(data), "the file is not valid UTF-8", hint)
	}
	tokens := lex(data)
	if tokens.tooDeep {
		return refuse(tokens.fault.offset, tokens.fault.message, tokens.fault.hint)
	}
	// The parser requires a line end after a line comment, even in the last line.
	value, err := hujson.Parse(append(bytes.Clone(data), '\n'))
	if err == nil {
		return &value, true
	}
	offset := min(r.parserOffset(err), len(data))
	if tokens.fault != nil && tokens.fault.token <= offset {
		return refuse(tokens.fault.offset, tokens.fault.message, tokens.fault.hint)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return refuse(len(bytes.TrimRight(data, " \t\r\n")), endOfFile(tokens.open, r), "")
	}
	message, hint := explain(errors.Unwrap(err).Error(), data[offset:])
	if tomlTable.Match(data) {
		hint = "this looks like TOML; to import the servers of a client's file: mcp-workbench init --from FILE"
	}
	return refuse(offset, message, hint)
}

// tomlTable is the head of a table in TOML, alone on its line.
var tomlTable = regexp.MustCompile(`(?m)^\s*\[[A-Za-z][\w.-]*\]\s*$`)

// parserOffset returns the byte offset of a parser error, which only its text contains.
func (r *report) parserOffset(err error) int {
	var line, column int
	if _, scanErr := fmt.Sscanf(err.Error(), "hujson: line %d, column %d:", &line, &column); scanErr != nil {
		return 0
	}
	if line < 1 || line > len(r.lines) {
		return len(r.data)
	}
	return r.lines[line-1] + column - 1
}

func endOfFile(open []int, r *report) string {
	if len(open) == 0 {
		return "the file is empty"
	}
	innermost := open[len(open)-1]
	return fmt.Sprintf("the file ends too early: the '%c' on line %d is not closed", r.data[innermost], r.line(innermost))
}

// explain translates the parser's message into the usual mistakes.
func explain(message string, rest []byte) (text, hint string) {
	switch {
	case strings.HasPrefix(message, "invalid literal"):
		return "this is not a JSON value", "keys and text need double quotes; the words are true, false and null"
	case bytes.HasPrefix(rest, []byte("'")):
		return message, "JSON uses double quotes"
	case strings.Contains(message, "expecting ','"):
		return message, "is a comma missing before this?"
	case strings.HasSuffix(message, "at start of object name"):
		return message, "keys need double quotes"
	}
	return message, ""
}

func firstInvalidUTF8(data []byte) int {
	offset := 0
	for {
		r, size := utf8.DecodeRune(data[offset:])
		if r == utf8.RuneError && size <= 1 {
			return offset
		}
		offset += size
	}
}
