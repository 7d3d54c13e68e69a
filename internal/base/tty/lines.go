package tty

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
)

// maxLine is the length of a line that is read from a person or a pipe; a longer one is refused.
const maxLine = 64 << 10

// Lines reads an input line by line. A read that nobody waits for any more goes on: its line is for the next one who waits,
// and it ends at the latest with the program.
type Lines struct {
	in *bufio.Reader

	mu     sync.Mutex
	unread chan answer // of a read that nobody waits for; nil without one
}

type answer struct {
	text string
	err  error
}

// NewLines reads lines from an input that nobody else reads.
func NewLines(in io.Reader) *Lines { return &Lines{in: bufio.NewReaderSize(in, maxLine)} }

// Read waits for a line, with its line end, until the context ends. At the end of the input it returns the rest and io.EOF.
func (l *Lines) Read(ctx context.Context) (string, error) { return l.await(ctx, l.next) }

// next reads a line.
func (l *Lines) next() (string, error) {
	line, err := l.in.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return string(line), err
	}
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = l.in.ReadSlice('\n')
	}
	if err != nil {
		return "", err
	}
	return "", fmt.Errorf("the line is longer than %d bytes", maxLine)
}

// await waits for a pending read, or else for read.
func (l *Lines) await(ctx context.Context, read func() (string, error)) (string, error) {
	l.mu.Lock()
	answered := l.unread
	if answered == nil {
		answered = make(chan answer, 1)
		go func() {
			text, err := read()
			answered <- answer{text, err}
		}()
	}
	l.unread = answered
	l.mu.Unlock()
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case a := <-answered:
		l.mu.Lock()
		l.unread = nil
		l.mu.Unlock()
		return a.text, a.err
	}
}
