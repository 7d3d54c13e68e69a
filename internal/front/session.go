package front

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"slices"
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
	giveUp   context.CancelFunc
	requests sync.WaitGroup
	slots    chan struct{} // a token for each request in flight

	mu       sync.Mutex
	revision protocol.Revision // "" before initialize
	opened   map[string]int    // toolboxes that the client opened, with their servers
	inFlight map[string]*request
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
		inFlight: make(map[string]*request),
	}
	s.life, s.giveUp = context.WithCancel(context.Background())
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
	if !frame.IsBatch() {
		message, err := wire.Parse(frame)
		if err != nil {
			s.reject(frame, err)
			return
		}
		s.dispatch(message, s)
		return
	}
	messages, rejected, err := wire.ParseBatch(frame)
	if err != nil {
		s.reject(frame, err)
		return
	}
	s.receiveBatch(messages, rejected)
}

// reject answers a frame that holds no message.
func (s *session) reject(frame wire.Frame, reason error) {
	if shape, ok := errors.AsType[*wire.ShapeError](reason); ok {
		s.refuse(shape.ID.Bytes(), protocol.CodeInvalidRequest, "Invalid request: "+shape.Reason)
		return
	}
	id, _ := wire.Skim(frame.Bytes())
	s.refuse(id, protocol.CodeParseError, "Parse error: "+reason.Error())
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
type sender interface{ send(message []byte) }

// dispatch starts what a message asks for.
func (s *session) dispatch(message wire.Message, to sender) {
	if message.Repaired {
		s.log.Warn("replaced bytes of the client that are not UTF-8", "bytes", message.Size)
	}
	switch {
	case message.IsRequest() && string(message.Method) == protocol.MethodInitialize:
		to.send(s.initialize(message))
	case message.IsRequest():
		s.begin(message, to)
	case string(message.Method) == protocol.NotifyCancelled:
		s.cancel(message.Params)
	}
}

// begin handles a request. While too many are under way, nothing more is read.
func (s *session) begin(message wire.Message, to sender) {
	select {
	case s.slots <- struct{}{}:
	case <-s.life.Done():
		to.send(nil)
		return
	}
	// The id is copied: forwarding a call uses up the buffer that it is in.
	r := &request{session: s, to: to, id: bytes.Clone(message.ID.Bytes()), key: idKey(message.ID)}
	s.mu.Lock()
	_, twice := s.inFlight[r.key]
	taken := !twice && !s.ending
	if taken {
		s.inFlight[r.key] = r
		s.requests.Add(1)
	}
	s.mu.Unlock()
	if taken {
		r.handle(message)
		return
	}
	<-s.slots
	var refusal []byte // none at the end: the client could not tell it from an answer
	if twice {
		refusal = wire.ErrorResponse(r.id, protocol.CodeInvalidRequest,
			"Invalid request: another request with this id is still in flight")
	}
	to.send(refusal)
}

// cancel cancels the request that a client's notification names.
func (s *session) cancel(params wire.Payload) {
	s.mu.Lock()
	r, ok := s.inFlight[idKey(params.Member("requestId"))]
	s.mu.Unlock()
	if !ok {
		return
	}
	var cause call.Cancelled
	if reason := params.Member("reason"); reason.Kind() == "string" {
		cause.Reason = reason.Bytes()
	}
	r.ticket.Cancel(cause)
}

// cancelAll cancels every request in flight.
func (s *session) cancelAll(cause error) {
	s.mu.Lock()
	all := slices.Collect(maps.Values(s.inFlight))
	s.mu.Unlock()
	for _, r := range all {
		r.ticket.Cancel(cause)
	}
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
	s.giveUp()
	s.cancelAll(errGivenUp)
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
