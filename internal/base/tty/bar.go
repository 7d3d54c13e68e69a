package tty

import (
	"fmt"
	"strings"
	"sync"
)

const barWidth = 24

// Bar shows how far something is, on a terminal that can write over a line alone: it is gone when it is done.
type Bar struct {
	screen *Screen
	mu     sync.Mutex
	shown  bool
}

// Bar makes a progress bar, which is invisible until the first Show.
func (s *Screen) Bar() *Bar { return &Bar{screen: s} }

// Show changes the bar. Without a total, there is only the message and the count.
func (b *Bar) Show(progress, total float64, message string) {
	if !b.screen.canMove {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	text := fmt.Sprintf("%v %s", progress, CleanLine(message))
	if total > 0 {
		filled := int(max(0, min(1, progress/total)) * barWidth)
		text = fmt.Sprintf("%s%s %3.0f%% %s", b.screen.Paint(Good, strings.Repeat("█", filled)),
			b.screen.Paint(Faint, strings.Repeat("░", barWidth-filled)), max(0, min(100, 100*progress/total)), CleanLine(message))
	}
	b.draw(text)
}

// Say shows a message while the progress is unknown.
func (b *Bar) Say(text string) {
	if !b.screen.canMove {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.draw(b.screen.Paint(Faint, CleanLine(text)))
}

// draw writes over what was there. The caller holds the lock.
func (b *Bar) draw(text string) {
	width, _ := b.screen.Size()
	fmt.Fprint(b.screen, "\r\x1b[K"+CutPainted(text, width-1))
	b.shown = true
}

// Clear removes the bar, so that something else can be written.
func (b *Bar) Clear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.shown {
		fmt.Fprint(b.screen, "\r\x1b[K")
		b.shown = false
	}
}
