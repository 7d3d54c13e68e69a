package audit

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mcp-workbench/mcp-workbench/internal/base/hidden"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// The events.
const (
	eventLog        = "log"  // about the log itself
	eventSeal       = "seal" // a signature over everything before
	eventLost       = "lost" // lines that could not be written
	eventCall       = "call"
	eventRefused    = "refused"
	eventQuestion   = "question"
	eventAnswer     = "answer"
	eventDefinition = "definition"
	eventServer     = "server"
	eventReload     = "reload"
	eventToken      = "token"
	eventLogin      = "login"
	eventUI         = "ui" // what a person did on the page
)

const maxText = 300 // bytes of a text from a client, a server or a configuration; the rest is cut off

// fields are the members of a line, without braces.
type fields []byte

// newFields begins a line.
func newFields(event, outcome string) fields {
	return make(fields, 0, 512).text("event", event).text("outcome", outcome)
}

func (f fields) name(name string) fields {
	if len(f) > 0 {
		f = append(f, ',')
	}
	f = append(f, '"')
	f = append(f, name...)
	return append(f, '"', ':')
}

// text adds a member unless it is empty.
func (f fields) text(name, value string) fields {
	if value == "" {
		return f
	}
	return wire.AppendString(f.name(name), cut(value, maxText))
}

func (f fields) number(name string, value int64) fields {
	return strconv.AppendInt(f.name(name), value, 10)
}

// milliseconds adds a duration that is given in microseconds, with three decimals.
func (f fields) milliseconds(name string, microseconds int64) fields {
	return strconv.AppendFloat(f.name(name), float64(microseconds)/1000, 'f', 3, 64)
}

// hexadecimal adds bytes as digits.
func (f fields) hexadecimal(name string, value []byte) fields {
	const digits = "0123456789abcdef"
	f = append(f.name(name), '"')
	for _, b := range value {
		f = append(f, digits[b>>4], digits[b&15])
	}
	return append(f, '"')
}

// list adds an array of texts.
func (f fields) list(name string, values []string) fields {
	f = append(f.name(name), '[')
	for i, value := range values {
		if i > 0 {
			f = append(f, ',')
		}
		f = wire.AppendString(f, value)
	}
	return append(f, ']')
}

func (f fields) bytes() []byte { return f }

// cut shortens a text to a number of bytes.
func cut(text string, to int) string {
	if len(text) <= to {
		return text
	}
	for to > 0 && !utf8.RuneStart(text[to]) {
		to--
	}
	return text[:to] + "…"
}

// foreign returns a text that a client or a server chose, as it may be recorded: without secrets of the configuration, and with
// characters shown that cannot be seen.
func (l *Log) foreign(text string) string {
	if text == "" {
		return ""
	}
	return hidden.Show(cut(strings.ToValidUTF8(l.options.Mask(text), "\ufffd"), maxText))
}
