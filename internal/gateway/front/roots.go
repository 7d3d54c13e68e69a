package front

import (
	"bytes"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// Clients with the same roots can share servers that ask for them. So the roots of clients that
// declare the same capabilities are asked for, and their requests wait for the answers.

// rootsTime is how long a client may take to tell its roots before it is treated as one that has
// nothing in common with others.
const rootsTime = time.Second

// rootsExchange is what is known about when the roots of a client are known.
type rootsExchange struct {
	mayWait atomic.Bool // told or others may be set

	mu     sync.Mutex
	asked  bool            // the client was asked for its roots
	told   chan struct{}   // not nil while it has not told them; closed when it has
	others []chan struct{} // told of clients that may have the same
}

// markAsked reports whether the client was asked before.
func (x *rootsExchange) markAsked() (before bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	before = x.asked
	x.asked = true
	return before
}

func (x *rootsExchange) wasAsked() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.asked
}

// expectAnswer has requests wait until markTold.
func (x *rootsExchange) expectAnswer() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.told == nil {
		x.told = make(chan struct{})
		x.mayWait.Store(true)
	}
}

// markTold lets the requests go on that wait for the client's roots.
func (x *rootsExchange) markTold() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.told != nil {
		close(x.told)
		x.told = nil
	}
}

// pending returns a channel that is closed when the client has told its roots; nil if it has.
func (x *rootsExchange) pending() chan struct{} {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.told
}

func (x *rootsExchange) setOthers(others []chan struct{}) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.others = others
	x.mayWait.Store(true)
}

// waits returns what to wait for before it is known with whom the client shares servers.
func (x *rootsExchange) waits() (waits []chan struct{}) {
	if !x.mayWait.Load() {
		return nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.told != nil {
		waits = append(waits, x.told)
	}
	for _, other := range x.others {
		select {
		case <-other:
		default:
			waits = append(waits, other)
		}
	}
	x.mayWait.Store(len(waits) > 0)
	return waits
}

// wait waits for the roots of a client that was asked for them, and of those that it may share
// servers with.
func (x *rootsExchange) wait(ctx context.Context) {
	waits := x.waits()
	if len(waits) == 0 {
		return
	}
	patience := time.NewTimer(rootsTime)
	defer patience.Stop()
	for _, told := range waits {
		select {
		case <-told:
		case <-patience.C:
			x.markTold()
			x.setOthers(nil)
			return
		case <-ctx.Done():
			return
		}
	}
}

// exchangeRoots asks this client and those that declare the same for their roots. A client by
// itself is asked if there is a server that asks for roots, which may be left from a client like
// it.
func (s *session) exchangeRoots() {
	hasRoots := s.capabilities().Member("roots").Kind() == "object"
	alike := []*session{s}
	if hasRoots {
		alike = s.server.clientsLike(s)
	}
	if len(alike) == 1 && (!hasRoots || !s.server.options.RootsMatter()) {
		return
	}
	for _, client := range alike {
		if !client.roots.markAsked() {
			client.askRoots()
		}
	}
	// The first client must not get servers of its own while another one is about to tell that it
	// has the same roots.
	var others []chan struct{}
	for _, client := range alike {
		if told := client.roots.pending(); client != s && told != nil {
			others = append(others, told)
		}
	}
	s.roots.setOthers(others)
}

// clientsLike returns the clients that declare the same as this one, and itself. Stateless clients
// cannot be asked for their roots, and so share with nobody.
func (s *Server) clientsLike(client *session) (alike []*session) {
	declared := client.capabilities().Bytes()
	s.mu.Lock()
	defer s.mu.Unlock()
	for other := range s.sessions {
		if other.stateless == nil && bytes.Equal(other.capabilities().Bytes(), declared) {
			alike = append(alike, other)
		}
	}
	return alike
}

// askRoots asks the client for its roots, and has its requests wait for them.
func (s *session) askRoots() {
	s.roots.expectAnswer()
	id, ok := s.questions.add(pendingQuestion{answered: func(response wire.Message) {
		s.learnRoots(response)
		s.roots.markTold()
	}})
	if !ok || !s.notifier.tryNotify(outgoing{id: id, method: protocol.MethodRootsList}) {
		s.questions.remove(id)
		s.roots.markTold()
	}
}

// learnRoots reads the client's roots from its answer, whoever asked.
func (s *session) learnRoots(response wire.Message) {
	roots, profile := response.Result.Member("roots"), s.Profile()
	if roots.Kind() != "array" || profile == nil {
		return
	}
	s.roots.markAsked()
	profile.SetRoots(roots.Bytes())
}
