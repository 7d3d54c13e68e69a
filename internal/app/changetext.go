package app

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/mcp-workbench/mcp-workbench/internal/base/hidden"
	"github.com/mcp-workbench/mcp-workbench/internal/base/linediff"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
)

const (
	// maxDiffLines bounds the lines of a diff; the rest is counted.
	maxDiffLines = 2_000
	// maxDefinitionLines bounds the lines of a definition that are compared; the rest is counted.
	maxDefinitionLines = 20_000
	// maxDefinitionDepth bounds how deep a definition is laid out; what is deeper is on one line.
	maxDefinitionDepth = 100
	// maxDiffColumns is where a long line is broken, in characters, so that a person sees which part of it changed.
	maxDiffColumns = 200
)

// diffOf returns the diff of a change, and what a person has to know about it. Without a former content, all lines are
// added.
func diffOf(change catalog.OpenChange, mask func(string) string) (diff []control.DiffLine, note string) {
	after, cut := layOut(change.After.Content, mask)
	var notes []string
	say := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	var lines []linediff.Line
	switch {
	case change.After.Content == nil:
		say("The definition cannot be shown: it is too large, or has a secret in a key.")
	case change.Before != nil && change.Before.Content != nil:
		before, cutBefore := layOut(change.Before.Content, mask)
		cut = max(cut, cutBefore)
		if bytes.Equal(before, after) && cut == 0 {
			say("Only white space, the spelling of characters, or a secret differs.")
		}
		lines = linediff.Lines(before, after)
	default:
		if change.Before != nil {
			say("The former content was not kept: this is all of the new one.")
		}
		lines = linediff.Lines(nil, after)
	}
	if more := len(lines) - maxDiffLines; more > 0 {
		lines, cut = lines[:maxDiffLines], cut+more
	}
	if cut > 0 {
		say("It is too long to be shown: at least %s left out.", toolbox.Count(cut, "line is", "lines are"))
	}
	for _, line := range lines {
		if line.Op == linediff.Skipped {
			line.Text = toolbox.Count(line.Count, "line that did not change", "lines that did not change")
		}
		diff = append(diff, control.DiffLine{Op: string(rune(line.Op)), Text: line.Text})
	}
	return diff, strings.Join(notes, " ")
}

// layout writes a definition in lines: each member on its own, and strings broken where they are, so that a diff shows
// what changed in a long text. Everything that people do not see is drawn.
type layout struct {
	mask  func(string) string
	out   bytes.Buffer
	lines int
	cut   int // lines that are left out
}

// layOut returns the lines of a definition, or of instructions, and how many of them are left out.
func layOut(content []byte, mask func(string) string) (text []byte, cut int) {
	if content == nil {
		return nil, 0
	}
	l := &layout{mask: mask}
	value := wire.Raw(content)
	if said, ok := value.Text(); ok {
		for line := range strings.SplitSeq(mask(said), "\n") {
			l.write("", hidden.Draw(line))
			l.end()
		}
		return l.out.Bytes(), l.cut
	}
	l.value(value, "", 0)
	l.end()
	return l.out.Bytes(), l.cut
}

func (l *layout) end() {
	if l.lines++; l.lines > maxDefinitionLines {
		l.cut++
		return
	}
	l.out.WriteByte('\n')
}

func (l *layout) put(text string) {
	if l.lines < maxDefinitionLines {
		l.out.WriteString(text)
	}
}

// write writes a text, broken into lines of a readable length.
func (l *layout) write(indent, text string) {
	for n := 0; len(text) > 0; n++ {
		if n > 0 {
			l.end()
			l.put(indent)
		}
		end := 0
		for range maxDiffColumns {
			_, size := utf8.DecodeRuneInString(text[end:])
			if end += size; end >= len(text) {
				break
			}
		}
		l.put(text[:end])
		text = text[end:]
	}
}

func (l *layout) value(value wire.Payload, indent string, depth int) {
	inner := indent + "  "
	switch kind := value.Kind(); {
	case depth > maxDefinitionDepth && (kind == "object" || kind == "array"):
		l.write(inner, hidden.Draw(l.mask(string(value.Bytes()))))
	case kind == "object":
		n := 0
		for key, member := range value.Members() {
			l.next("{", inner, n)
			l.text(string(key), inner)
			l.put(": ")
			l.value(member, inner, depth+1)
			n++
		}
		l.close("{", "}", indent, n)
	case kind == "array":
		n := 0
		for element := range value.Elements() {
			l.next("[", inner, n)
			l.value(element, inner, depth+1)
			n++
		}
		l.close("[", "]", indent, n)
	case kind == "string":
		text, _ := value.Text()
		l.text(text, inner)
	default:
		l.write(inner, hidden.Draw(string(value.Bytes())))
	}
}

// next begins the part of an object or an array with a number.
func (l *layout) next(opening, indent string, n int) {
	if n > 0 {
		opening = ","
	}
	l.put(opening)
	l.end()
	l.put(indent)
}

func (l *layout) close(opening, closing, indent string, n int) {
	if n == 0 {
		l.put(opening + closing)
		return
	}
	l.end()
	l.put(indent)
	l.put(closing)
}

var quoting = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// text writes a string, each of its lines on a line of its own.
func (l *layout) text(text, indent string) {
	parts := strings.Split(l.mask(text), "\n")
	l.put(`"`)
	for i, part := range parts {
		if i > 0 {
			l.put(`\n`)
			if part != "" || i < len(parts)-1 {
				l.end()
				l.put(indent)
			}
		}
		l.write(indent, hidden.Draw(quoting.Replace(part)))
	}
	l.put(`"`)
}
