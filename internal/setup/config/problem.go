package config

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
)

// Problem is a mistake in a file, or something probably unintended.
type Problem struct {
	File         string // absolute path; "" with a single file
	Line, Column int    // from 1, columns in characters; 0 if it concerns the whole file
	Path         string // such as config.toolboxes.dev.mcpServers.files.args[0]; "" if none
	Message      string // may hold several lines
	Hint         string // what to do; may be empty
}

// String returns the position and the message, followed by the path and the hint on separate lines.
func (p Problem) String() string {
	var b strings.Builder
	if p.File != "" {
		b.WriteString(p.File + ":")
	}
	if p.Line > 0 {
		fmt.Fprintf(&b, "%d:%d: ", p.Line, p.Column)
	}
	b.WriteString(strings.ReplaceAll(p.Message, "\n", "\n    "))
	if p.Path != "" && !strings.Contains(p.Message, p.Path) {
		b.WriteString("\n    at " + p.Path)
	}
	if p.Hint != "" {
		b.WriteString("\n    hint: " + strings.ReplaceAll(p.Hint, "\n", "\n    "))
	}
	return b.String()
}

// onOneLine returns the problem with a one-line message, without the path and the hint. Further lines of the message
// follow in brackets.
func (p Problem) onOneLine() Problem {
	first, rest, _ := strings.Cut(p.Message, "\n")
	var more []string
	for line := range strings.SplitSeq(rest, "\n") {
		if line != "" && (p.Path == "" || !strings.Contains(line, p.Path)) {
			more = append(more, line)
		}
	}
	if len(more) > 0 {
		first += " (" + strings.Join(more, ", ") + ")"
	}
	p.Message, p.Path, p.Hint = first, "", ""
	return p
}

// Error holds all mistakes of one file.
type Error struct {
	Code     toolbox.Code // one per file, whatever the number of problems
	File     string
	Problems []Problem // never empty, in file order
	Warnings []Problem // shown as well, since a mistyped key is often the cause
}

// Error returns one message for a person: each problem with its position, and the number of problems if there are
// several.
func (e *Error) Error() string {
	var b strings.Builder
	for _, p := range e.Problems {
		b.WriteString(inFile(e.File, p) + "\n")
	}
	for _, p := range e.Warnings {
		p.Message = "warning: " + p.Message
		b.WriteString(inFile(e.File, p) + "\n")
	}
	if len(e.Problems) > 1 {
		fmt.Fprintf(&b, "%d problems in %s", len(e.Problems), e.File)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// ErrorCode returns the code for 'explain'.
func (e *Error) ErrorCode() toolbox.Code { return e.Code }

// OneLine returns the first problem on one line.
func (e *Error) OneLine() string { return inFile(e.File, e.Problems[0].onOneLine()) }

// maxBriefProblems is the number of problems in Brief; further ones are only counted.
const maxBriefProblems = 10

// Brief returns the error for a client: the first problems without warnings, and how to see all.
func (e *Error) Brief() string {
	first := &Error{Code: e.Code, File: e.File, Problems: e.Problems[:min(len(e.Problems), maxBriefProblems)]}
	if more := len(e.Problems) - len(first.Problems); more > 0 {
		return fmt.Sprintf("%s, and %d more; to see them all, run: mcp-workbench validate", first, more)
	}
	return first.Error()
}

// inFile writes the position in the form that editors and terminals link.
func inFile(file string, p Problem) string {
	if p.File != "" {
		return p.String()
	}
	if p.Line > 0 {
		return file + ":" + p.String()
	}
	return file + ": " + p.String()
}

// quote formats a name from the file for a message. Names are arbitrary text, so control characters are escaped and
// long names are cut.
func quote(name string) string {
	const longest = 100
	if runes := []rune(name); len(runes) > longest {
		name = string(runes[:longest]) + "…"
	}
	if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		escaped := strconv.Quote(name)
		name = escaped[1 : len(escaped)-1]
	}
	return "'" + name + "'"
}
