package downstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// queueLimit bounds the bytes that wait for a server that does not read.
const queueLimit = 4 << 20

// drainTime is how long a server whose input broke may still send answers.
const drainTime = 500 * time.Millisecond

// stdio speaks with a process through its standard input and output, a message a line.
type stdio struct {
	session *Session
	stdin   io.WriteCloser
	stdout  io.ReadCloser
	writer  *wire.Writer
	taken   func() (taken, known bool) // Options.InputTaken
}

func newStdio(s *Session) *stdio {
	return &stdio{
		session: s, stdin: s.options.Stdin, stdout: s.options.Stdout,
		writer: wire.NewWriter(s.options.Stdin, queueLimit), taken: s.options.InputTaken,
	}
}

func (t *stdio) open(context.Context) error {
	t.session.run(t.read)
	t.session.run(t.watchWriter)
	return nil
}

// read is the session's one reader: what it hands on stays in the server's order.
func (t *stdio) read() {
	s := t.session
	reader := wire.NewReader(t.stdout, s.options.MaxMessage)
	reader.MaxSkip = endless * int64(s.options.MaxMessage)
	reader.Gather = true
	for {
		frame, err := reader.Next()
		if tooLong, ok := errors.AsType[*wire.TooLongError](err); ok {
			s.skipped(tooLong)
			continue
		}
		switch {
		case errors.Is(err, io.EOF):
			err = ErrOutputClosed
		case errors.Is(err, wire.ErrEndless):
			err = fmt.Errorf("the server sent %w", err)
		}
		if err != nil {
			s.finish(err)
			return
		}
		// A legacy server may not even take the probe for a request.
		_ = s.receive(frame, probeKey) // the next line may be usable
	}
}

// watchWriter ends the session when the server's input breaks, but lets answers
// that are under way arrive first.
func (t *stdio) watchWriter() {
	s := t.session
	select {
	case <-t.writer.Closed():
		patience := time.NewTimer(drainTime)
		defer patience.Stop()
		select {
		case <-s.life.Done():
		case <-patience.C:
			s.finish(fmt.Errorf("%w: %w", ErrInputBroken, t.writer.Err()))
		}
	case <-s.life.Done():
	}
	// A write that is stuck ends when close has closed the server's input.
	_ = t.writer.Close(s.life)
}

// send waits in the background for a server that does not read.
func (t *stdio) send(request outgoing) {
	if request.owned {
		if !t.writer.TryWriteOwned(request.message) {
			t.sendLater(request.id, request.message, t.writer.WriteOwned)
		}
	} else if !t.writer.TryWrite(request.message) {
		t.sendLater(request.id, request.message, t.writer.Write)
	}
}

func (t *stdio) sendLater(id uint64, message []byte, write func(context.Context, []byte) error) {
	s := t.session
	s.run(func() {
		if err := write(s.life, message); err != nil {
			s.fail(id, fmt.Errorf("%w: %w", ErrInputBroken, err))
		}
	})
}

func (t *stdio) begin(ctx context.Context, _ protocol.Revision, initialized []byte) error {
	if initialized == nil {
		return nil
	}
	return t.writer.Write(ctx, initialized)
}

func (t *stdio) reply(message []byte) bool { return t.writer.TryWrite(message) }

func (t *stdio) forget(uint64) {}

func (t *stdio) cancel(id uint64, notice []byte) { t.send(outgoing{id: id, message: notice}) }

func (t *stdio) isUnread() bool {
	if t.taken == nil {
		return false
	}
	taken, known := t.taken()
	return known && !taken
}

func (t *stdio) canAsk() bool { return true }

// blame leaves the opening alone if the server is known not to have read it: then it would
// have ended anyway.
func (t *stdio) blame(opening OpeningError) error {
	var taken, known bool
	if t.taken != nil {
		taken, known = t.taken()
	}
	broken := t.writer.Err()
	unwritten := broken != nil && !errors.Is(broken, wire.ErrClosed) // which is by ourselves
	if known && (!taken || unwritten) {
		return opening.Err
	}
	opening.Ended = known && t.session.Err() != nil
	return &opening
}

// flush has nothing to wait for: a process reads what was written before it was told to end.
func (t *stdio) flush() {}

func (t *stdio) close() {
	t.stdin.Close()
	t.stdout.Close()
}
