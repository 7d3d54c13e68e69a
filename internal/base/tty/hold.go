package tty

import (
	"bytes"
	"fmt"
	"io"
	"sync"
)

// maxHeld is the size of the lines that are held back while a question waits; of more, the number is told instead.
const maxHeld = 64 << 10

// holding holds back the lines of a program's own log while a person is asked something: a terminal has one cursor, and
// so a program has one of these.
var holding struct {
	mu        sync.Mutex
	questions int // under way; they nest
	held      []heldLine
	size      int
	dropped   int // lines beyond maxHeld
}

type heldLine struct {
	out  io.Writer
	text []byte
}

// HoldLines holds back what is written to Behind writers until release is called: the lines follow the answer.
func HoldLines() (release func()) {
	holding.mu.Lock()
	defer holding.mu.Unlock()
	holding.questions++
	return sync.OnceFunc(func() {
		holding.mu.Lock()
		defer holding.mu.Unlock()
		if holding.questions--; holding.questions == 0 {
			writeHeld()
		}
	})
}

// writeHeld writes what was held back. It is called with mu held.
func writeHeld() {
	var last io.Writer
	for _, line := range holding.held {
		_, _ = line.out.Write(line.text) // a log that cannot be written is nobody's concern
		last = line.out
	}
	if holding.dropped > 0 {
		fmt.Fprintf(last, "… and %d more lines\n", holding.dropped)
	}
	holding.held, holding.size, holding.dropped = nil, 0, 0
}

// Behind returns a writer for lines that never break into a question: see HoldLines.
func Behind(out io.Writer) io.Writer { return behind{out} }

type behind struct{ out io.Writer }

func (b behind) Write(text []byte) (int, error) {
	holding.mu.Lock()
	defer holding.mu.Unlock()
	switch {
	case holding.questions == 0:
		return b.out.Write(text)
	case holding.size+len(text) > maxHeld && len(holding.held) > 0:
		holding.dropped += bytes.Count(text, []byte("\n"))
	default:
		holding.held = append(holding.held, heldLine{b.out, bytes.Clone(text)})
		holding.size += len(text)
	}
	return len(text), nil
}
