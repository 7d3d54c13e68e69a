// Package tty is the terminal of a person: colours, tables that fit, lines that update in place,
// questions, error messages, and cleaning of foreign text.
package tty

import (
	"io"
	"os"
	"strconv"

	"golang.org/x/term"
)

// Screen is where a person reads, and the keyboard that they answer with. What is written to the screen is wrapped. What is copied or
// compared, such as a diff or the result of a tool, is written to its Writer, and stays as it is.
type Screen struct {
	io.Writer
	file   *os.File // nil unless what is written goes to a terminal
	width  int      // when it is no terminal; 0: no limit
	colour bool

	canMove bool // the cursor can, so that lines update in place

	pictures pictureProtocol

	keyboard *os.File // nil unless a person can answer
	lines    *Lines   // of the keyboard
}

// New makes a screen of the output and input of a command. Only terminals have colour, and not with
// NO_COLOR; COLUMNS is the width if the output is not a terminal.
func New(out io.Writer, in io.Reader, getenv func(string) string) *Screen {
	s := &Screen{Writer: out}
	if file := fileOf(out); file != nil && term.IsTerminal(int(file.Fd())) {
		s.file = file
		s.canMove = getenv("TERM") != "dumb"
		s.colour = getenv("NO_COLOR") == "" && s.canMove
		s.pictures = picturesOf(getenv)
	} else if width, err := strconv.Atoi(getenv("COLUMNS")); err == nil && width > 0 {
		s.width = width
	}
	if file, ok := in.(*os.File); ok && s.file != nil && term.IsTerminal(int(file.Fd())) {
		s.keyboard, s.lines = file, NewLines(file)
	}
	return s
}

// IsTerminal reports whether the output is a terminal.
func (s *Screen) IsTerminal() bool { return s.file != nil }

// CanUpdate reports whether lines can update in place: on a terminal that moves its cursor.
func (s *Screen) CanUpdate() bool { return s.canMove }

// IsInteractive reports whether a person sees the output and can answer.
func (s *Screen) IsInteractive() bool { return s.keyboard != nil }

// Lines returns the lines that a person types; nil if nobody can answer.
func (s *Screen) Lines() *Lines { return s.lines }

// IsInteractive reports whether a person sees what is written to out and can answer on stdin.
func IsInteractive(out io.Writer) bool {
	file := fileOf(out)
	return file != nil && term.IsTerminal(int(file.Fd())) && term.IsTerminal(int(os.Stdin.Fd()))
}

// On is the screen with its size and colours, but writes elsewhere first.
func (s *Screen) On(out io.Writer) *Screen {
	copied := *s
	copied.Writer = out
	return &copied
}

// Size returns columns and rows; 0 is no limit. It is asked each time, since windows change.
func (s *Screen) Size() (width, height int) {
	if s.file != nil {
		if w, h, err := term.GetSize(int(s.file.Fd())); err == nil && w > 0 {
			return w, h
		}
		return 80, 24
	}
	return s.width, 0
}

// Style is how a text stands out.
type Style string

// The styles say what a text means, not how it looks.
const (
	Plain   Style = ""
	Strong  Style = "1"
	Faint   Style = "2"
	Good    Style = "32"
	Bad     Style = "31"
	Caution Style = "33"
	Name    Style = "36"
)

// Paint gives a text its style, where there is colour.
func (s *Screen) Paint(style Style, text string) string {
	if !s.colour || style == Plain || text == "" {
		return text
	}
	return "\x1b[" + string(style) + "m" + text + "\x1b[0m"
}
