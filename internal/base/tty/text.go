package tty

import (
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"

	"github.com/mcp-workbench/mcp-workbench/internal/base/hidden"
)

// cutMark stands for what was left out.
const cutMark = "…"

// Clean makes foreign text harmless: it removes everything that moves the cursor, changes colours or
// hides text. Lines and tabs stay. All foreign text passes through Clean, CleanLine or trust.Quote
// before it is written.
func Clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\r' || r == '\u2028' || r == '\u2029' || r == utf8.RuneError {
			return -1
		}
		return r
	}, hidden.Strip(sequences.ReplaceAllString(text, "")))
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

// Cleaned returns a writer that cleans everything, for commands without escape sequences of their
// own, and wraps it for a terminal. A foreign text has to be written in one call.
func Cleaned(out io.Writer) io.Writer {
	if _, isScreen := out.(*Screen); !isScreen {
		out = New(out, nil, os.Getenv)
	}
	return cleaned{out}
}

type cleaned struct{ out io.Writer }

func (c cleaned) Write(text []byte) (int, error) {
	if _, err := io.WriteString(c.out, Clean(string(text))); err != nil {
		return 0, err
	}
	return len(text), nil
}
