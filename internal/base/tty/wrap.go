package tty

import (
	"strings"

	"github.com/mattn/go-runewidth"
)

// minWrapped is the narrowest column that text is wrapped to: below that, the terminal may
// break lines as it likes.
const minWrapped = 20

// Wrap breaks the lines of a text between words so that they fit the width, beginning with
// the second at a column. Styles take no room. Without a limit nothing is broken.
func (s *Screen) Wrap(text string, column int) string {
	return s.wrap(text, column, func(line string) []string { return strings.Split(line, " ") })
}

// WrapClauses is Wrap that breaks lines behind punctuation only, so that a command that
// stands in the text can still be copied.
func (s *Screen) WrapClauses(text string, column int) string { return s.wrap(text, column, clauses) }

func (s *Screen) wrap(text string, column int, pieces func(line string) []string) string {
	width, _ := s.Size()
	room := width - column
	margin := "\n" + strings.Repeat(" ", column)
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		if room >= minWrapped {
			lines = append(lines, wrapLine(pieces(line), room)...)
		} else {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, margin)
}

// clauses takes a line apart at the spaces behind punctuation.
func clauses(line string) (all []string) {
	for i := 1; i < len(line); i++ {
		if line[i] == ' ' && strings.IndexByte(",;:.?", line[i-1]) >= 0 {
			all = append(all, line[:i])
			line, i = line[i+1:], 0
		}
	}
	return append(all, line)
}

// wrapLine breaks one line. A piece that is longer than the room stays whole, so that it can
// be copied.
func wrapLine(pieces []string, room int) []string {
	var lines []string
	var current strings.Builder
	used := 0
	for _, piece := range pieces {
		length := runewidth.StringWidth(sequences.ReplaceAllString(piece, ""))
		if used > 0 && used+1+length > room {
			lines = append(lines, current.String())
			current.Reset()
			used = 0
		}
		if used > 0 {
			current.WriteByte(' ')
			used++
		}
		current.WriteString(piece)
		used += length
	}
	return append(lines, current.String())
}
