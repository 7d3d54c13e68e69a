package terminal

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
	width, _ := s.Size()
	room := width - column
	margin := "\n" + strings.Repeat(" ", column)
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		if room >= minWrapped {
			lines = append(lines, wrapLine(line, room)...)
		} else {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, margin)
}

// wrapLine breaks one line. A word that is longer than the room stays whole, so that it can
// be copied.
func wrapLine(line string, room int) []string {
	var lines []string
	var current strings.Builder
	used := 0
	for _, word := range strings.Split(line, " ") {
		length := runewidth.StringWidth(sequences.ReplaceAllString(word, ""))
		if used > 0 && used+1+length > room {
			lines = append(lines, current.String())
			current.Reset()
			used = 0
		}
		if used > 0 {
			current.WriteByte(' ')
			used++
		}
		current.WriteString(word)
		used += length
	}
	return append(lines, current.String())
}
