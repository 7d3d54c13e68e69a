package front

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/call"
	"github.com/mcp-workbench/mcp-workbench/internal/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/wire"
)

// session is one client. Whatever takes long is done elsewhere, so that no request holds
// up another; read alone decides what comes after what.
type session struct {
	server *Server
	log    *slog.Logger
	writer *wire.Writer

	life     context.Context // ends when unanswered requests are given up
	giveUp   context.CancelCauseFunc
	requests sync.WaitGroup
	slots    chan struct{} // a token for each request in flight

	mu       sync.Mutex
	revision protocol.Revision // "" before initialize
	opened   map[string]int    // toolboxes that the client opened, with their servers
	inFlight map[string]context.CancelCauseFunc
	ending   bool // no request is taken any more
}

// Limits of what one client can make us hold.
const (
	maxInFlight = 4096
	// outputQueue is how many bytes may wait for a client that does not read. When they
	// do, its servers are not read from, either.
	outputQueue = 32 << 20
)

var errGivenUp = errors.New("the workbench is shutting down")

func newSession(server *Server, out io.Writer) *session {
	s := &session{
		server: server, log: server.options.Log,
		writer:   wire.NewWriter(out, outputQueue),
		slots:    make(chan struct{}, maxInFlight),
		opened:   make(map[string]int),
		inFlight: make(map[string]context.CancelCauseFunc),
	}
	s.life, s.giveUp = context.WithCancelCause(context.Background())
	return s
}

// Notify implements call.Client.
func (s *session) Notify(message []byte) error {
	return s.writer.Write(s.life, message)
}

// IsOpen implements metatool.Session.
func (s *session) IsOpen(toolbox string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.opened[toolbox]
	return ok
}

// MarkOpen implements metatool.Session.
func (s *session) MarkOpen(toolbox string, servers int) (changed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, ok := s.opened[toolbox]
	s.opened[toolbox] = servers
	return !ok || before != servers
}

// read takes in the client's messages until it closes its side.
func (s *session) read(in io.Reader) error {
	reader := wire.NewReader(in, s.server.options.MaxMessage)
	for {
		frame, err := reader.Next()
		if tooLong, ok := errors.AsType[*wire.TooLongError](err); ok {
			s.log.Warn("skipped a message of the client", "reason", err)
			s.refuse(tooLong.ID, protocol.CodeInvalidRequest, "Invalid request: "+tooLong.Error())
			continue
		}
		if err != nil {
			return err
		}
		s.receive(frame)
	}
}

func (s *session) receive(frame wire.Frame) {
	messages, rejected, batch, err := wire.ParseBatch(frame)
	if syntax, ok := errors.AsType[*wire.SyntaxError](err); ok {
		id, _ := wire.Skim(frame.Bytes())
		s.refuse(id, protocol.CodeParseError, "Parse error: "+syntax.Error())
		return
	}
	if shape, ok := errors.AsType[*wire.ShapeError](err); ok {
		s.refuse(shape.ID.Bytes(), protocol.CodeInvalidRequest, "Invalid request: "+shape.Reason)
		return
	}
	if batch {
		s.receiveBatch(messages, rejected)
		return
	}
	s.dispatch(messages[0], s.send)
}

// refuse answers a message that could not be taken as a request.
func (s *session) refuse(id []byte, code int, text string) {
	s.send(wire.ErrorResponse(id, code, text))
}

// send sends an answer, unless it is nil. That it cannot be sent any more ends the
// session anyway.
func (s *session) send(message []byte) {
	if message == nil {
		return
	}
	// Answers are sent even when unanswered requests are being given up: end closes the
	// writer when it is time.
	if err := s.writer.Write(context.Background(), message); err != nil {
		s.log.Debug("could not answer the client", "reason", err)
	}
}

// sender takes the answer to a request, which is nil if the client wants none any more.
type sender func(message []byte)

// dispatch starts what a message asks for.
func (s *session) dispatch(message wire.Message, send sender) {
	if message.Repaired {
		s.log.Warn("replaced bytes of the client that are not UTF-8", "bytes", message.Size)
	}
	switch {
	case message.IsRequest() && string(message.Method) == protocol.MethodInitialize:
		send(s.initialize(message))
	case message.IsRequest():
		s.begin(message, send)
	case string(message.Method) == protocol.NotifyCancelled:
		s.cancel(message.Params)
	}
}

// begin handles a request. While too many are under way, nothing more is read.
func (s *session) begin(message wire.Message, send sender) {
	select {
	case s.slots <- struct{}{}:
	case <-s.life.Done():
		send(nil)
		return
	}
	key := idKey(message.ID)
	ctx, cancel := context.WithCancelCause(s.life)
	s.mu.Lock()
	_, twice := s.inFlight[key]
	taken := !twice && !s.ending
	if taken {
		s.inFlight[key] = cancel
		s.requests.Add(1)
	}
	s.mu.Unlock()
	if !taken {
		cancel(nil)
		<-s.slots
		var refusal []byte // none at the end: the client could not tell it from an answer
		if twice {
			refusal = wire.ErrorResponse(message.ID.Bytes(), protocol.CodeInvalidRequest,
				"Invalid request: another request with this id is still in flight")
		}
		send(refusal)
		return
	}
	s.handle(ctx, message, func(answer []byte) {
		if !s.finish(ctx, key) {
			answer = nil
		}
		send(answer)
		cancel(nil)
		<-s.slots
		s.requests.Done()
	})
}

// finish ends a request; it reports whether an answer is still wanted.
func (s *session) finish(ctx context.Context, key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.inFlight, key)
	_, cancelled := errors.AsType[call.Cancelled](context.Cause(ctx))
	return !cancelled
}

func (s *session) cancel(params wire.Payload) {
	s.mu.Lock()
	cancel, ok := s.inFlight[idKey(params.Member("requestId"))]
	s.mu.Unlock()
	if !ok {
		return
	}
	var cause call.Cancelled
	if reason := params.Member("reason"); reason.Kind() == "string" {
		cause.Reason = reason.Bytes()
	}
	cancel(cause)
}

// idKey makes an id comparable: strings may be escaped in different ways.
func idKey(id wire.Payload) string {
	if text, ok := id.Text(); ok {
		return `"` + text
	}
	return string(id.Bytes())
}

// end answers what was read, within limits, and lets the answers be written.
func (s *session) end() {
	s.mu.Lock()
	s.ending = true
	s.mu.Unlock()
	answered := make(chan struct{})
	go func() { // ends with the requests, which giving up ends
		s.requests.Wait()
		close(answered)
	}()
	patience := time.NewTimer(answerTime)
	defer patience.Stop()
	select {
	case <-answered:
	case <-patience.C:
	case <-s.writer.Closed():
	}
	s.giveUp(errGivenUp)
	patience.Reset(cancelTime)
	select {
	case <-answered:
	case <-patience.C:
		s.log.Warn("requests were still running when the session ended")
	}
	flush, cancel := context.WithTimeout(context.Background(), flushTime)
	defer cancel()
	if err := s.writer.Close(flush); err != nil {
		s.log.Warn("the client did not take its last answers")
	}
}
