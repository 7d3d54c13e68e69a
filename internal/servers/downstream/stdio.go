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

// queueLimit bounds the bytes queued for a server that does not read; messages beyond it wait or are dropped.
const queueLimit = 4 << 20

// drainTime is how long responses are still read after the server's input broke.
const drainTime = 500 * time.Millisecond

// stdio communicates with a process through its standard input and output, one message per line.
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

// read is the only reader of the session, which keeps the server's order.
func (t *stdio) read() {
	s := t.session
	reader := wire.NewReader(t.stdout, s.options.MaxMessage)
	reader.MaxSkip = endless * int64(s.options.MaxMessage)
	reader.Gather = true
	for {
		frame, err := reader.Next()
		if tooLong, ok := errors.AsType[*wire.TooLongError](err); ok {
			s.failSkipped(tooLong)
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
		// A legacy server may respond to the probe without its id.
		_ = s.receive(frame, probeKey) // the next line may be usable
	}
}

// watchWriter ends the session when the server's input breaks, but lets responses in transit arrive first.
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
	// A blocked write ends when close closes the server's input.
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

func (t *stdio) beginSession(ctx context.Context, _ protocol.Revision, initialized []byte) error {
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

// blame does not blame the opening if the server is known not to have read it: it would have exited anyway.
func (t *stdio) blame(opening OpeningError) error {
	var taken, known bool
	if t.taken != nil {
		taken, known = t.taken()
	}
	broken := t.writer.Err()
	unwritten := broken != nil && !errors.Is(broken, wire.ErrClosed) // closed by the workbench itself
	if known && (!taken || unwritten) {
		return opening.Err
	}
	opening.Ended = known && t.session.Err() != nil
	return &opening
}

// flush does nothing: a process reads what was written before it is told to exit.
func (t *stdio) flush() {}

func (t *stdio) close() {
	t.stdin.Close()
	t.stdout.Close()
}
