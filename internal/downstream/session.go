// Package downstream is one live session with one MCP server: the handshake, and
// requests whose messages arrive in the server's order with the response last.
package downstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/wire"
)

// Options say how a session is held.
type Options struct {
	Stdin  io.WriteCloser // the server's input; the session closes it
	Stdout io.ReadCloser  // the server's output; the session closes it

	MaxMessage int           // limit in bytes of one message; default wire.DefaultLimit
	Patience   time.Duration // how long a call may be without a sign of life; default 5 minutes
	Version    string        // the workbench's version, told to the server

	// InitializeFirst is for a server that does not survive the question for its era: it
	// is asked only if the server refuses initialize.
	InitializeFirst bool
	// InputTaken reports whether the server has read all that was written to Stdin, if
	// that is known. Default: it is not.
	InputTaken func() (taken, known bool)

	// ToolsChanged is called when the server says that its tools changed, or when they may
	// have without a word. It must not block. Default: nothing.
	ToolsChanged func()
	Log          *slog.Logger // default: discard
}

// Session is safe for concurrent use. It ends when the server closes its output,
// when nothing can be written any more, or by Close.
type Session struct {
	options Options
	log     *slog.Logger
	writer  *wire.Writer

	revision protocol.Revision
	hasTools bool
	modern   atomic.Bool // revision is of the modern era; for the reader
	reserved []byte      // members for the _meta of every request; nil in the legacy era

	life context.Context // ends with the session
	end  context.CancelFunc

	goroutines sync.WaitGroup // none is added once err is set

	mu       sync.Mutex
	err      error // why the session ended; nil while it lives
	pending  map[uint64]pending
	lastID   uint64
	watchdog *time.Timer // ends silent requests; nil while none may be due
}

// queueLimit bounds the bytes that wait for a server that does not read.
const queueLimit = 4 << 20

// drainTime is how long a server whose input broke may still send answers.
const drainTime = 500 * time.Millisecond

const defaultPatience = 5 * time.Minute

// endless is how many times the limit a message may be long before the server is given
// up: it would be read for ever, and never answer again.
const endless = 4

// ErrClosed is the error of a session that was closed by us.
var ErrClosed = errors.New("the session was closed")

// ErrOutputClosed is the error of a session whose server closed its output, most
// often by exiting.
var ErrOutputClosed = errors.New("the server closed its output")

// ErrInputBroken is the error of a session whose server takes no input any more.
var ErrInputBroken = errors.New("the server does not take input any more")

