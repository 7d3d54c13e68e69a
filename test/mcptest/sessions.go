package mcptest

import (
	"errors"
	"fmt"
	"net/http"
	"sync"
)

// sessions are the clients of a server over HTTP. As an outlet it writes to each of
// them once.
type sessions struct {
	mu   sync.Mutex
	made int
	open map[string]*session
}

// session is what a client began with initialize, or by opening the stream of HTTP+SSE.
// As an outlet it writes to the stream on which the server may speak at any time, and
// keeps what it has to say until there is one.
type session struct {
	id, revision string
	over         chan struct{} // closed at its end

	mu      sync.Mutex
	stream  http.ResponseWriter // nil: the client does not listen
	cutting chan struct{}       // closed to end the stream
	waiting [][]byte
}

// maxWaiting is how much a session keeps for a client that does not listen.
const maxWaiting = 10_000

var errSessionLimit = errors.New("the client does not listen, and too much waits for it")

func newSessions() *sessions { return &sessions{open: make(map[string]*session)} }

func (s *sessions) begin(c *conn, revision string) *session {
	s.mu.Lock()
	s.made++
	one := &session{id: fmt.Sprint(s.made), revision: revision, over: make(chan struct{})}
	s.open[one.id] = one
	s.mu.Unlock()
	c.logf("session %s", one.id)
	return one
}

func (s *sessions) get(id string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[id]
}

// end ends a session. Whoever calls it calls unused afterwards.
func (s *sessions) end(c *conn, one *session) {
	s.mu.Lock()
	_, open := s.open[one.id]
	delete(s.open, one.id)
	s.mu.Unlock()
	if open {
		close(one.over)
		c.logf("session %s ended", one.id)
	}
}

// unused ends the server if there is no session any more, and it is one that ends then.
func (s *sessions) unused(c *conn) {
	if len(s.all()) == 0 && c.server.EndWhenUnused {
		c.inputEnded()
	}
}

func (s *sessions) all() []*session {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []*session
	for _, one := range s.open {
		all = append(all, one)
	}
	return all
}

// forget ends all sessions.
func (s *sessions) forget(c *conn) {
	for _, one := range s.all() {
		s.end(c, one)
	}
}

func (s *sessions) write(message []byte) error {
	var errs []error
	for _, one := range s.all() {
		errs = append(errs, one.write(message))
	}
	return errors.Join(errs...)
}

func (s *sessions) cut() {
	for _, one := range s.all() {
		one.cut()
	}
}

func (s *session) write(message []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stream != nil {
		return writeEvent(s.stream, "message", message)
	}
	if len(s.waiting) >= maxWaiting {
		return errSessionLimit
	}
	s.waiting = append(s.waiting, message)
	return nil
}

func (s *session) cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stream != nil {
		close(s.cutting)
		s.stream = nil
	}
}

// attach makes w the stream and sends what waited; false if there is one already. The
// stream has to be detached when gone is closed, or by the client's or the server's end.
func (s *session) attach(w http.ResponseWriter) (gone <-chan struct{}, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stream != nil {
		return nil, false
	}
	s.stream, s.cutting = w, make(chan struct{})
	for _, message := range s.waiting {
		_ = writeEvent(w, "message", message) // a client that is gone shows in its context
	}
	s.waiting = nil
	return s.cutting, true
}

func (s *session) detach() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stream = nil
}
