package process

import (
	"bytes"
	"os"
	"strings"
	"sync"
	"time"
)

const (
	maxTail      = 64 << 10 // bytes of stderr kept per process; older lines are dropped
	maxLine      = 4 << 10  // bytes of one line of stderr; the rest of it is dropped
	lineOverhead = 16       // bytes that a kept line needs besides its text
)

// stderrTail reads a child's stderr to its end, so that the child never blocks on it, and keeps the last lines.
type stderrTail struct {
	file     *os.File
	tap      func(line string) // may be nil
	finished chan struct{}     // closed by read

	mu      sync.Mutex
	lines   []string
	size    int    // of lines, with overhead; at most maxTail
	partial []byte // the incomplete last line; at most maxLine
	cut     bool   // partial was truncated
}

func newStderrTail(file *os.File, tap func(string)) *stderrTail {
	return &stderrTail{file: file, tap: tap, finished: make(chan struct{})}
}

// read runs until the pipe ends or is closed.
func (t *stderrTail) read() {
	defer close(t.finished)
	buf := make([]byte, 32<<10)
	for {
		n, err := t.file.Read(buf)
		t.consume(buf[:n])
		if err != nil {
			t.endLine()
			return
		}
	}
}

// drain waits until everything was read, at most limit.
func (t *stderrTail) drain(limit time.Duration) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-t.finished:
	case <-timer.C:
	}
}

// close ends read, whoever holds the other end, and waits for it.
func (t *stderrTail) close() {
	_ = t.file.Close()
	t.drain(drainLimit) // bounded, because a tap may block
}

func (t *stderrTail) consume(chunk []byte) {
	for len(chunk) > 0 {
		text, rest, complete := bytes.Cut(chunk, []byte{'\n'})
		t.extend(text)
		if complete {
			t.completeLine()
		}
		chunk = rest
	}
}

func (t *stderrTail) extend(text []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if room := maxLine - len(t.partial); len(text) > room {
		text, t.cut = text[:room], true
	}
	t.partial = append(t.partial, text...)
}

// endLine completes a last line without a line end.
func (t *stderrTail) endLine() {
	t.mu.Lock()
	empty := len(t.partial) == 0
	t.mu.Unlock()
	if !empty {
		t.completeLine()
	}
}

func (t *stderrTail) completeLine() {
	t.mu.Lock()
	line := t.partialLine()
	t.partial, t.cut = t.partial[:0], false
	t.lines = append(t.lines, line)
	t.size += len(line) + lineOverhead
	for t.size > maxTail {
		t.size -= len(t.lines[0]) + lineOverhead
		t.lines[0] = "" // frees the text while the array lives
		t.lines = t.lines[1:]
	}
	t.mu.Unlock()
	if t.tap != nil {
		t.tap(line)
	}
}

// partialLine returns the current line as valid UTF-8 for a log or a JSON string.
func (t *stderrTail) partialLine() string {
	line := strings.ToValidUTF8(strings.TrimSuffix(string(t.partial), "\r"), "\uFFFD")
	if t.cut {
		line += "…"
	}
	return line
}

func (t *stderrTail) tail(maxLines int) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := append([]string{}, t.lines...)
	if len(t.partial) > 0 {
		lines = append(lines, t.partialLine())
	}
	if maxLines > 0 && len(lines) > maxLines {
		lines = lines[len(lines)-maxLines:]
	}
	return lines
}