// Connect does the handshake with a server that was just started. It blocks until
// the server answered or ctx ends. On an error the session is closed; a *ProbeError
// says that the server may well be usable with InitializeFirst.
func Connect(ctx context.Context, options Options) (*Session, error) {
	if options.Patience <= 0 {
		options.Patience = defaultPatience
	}
	s := &Session{
		options: options,
		log:     options.Log,
		writer:  wire.NewWriter(options.Stdin, queueLimit),
		pending: make(map[uint64]pending),
	}
	s.life, s.end = context.WithCancel(context.Background())
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.goroutines.Go(s.read)
	s.goroutines.Go(s.watchWriter)
	if err := s.handshake(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Revision returns the revision that both sides agreed on.
func (s *Session) Revision() protocol.Revision { return s.revision }

// Done is closed when the session has ended.
func (s *Session) Done() <-chan struct{} { return s.life.Done() }

// Err returns why the session ended; nil while it lives.
func (s *Session) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Close ends the session, and with it every request in flight, and waits for its
// goroutines. It may be called more than once. The server's process is not ours.
func (s *Session) Close() {
	s.finish(ErrClosed)
	s.options.Stdin.Close()
	s.options.Stdout.Close()
	s.goroutines.Wait()
}

// finish ends the session for a reason, unless it has ended already.
func (s *Session) finish(err error) {
	s.mu.Lock()
	if s.err != nil {
		s.mu.Unlock()
		return
	}
	s.err = err
	if s.watchdog != nil {
		s.watchdog.Stop()
	}
	unanswered := s.pending
	s.pending = make(map[uint64]pending)
	s.mu.Unlock()
	s.end()
	for _, p := range unanswered {
		p.sink.Done(wire.Message{}, err)
	}
}

// watchWriter ends the session when the server's input breaks, but lets answers
// that are under way arrive first.
func (s *Session) watchWriter() {
	select {
	case <-s.writer.Closed():
		patience := time.NewTimer(drainTime)
		defer patience.Stop()
		select {
		case <-s.life.Done():
		case <-patience.C:
			s.finish(fmt.Errorf("%w: %w", ErrInputBroken, s.writer.Err()))
		}
	case <-s.life.Done():
	}
	// A write that is stuck ends when Close has closed the server's input.
	_ = s.writer.Close(s.life)
}

// read is the session's one reader: what it hands on stays in the server's order.
func (s *Session) read() {
	limit := s.options.MaxMessage
	if limit <= 0 {
		limit = wire.DefaultLimit
	}
	reader := wire.NewReader(s.options.Stdout, limit)
	reader.MaxSkip = endless * int64(limit)
	for {
		frame, err := reader.Next()
		if tooLong, ok := errors.AsType[*wire.TooLongError](err); ok {
			s.log.Warn("skipped a message of the server", "reason", err)
			s.failRequest(tooLong.ID, tooLong.IsRequest, tooLong)
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
		s.receive(frame)
	}
}

// receive takes in one frame. What is no message is ignored, since many servers
// print to their output what belongs on stderr.
func (s *Session) receive(frame wire.Frame) {
	if !frame.IsBatch() {
		message, err := wire.Parse(frame)
		if err != nil {
			if !frame.IsCut() { // otherwise the end of the server says more
				s.reject(frame, err)
			}
			return
		}
		s.dispatch(message)
		return
	}
	messages, rejected, err := wire.ParseBatch(frame)
	for _, reason := range append(rejected, err) {
		if reason != nil {
			s.reject(frame, reason)
		}
	}
	for _, message := range messages {
		s.dispatch(message)
	}
}

func (s *Session) reject(frame wire.Frame, reason error) {
	s.log.Debug("ignored output of the server that is no message", "reason", reason, "bytes", len(frame.Bytes()))
	if shape, ok := errors.AsType[*wire.ShapeError](reason); ok {
		if shape.IsRPC {
			s.failRequest(shape.ID.Bytes(), false, reason)
		}
		return
	}
	if id, isRequest := wire.Skim(frame.Bytes()); len(frame.Bytes()) > 0 && frame.Bytes()[0] == '{' {
		s.failRequest(id, isRequest, reason)
	}
}

// failRequest tells the one who waits for a message that it came, but is unusable.
func (s *Session) failRequest(id []byte, isRequest bool, reason error) {
	if !isRequest {
		s.fail(rawID(id), fmt.Errorf("the server's answer cannot be used: %w", reason))
	}
}

func (s *Session) dispatch(message wire.Message) {
	if message.Repaired {
		s.log.Warn("replaced bytes of the server that are not UTF-8", "bytes", message.Size)
	}
	switch {
	case message.IsResponse():
		id := rawID(message.ID.Bytes())
		if message.ID.IsAbsent() {
			id = probeKey // a legacy server may not even take the probe for a request
		}
		p, ok := s.remove(id)
		if !ok {
			s.log.Debug("ignored an answer that nobody waits for")
			return
		}
		p.sink.Done(message, nil)
	case message.IsRequest():
		s.answer(message)
	default:
		s.notice(message)
	}
}

// answer replies to the server's own requests. A reply that finds no room is
// dropped: a server that asks without reading must not stop our reading.
func (s *Session) answer(message wire.Message) {
	if s.modern.Load() {
		s.log.Debug("ignored a request of the server: its revision has none, and no answers to them")
		return
	}
	var reply []byte
	if string(message.Method) == protocol.MethodPing {
		reply = wire.Result(message.ID.Bytes(), []byte("{}"))
	} else {
		reply = wire.ErrorResponse(message.ID.Bytes(), protocol.CodeMethodNotFound,
			fmt.Sprintf("The client does not support '%.100s'", message.Method))
	}
	if !s.writer.TryWrite(reply) {
		s.log.Debug("dropped a reply to the server, which does not read")
	}
}

func (s *Session) notice(message wire.Message) {
	switch string(message.Method) {
	case protocol.NotifyProgress:
		token := message.Params.Member(protocol.ProgressToken)
		if p, ok := s.hear(rawID(token.Bytes())); ok {
			p.sink.Progress(message)
		}
	case protocol.NotifyToolsList:
		// In the modern era it comes for our one subscription, so there is nothing to tell
		// apart by its id.
		if s.options.ToolsChanged != nil {
			s.options.ToolsChanged()
		}
	}
}
