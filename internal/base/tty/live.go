package tty

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Live is a block of lines that update in place. Where that is not possible, each line is written
// once, when it is done.
type Live struct {
	screen *Screen
	mu     sync.Mutex
	lines  []*Line
	drawn  int // lines of the block that are on the screen
	inline bool
}

// Line is one line of a block. It may be used from any goroutine.
type Line struct {
	live *Live
	text string
	done bool
}

// Live starts a block of lines. A block higher than the screen cannot update in place.
func (s *Screen) Live(lines int) *Live {
	_, height := s.Size()
	l := &Live{screen: s, inline: s.canMove && lines < height}
	for range lines {
		l.lines = append(l.lines, &Line{live: l})
	}
	return l
}

// Line returns one of the lines, counted from 0.
func (l *Live) Line(i int) *Line { return l.lines[i] }

// Show changes the line for now.
func (l *Line) Show(text string) { l.set(text, false) }

// Done writes the line for good.
func (l *Line) Done(text string) { l.set(text, true) }

func (l *Line) set(text string, done bool) {
	block := l.live
	block.mu.Lock()
	defer block.mu.Unlock()
	if l.done {
		return
	}
	l.text, l.done = text, done
	switch {
	case block.inline:
		block.draw()
	case done:
		fmt.Fprintln(block.screen, text)
	}
}

// continued is the column where the second line of a long one begins.
const continued = 2

// draw writes the block over itself. Lines are cut until all are done: then they are whole, since nothing is written over them any
// more. The caller holds the lock.
func (l *Live) draw() {
	var out strings.Builder
	if l.drawn > 0 {
		fmt.Fprintf(&out, "\x1b[%dA", l.drawn)
	}
	width, _ := l.screen.Size()
	isLast := !slices.ContainsFunc(l.lines, func(line *Line) bool { return !line.done })
	for _, line := range l.lines {
		text := CutPainted(line.text, width)
		if isLast {
			text = strings.ReplaceAll(l.screen.Wrap(line.text, continued), "\n", "\n\x1b[K")
		}
		out.WriteString("\r\x1b[K" + text + "\n")
	}
	l.drawn = len(l.lines)
	fmt.Fprint(l.screen, out.String())
}

// CutPainted is Cut for a text with styles: they take no room, and end with the text.
func CutPainted(text string, width int) string {
	bare := sequences.ReplaceAllString(text, "")
	if width <= 0 || Cut(bare, width) == bare {
		return text
	}
	room := len(Cut(bare, width)) - len(cutMark)
	var out strings.Builder
	for len(text) > 0 {
		if at := sequences.FindStringIndex(text); at != nil && at[0] == 0 {
			out.WriteString(text[:at[1]])
			text = text[at[1]:]
			continue
		}
		switch {
		case room > 0:
			out.WriteByte(text[0])
		case room == 0:
			out.WriteString(cutMark)
		}
		room--
		text = text[1:]
	}
	return out.String()
}
