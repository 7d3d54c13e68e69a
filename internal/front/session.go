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

// session is one client. Requests are handled in goroutines of their own, so that a
// slow one holds up no other; read alone decides what comes after what.
type session struct {
	server *Server
	log    *slog.Logger
	writer *wire.Writer
	budget *wire.Budget

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
	maxInFlight  = 4096
	answerBudget = 32 << 20 // bytes of answers that wait for the client
	outputQueue  = 1 << 20  // bytes of messages that wait to be written
)

var errGivenUp = errors.New("the workbench is shutting down")

func newSession(server *Server, out io.Writer) *session {
	s := &session{
		server: server, log: server.options.Log,
		writer:   wire.NewWriter(out, outputQueue),
		budget:   wire.NewBudget(answerBudget),
		slots:    make(chan struct{}, maxInFlight),
		opened:   make(map[string]int),
		inFlight: make(map[string]context.CancelCauseFunc),
	}
	s.life, s.giveUp = context.WithCancelCause(context.Background())
	return s
}

// Notify implements call.Client.
func (s *session) Notify(ctx context.Context, message []byte) error {
	return s.writer.Write(ctx, message)
}

// Budget implements call.Client.
func (s *session) Budget() *wire.Budget { return s.budget }

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
	s.dispatch(messages[0], s.writer.Write, func() {})
}

// refuse answers a message that could not be taken as a request.
func (s *session) refuse(id []byte, code int, text string) {
	_ = s.writer.Write(s.life, wire.ErrorResponse(id, code, text)) // fails only when the session ends
}

// sender takes a complete message for the client.
type sender func(ctx context.Context, message []byte) error

// dispatch starts what a message asks for; done is called when a request is over.
func (s *session) dispatch(message wire.Message, send sender, done func()) {
	if message.Repaired {
		s.log.Warn("replaced bytes of the client that are not UTF-8", "bytes", message.Size)
	}
	switch {
	case message.IsRequest() && string(message.Method) == protocol.MethodInitialize:
		// Handled at once: what follows may depend on it.
		s.reply(s.life, send, s.initialize(message))
		done()
	case message.IsRequest():
		s.begin(message, send, done)
	case string(message.Method) == protocol.NotifyCancelled:
		s.cancel(message.Params)
	}
}

// begin handles a request in a goroutine of its own. While too many are under way,
// nothing more is read.
func (s *session) begin(message wire.Message, send sender, done func()) {
	select {
	case s.slots <- struct{}{}:
	case <-s.life.Done():
		done()
		return
	}
	key := idKey(message.ID)
	ctx, cancel := context.WithCancelCause(s.life)
	over := func() {
		cancel(nil)
		<-s.slots
		done()
	}
	s.mu.Lock()
	_, twice := s.inFlight[key]
	ending := s.ending
	if !twice && !ending {
		s.inFlight[key] = cancel
		s.requests.Add(1)
	}
	s.mu.Unlock()
	if twice {
		s.reply(s.life, send, wire.ErrorResponse(message.ID.Bytes(), protocol.CodeInvalidRequest,
			"Invalid request: another request with this id is still in flight"))
	}
	if twice || ending {
		over()
		return
	}
	go func() {
		defer s.requests.Done()
		defer over()
		s.handle(ctx, message, func(sendCtx context.Context, reply []byte) error {
			if !s.finish(ctx, key) {
				return nil
			}
			return send(sendCtx, reply)
		})
		s.finish(ctx, key)
	}()
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

// reply sends an answer; that it cannot be sent any more ends the session anyway.
func (s *session) reply(ctx context.Context, send sender, message []byte) {
	if err := send(ctx, message); err != nil {
		s.log.Debug("could not answer the client", "reason", err)
	}
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
