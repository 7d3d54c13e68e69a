package fleet

import (
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// lingerTime is how long a session that several clients may share is kept for the next, or
// as long as a shared workbench is, if that is longer.
const lingerTime = time.Minute

// errDeserted is why a variant ends.
var errDeserted = errors.New("no client is left that could use it")

// Rest says that the client has not been heard of for so long that nothing is kept for it
// alone: variants end that no other client is there for. It stays a client: when the client is
// heard of again, call Return first, and what it needs then starts again. The client must not
// use a server meanwhile.
func (p *ClientProfile) Rest() {
	p.away.Store(true)
	p.mu.Lock()
	servers := slices.Collect(maps.Values(p.servers))
	p.mu.Unlock()
	for _, variant := range servers {
		variant.abandon()
		variant.callerLeft(nil)
	}
}

// Return says that the client is there again. Without a Rest before, it costs next to
// nothing.
func (p *ClientProfile) Return() {
	if !p.away.Load() {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	p.away.Store(false)
	// Whoever abandons a variant from now on sees that we are there.
	for server, variant := range p.servers {
		if server.variants.has(variant, p) {
			continue
		}
		delete(p.servers, server)
	}
}

// has reports whether a client has a part in a variant.
func (v *variants) has(variant *Server, p *ClientProfile) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	_, ok := v.members[variant][p]
	return ok
}

// isAttended reports whether a client is there that has a part in the variant. Called with mu
// held.
func (v *variants) isAttended(variant *Server) bool {
	for p := range v.members[variant] {
		if !p.away.Load() {
			return true
		}
	}
	return false
}

// leave ends a client's part in the server, which ends if nobody is there for it.
func (s *Server) leave(p *ClientProfile) {
	v := &s.configured().variants
	v.mu.Lock()
	delete(v.members[s], p)
	attended := v.isAttended(s)
	s.left = time.Now()
	v.mu.Unlock()
	s.callerLeft(p)
	switch {
	case attended || s.origin == nil:
	case s.isPrivate() || s.lives.Load() == 0:
		s.abandon()
	default:
		time.AfterFunc(max(lingerTime, s.fleet.table.Load().config.Shared.Idle), s.abandon)
	}
}

// abandon ends a variant that nobody is there for. The configured server itself goes on.
func (s *Server) abandon() {
	if s.origin == nil {
		return
	}
	v := &s.origin.variants
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.isAttended(s) {
		v.remove(s)
	}
}

// remove takes a variant out of use. Called with mu held.
func (v *variants) remove(s *Server) {
	if v.byKey[s.key] == s { // there may be another one by now
		delete(v.byKey, s.key)
	}
	delete(v.members, s)
	s.dismiss()
}

// callers are the clients that an instance has done something for, and that may count on
// what it remembers: a browser's page, the variables of a session, a transaction.
type callers struct {
	last atomic.Pointer[ClientProfile] // is in all

	mu  sync.Mutex
	all map[*ClientProfile]struct{}
}

// Called says that the lease is used for something that the client asked for. It is to be
// called before the lease is released.
func (l *Lease) Called(p *ClientProfile) {
	c := &l.instance.callers
	if p == nil || c.last.Load() == p {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil {
		c.all = make(map[*ClientProfile]struct{})
	}
	c.all[p] = struct{}{}
	c.last.Store(p)
}

// remove forgets a client that has left.
func (c *callers) remove(p *ClientProfile) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.all, p)
	if c.last.Load() == p {
		c.last.Store(nil)
	}
}

// areThere reports whether one of them is there.
func (c *callers) areThere() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for p := range c.all {
		if !p.away.Load() {
			return true
		}
	}
	return false
}

// callerLeft has the server look whether it is idle: a caller has left for good, or is away
// if that is nil.
func (s *Server) callerLeft(p *ClientProfile) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running == nil {
		return
	}
	if p != nil {
		s.running.callers.remove(p)
	}
	signal(s.running.left)
}

// idleLimit is after how long the server is stopped that nobody uses; 0: never.
func (s *Server) idleLimit() time.Duration {
	if s.config.Timeouts.Idle < 0 {
		return s.fleet.options.Idle
	}
	return s.config.Timeouts.Idle
}
