package downstream

import (
	"fmt"
	"strconv"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// Sink receives what a server sends for one request. The session's reader calls it
// itself: that keeps messages in the server's order with the response last, and saves a
// switch of goroutines. While a method blocks, nothing more is read from the server.
type Sink interface {
	// Progress gets a progress notification for the request.
	Progress(message wire.Message)
	// Done gets the response, or the reason why there is none. It is called once, unless
	// the request is cancelled first.
	Done(response wire.Message, err error)
	// Caller returns who the request is made for; nil if that is nobody but us.
	Caller() Caller
}

// Caller is who a request is made for. Its methods must not block.
type Caller interface {
	// Profile is the same for all requests of one client.
	Profile() any
	// Ask puts a question of the server to the client.
	Ask(question *Question)
	// Notice gets a notification that the server sent along with the request.
	Notice(message wire.Message)
}

// pending is a request in flight. It is over when it is no longer in Session.pending;
// whoever removes it from there calls Done.
type pending struct {
	sink   Sink
	heard  time.Duration // of the last sign of life, since Session.began
	timely bool          // ends when nothing was heard for Options.Patience
}

// SilenceError says that a server gave no sign of life for too long.
type SilenceError struct{ Limit time.Duration }

func (e *SilenceError) Error() string {
	return fmt.Sprintf("no answer and no progress for %s (timeouts.call): timeout", e.Limit)
}

// register gives a request its id. On an error the session has ended.
func (s *Session) register(sink Sink, timely bool) (id uint64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return 0, s.err
	}
	s.lastID++
	s.pending[s.lastID] = pending{sink: sink, heard: time.Since(s.began), timely: timely}
	if timely && s.watchdog == nil {
		s.watchdog = time.AfterFunc(s.options.Patience, s.endSilent)
	}
	return s.lastID, nil
}

// Cancel ends a request that is still in flight and tells the server to stop working on
// it; reason is a JSON string or nil. It reports whether it did: if not, Done was called
// or is being called. It does not block.
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
	s.transport.cancel(id, wire.Notification(protocol.NotifyCancelled, append(params, '}')))
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

// untime lets a request go on without a sign of life.
func (s *Session) untime(id uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p, ok := s.pending[id]; ok {
		p.timely = false
		s.pending[id] = p
	}
}

func (s *Session) isPending(id uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.pending[id]
	return ok
}

// hear returns a request that the server gives a sign of life for.
func (s *Session) hear(id uint64) (p pending, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p, ok = s.pending[id]; ok {
		p.heard = time.Since(s.began)
		s.pending[id] = p
	}
	return p, ok
}

// endSilent ends the requests that the server was silent on for too long. One timer
// serves all of them: it is set when there is none, and then for the next that may be due.
func (s *Session) endSilent() {
	var silent []uint64
	s.mu.Lock()
	s.watchdog = nil
	next := time.Duration(-1)
	if len(s.questions) > 0 { // the server waits for somebody else
		s.watchdog = time.AfterFunc(s.options.Patience, s.endSilent)
		s.mu.Unlock()
		return
	}
	for id, p := range s.pending {
		if !p.timely {
			continue
		}
		left := s.options.Patience - (time.Since(s.began) - p.heard)
		if left <= 0 {
			silent = append(silent, id)
		} else if next < 0 || left < next {
			next = left
		}
	}
	if next >= 0 && s.err == nil {
		s.watchdog = time.AfterFunc(next, s.endSilent)
	}
	s.mu.Unlock()
	for _, id := range silent {
		if p, ok := s.cancel(id, []byte(`"No sign of life for too long"`)); ok {
			p.sink.Done(wire.Message{}, &SilenceError{s.options.Patience})
		}
	}
}

// rawID reads an id of ours in a message of the server; 0 is nobody's.
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
