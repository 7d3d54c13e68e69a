// Package journal keeps the last lines of a log in memory, for those who read it later or follow it.
package journal

import (
	"strings"
	"sync"
	"time"
)

// Bounds of what is kept of one log; older lines are forgotten.
const (
	MaxLines = 1000
	MaxBytes = 64 << 10
	MaxLine  = 8 << 10 // of one line; the rest of it is dropped
)

// Line is one line of a log, without secrets.
type Line struct {
	Time time.Time
	Text string
}

// Journal is the last lines of a log. The zero value is empty and ready to use, from any goroutine.
type Journal struct {
	mu    sync.Mutex
	lines []Line
	size  int           // of the texts
	first uint64        // number of lines[0] since the beginning
	added chan struct{} // closed at the next line; nil if nobody waits
}

// Add adds a line.
func (j *Journal) Add(text string) {
	if len(text) > MaxLine {
		text = strings.ToValidUTF8(text[:MaxLine], "") + "…"
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, Line{time.Now(), text})
	j.size += len(text)
	for len(j.lines) > MaxLines || j.size > MaxBytes && len(j.lines) > 1 {
		j.size -= len(j.lines[0].Text)
		j.lines = j.lines[1:]
		j.first++
	}
	if j.added != nil {
		close(j.added)
		j.added = nil
	}
}

// Since returns the lines from a number on that are still kept, 0 for all, the number of the next one, and a channel
// that is closed when it is there.
func (j *Journal) Since(number uint64) (lines []Line, next uint64, more <-chan struct{}) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.added == nil {
		j.added = make(chan struct{})
	}
	from := max(number, j.first) - j.first
	next = j.first + uint64(len(j.lines))
	if from < uint64(len(j.lines)) {
		lines = append(lines, j.lines[from:]...)
	}
	return lines, next, j.added
}
