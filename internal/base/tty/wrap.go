package tty

import (
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/mattn/go-runewidth"
)

// minWrapped is the narrowest column that text is wrapped to: below that, the terminal may
// break lines as it likes.
const minWrapped = 20

// Write implements io.Writer: lines that do not fit are wrapped as WrapLines does. A line has to be written in one call. What moves the
// cursor has a layout of its own.
func (s *Screen) Write(text []byte) (int, error) {
	shown := string(text)
	if !strings.ContainsAny(bareStyles(shown), "\r\x1b") {
		shown = s.WrapLines(shown)
	}
	if _, err := io.WriteString(s.Writer, shown); err != nil {
		return 0, err
	}
	return len(text), nil
}

// Wrap breaks the lines of a text between words so that they fit the width, beginning with
// the second at a column. Styles take no room. A command of this program, which a person copies, is never broken. Without a
// limit nothing is broken.
func (s *Screen) Wrap(text string, column int) string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		lines = append(lines, s.wrapLine(line, column, 0)...)
	}
	return strings.Join(lines, "\n"+strings.Repeat(" ", column))
}

// WrapLines is Wrap for lines that are indented already: what is broken off a line is indented a little further.
func (s *Screen) WrapLines(text string) string {
	const further = 2
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		indent := len(line) - len(strings.TrimLeft(line, " "))
		margin := "\n" + strings.Repeat(" ", indent+further)
		lines = append(lines, strings.Join(s.wrapLine(line, indent+further, indent+further), margin))
	}
	return strings.Join(lines, "\n")
}

// wrapLine breaks one line into pieces for a column; the first piece stands so many columns further left. A piece that is longer than
// the room stays whole, so that it can be copied.
func (s *Screen) wrapLine(line string, column, outdent int) []string {
	width, _ := s.Size()
	if width-column < minWrapped {
		return []string{line}
	}
	room := width - column + outdent
	var lines []string
	var current strings.Builder
	used := 0
	for _, piece := range pieces(line) {
		length := runewidth.StringWidth(bare(piece))
		if used > 0 && used+1+length > room {
			lines = append(lines, strings.TrimRight(current.String(), " "))
			current.Reset()
			used, room = 0, width-column
			piece = strings.TrimLeft(piece, " ")
			length = runewidth.StringWidth(bare(piece))
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

// Instruct writes a text with indented lines that are to be pasted somewhere: they stay as they are.
func (s *Screen) Instruct(text string) {
	for line := range strings.Lines(text) {
		out := io.Writer(s)
		if strings.HasPrefix(line, " ") {
			out = s.Writer
		}
		_, _ = io.WriteString(out, Clean(line)) // an output that fails says so itself
	}
}

// program is the first word of commands that a person copies.
const program = "mcp-workbench"

// pieces takes a line apart at the spaces where it may be broken: between words, but not within a command.
func pieces(line string) (all []string) {
	words := strings.Split(line, " ")
	for len(words) > 0 {
		count := 1
		for count < len(words) && words[count-1] == "" { // spaces belong to the word after them
			count++
		}
		if opening, name, isCommand := strings.Cut(bare(words[count-1]), program); isCommand && name == "" && strings.Trim(opening, "'\"(`") == "" {
			count += commandWords(words[count:], strings.Trim(opening, "("))
		}
		all = append(all, strings.Join(words[:count], " "))
		words = words[count:]
	}
	return all
}

// commandWords returns how many words belong to a command that begins before them: up to the end of the sentence, or of the quotation.
func commandWords(words []string, quote string) int {
	isQuoted := false // an argument that goes on
	for i, word := range words {
		word = bare(word)
		switch {
		case quote != "":
			if strings.Contains(word, quote) {
				return i + 1
			}
			continue
		case !isQuoted && (slices.Contains([]string{"", "and", "if", "or", "to"}, word) || strings.HasPrefix(word, "(")):
			return i
		}
		isQuoted = isQuoted != (strings.Count(word, "'")%2 == 1)
		if !isQuoted && len(word) > 1 && !strings.HasSuffix(word, "..") && strings.ContainsAny(word[len(word)-1:], ",;:.?)") {
			return i + 1
		}
	}
	return len(words)
}

var styles = regexp.MustCompile("\x1b\\[[0-9;]*m")

// bareStyles returns a text without styles, but with other sequences.
func bareStyles(text string) string { return styles.ReplaceAllString(text, "") }

// bare returns a text without sequences.
func bare(text string) string { return sequences.ReplaceAllString(text, "") }
