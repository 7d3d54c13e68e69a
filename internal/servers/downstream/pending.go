package downstream

import (
	"fmt"
	"strconv"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// Sink receives what a server sends for one request. The session's reader calls it directly: that keeps messages in the
// server's order with the response last, and avoids a goroutine switch. While a method blocks, nothing more is read
// from the server.
type Sink interface {
	// Progress receives a progress notification for the request.
	Progress(message wire.Message)
	// Done receives the response, or the reason why there is none. It is called once, unless the request is cancelled
	// first.
	Done(response wire.Message, err error)
	// Caller returns for whom the request is made; nil if it is for the workbench itself.
	Caller() Caller
}

// Caller is the client that a request is made for. Its methods must not block.
type Caller interface {
	// Profile is the same for all requests of one client.
	Profile() any
	// Ask forwards a question of the server to the client.
	Ask(question *Question)
	// Notice receives a notification that the server sent in the context of the request.
	Notice(message wire.Message)
}

// pending is a request in flight. It ends when it is removed from Session.pending; whoever removes it calls Done.
type pending struct {
	sink       Sink
	lastSign   time.Duration // time of the last sign of life, since Session.began
	hasTimeout bool          // fails after Options.Patience without a sign of life
}

// SilenceError means that a server gave no sign of life for too long.
type SilenceError struct{ Limit time.Duration }

func (e *SilenceError) Error() string {
	return fmt.Sprintf("no answer and no progress for %s (timeouts.call): timeout", e.Limit)
}

// register adds a request and returns its id. It fails if the session has ended.
func (s *Session) register(sink Sink, timely bool) (id uint64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return 0, s.err
	}
	s.lastID++
	s.pending[s.lastID] = pending{sink: sink, lastSign: time.Since(s.began), hasTimeout: timely}
	if timely && s.watchdog == nil {
		s.watchdog = time.AfterFunc(s.options.Patience, s.failSilent)
	}
	return s.lastID, nil
}

// Cancel ends a request in flight and sends the server a cancellation; reason is a JSON string or nil. It returns false
// if Done was already called or is being called. It does not block.
func (s *Session) Cancel(id uint64, reason []byte) bool {
	_, ok := s.cancel(id, reason)
	return ok
}

func (s *Session) cancel(id uint64, reason []byte) (pending, bool) {
	p, ok := s.remove(id)
	if !ok {
		return p, false
	}
	params := strconv.AppendUint([]byte(`{"requestId":`), id, 10)
	if reason != nil {
		params = append(append(params, `,"reason":`...), reason...)
	}
	notice := wire.Notification(protocol.NotifyCancelled, append(params, '}'))
	s.tapSent(notice)
	s.transport.cancel(id, notice)
	return p, true
}

// fail ends a request without a response.
func (s *Session) fail(id uint64, err error) {
	if p, ok := s.remove(id); ok {
		p.sink.Done(wire.Message{}, err)
	}
}

func (s *Session) remove(id uint64) (p pending, ok bool) {
	s.mu.Lock()
	p, ok = s.pending[id]
	delete(s.pending, id)
	s.mu.Unlock()
	if ok {
		s.transport.forget(id)
	}
	return p, ok
}

// disableTimeout exempts a request from the timeout for silence.
func (s *Session) disableTimeout(id uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p, ok := s.pending[id]; ok {
		p.hasTimeout = false
		s.pending[id] = p
	}
}

func (s *Session) isPending(id uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.pending[id]
	return ok
}

// markAlive records a sign of life for a request, and returns the request.
func (s *Session) markAlive(id uint64) (p pending, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p, ok = s.pending[id]; ok {
		p.lastSign = time.Since(s.began)
		s.pending[id] = p
	}
	return p, ok
}

// failSilent fails the requests that were silent for too long. One timer serves all of them: it is started with the
// first request, and then set for the next one that may be due.
func (s *Session) failSilent() {
	var silent []uint64
	s.mu.Lock()
	s.watchdog = nil
	next := time.Duration(-1)
	if len(s.questions) > 0 { // the server waits for an answer itself
		s.watchdog = time.AfterFunc(s.options.Patience, s.failSilent)
		s.mu.Unlock()
		return
	}
	for id, p := range s.pending {
		if !p.hasTimeout {
			continue
		}
		left := s.options.Patience - (time.Since(s.began) - p.lastSign)
		if left <= 0 {
			silent = append(silent, id)
		} else if next < 0 || left < next {
			next = left
		}
	}
	if next >= 0 && s.err == nil {
		s.watchdog = time.AfterFunc(next, s.failSilent)
	}
	s.mu.Unlock()
	for _, id := range silent {
		if p, ok := s.cancel(id, []byte(`"No sign of life for too long"`)); ok {
			p.sink.Done(wire.Message{}, &SilenceError{s.options.Patience})
		}
	}
}

// rawID parses an id of the workbench in a message of the server; 0 matches no request.
func rawID(id []byte) uint64 {
	if string(id) == probeID {
		return probeKey
	}
	n, err := strconv.ParseUint(string(id), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
