package tty

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
)

// formattedError is an error that has a layout of its own, such as that of a configuration file.
type formattedError interface {
	error
	ErrorCode() toolbox.Code
}

// Remark writes one sentence of the program. The sentence may quote foreign text, such as an error.
func Remark(out io.Writer, sentence string) {
	fmt.Fprintln(New(out, nil, os.Getenv), "mcp-workbench: "+Clean(sentence))
}

// Describe formats an error for a person, without wrapping lines.
func Describe(err error) string { return (&Screen{}).Describe(err) }

// Describe formats an error for a person: message, hint, code. Joined errors are described one
// by one. Lines are wrapped to fit the screen.
func (s *Screen) Describe(err error) string {
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		var texts []string
		for _, one := range several.Unwrap() {
			texts = append(texts, s.Describe(one))
		}
		return strings.Join(texts, "\n")
	}
	if formatted, ok := errors.AsType[formattedError](err); ok {
		return s.WrapLines(Clean(err.Error()) + codeLine(formatted.ErrorCode()))
	}
	text, hint, code := err.Error(), "", toolbox.Code("")
	if known, ok := errors.AsType[*toolbox.Error](err); ok {
		if text == known.Error() {
			text, hint = known.Message, known.Hint
		}
		code = known.Code
	}
	text = Clean(text)
	if hint != "" {
		text += "\n  hint: " + strings.ReplaceAll(Clean(hint), "\n", "\n    ")
	}
	return s.WrapLines("mcp-workbench: " + text + codeLine(code))
}

// codeLine returns the line that names the code of an error and the command that explains it.
func codeLine(code toolbox.Code) string {
	switch code {
	case "":
		return ""
	case toolbox.Usage: // the hint names the help to read
		return "\n  code: " + string(code)
	}
	return fmt.Sprintf("\n  code: %s (explained by: mcp-workbench explain %s)", code, code)
}
