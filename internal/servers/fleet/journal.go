package fleet

import (
	"sync"
	"time"
)

// Bounds of what is kept of the stderr of one server.
const (
	journalLines = 1000
	journalBytes = 64 << 10
)

// Line is one line that a server wrote to stderr, without secrets.
type Line struct {
	Time time.Time
	Text string
}

// journal is the last stderr of a server, over all its lives. Its variants share it.
type journal struct {
	mu    sync.Mutex
	lines []Line
	size  int           // of the texts
	first uint64        // number of lines[0] since the beginning
	added chan struct{} // closed at the next line; nil if nobody waits
}

func (j *journal) add(text string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, Line{time.Now(), text})
	j.size += len(text)
	for len(j.lines) > journalLines || j.size > journalBytes && len(j.lines) > 1 {
		j.size -= len(j.lines[0].Text)
		j.lines = j.lines[1:]
		j.first++
	}
	if j.added != nil {
		close(j.added)
		j.added = nil
	}
}

// since returns the lines from a number on that are still kept, the number of the next
// one, and a channel that is closed when it is there.
func (j *journal) since(number uint64) (lines []Line, next uint64, more <-chan struct{}) {
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

// Journal returns the lines of the server's stderr from a number on, 0 for all that are
// kept, with the number of the next one and a channel that is closed when it is there.
func (s *Server) Journal(number uint64) (lines []Line, next uint64, more <-chan struct{}) {
	return s.journal.since(number)
}
