package terminal

import (
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

// cutMark stands for what was left out.
const cutMark = "…"

// Clean makes a text of somebody else harmless: what would move the cursor, change colours
// or hide something is taken out. Lines and tabs stay. Every text that is not our own goes through it, CleanLine, or
// trust.Quote before it is written.
func Clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || isHidden(r) {
			return -1
		}
		return r
	}, sequences.ReplaceAllString(text, ""))
}

// isHidden reports that a character makes a terminal do something, or cannot be seen: controls, marks of direction and other
// formats, tags, selectors of variations (but the one of emoji), fillers, and what has no meaning that all agree on.
func isHidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < 0x7f:
		return r < ' '
	case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs, unicode.Zl, unicode.Zp):
		return true
	case r == 0x034f, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, 0x180b <= r && r <= 0x180f, r == 0x3164, r == 0xffa0,
		0xfe00 <= r && r <= 0xfe0e, 0xe0000 <= r && r <= 0xe0fff:
		return true
	}
	return false
}

// CleanLine is Clean for what has to stay on one line.
func CleanLine(text string) string {
	return strings.Join(strings.Fields(Clean(text)), " ")
}

// Cut shortens a text to a width, with a mark; 0 is no limit.
func Cut(text string, width int) string {
	if width <= 0 || runewidth.StringWidth(text) <= width {
		return text
	}
	return runewidth.Truncate(text, width, cutMark)
}

// Wrap breaks a line between words into lines of a width; 0 is no limit. A word that is
// longer has a line of its own, and is cut where that is shown.
func Wrap(text string, width int) []string {
	lines := []string{""}
	for _, word := range strings.Fields(text) {
		last := &lines[len(lines)-1]
		switch {
		case *last == "":
			*last = word
		case width <= 0 || runewidth.StringWidth(*last)+1+runewidth.StringWidth(word) <= width:
			*last += " " + word
		default:
			lines = append(lines, word)
		}
	}
	return lines
}

// pad fills a text up to a width.
func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-runewidth.StringWidth(text)))
}

// Cleaned is a writer for commands that have no sequences of their own: everything is cleaned. A text of somebody else has to
// be written at once.
func Cleaned(out io.Writer) io.Writer { return cleaned{out} }

type cleaned struct{ out io.Writer }

func (c cleaned) Write(text []byte) (int, error) {
	if _, err := io.WriteString(c.out, Clean(string(text))); err != nil {
		return 0, err
	}
	return len(text), nil
}
