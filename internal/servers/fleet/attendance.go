package fleet

import (
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// lingerTime is how long a shareable session is kept for the next client, unless a shared workbench is kept for longer.
const lingerTime = time.Minute

// errDeserted is why a variant ends.
var errDeserted = errors.New("no client is left that could use it")

// MarkAway records that the client has been silent for so long that nothing is kept for it alone: variants without any other
// client end. Call MarkPresent before the client uses a server again; what it needs starts again then.
func (p *ClientProfile) MarkAway() {
	p.away.Store(true)
	p.mu.Lock()
	servers := slices.Collect(maps.Values(p.servers))
	p.mu.Unlock()
	for _, variant := range servers {
		variant.abandon()
		variant.callerLeft(nil)
	}
}

// MarkPresent records that the client is back. It costs next to nothing without MarkAway before.
func (p *ClientProfile) MarkPresent() {
	if !p.away.Load() {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	p.away.Store(false)
	// A concurrent abandon sees from now on that the client is there.
	for server, variant := range p.servers {
		if server.variants.has(variant, p) {
			continue
		}
		delete(p.servers, server)
	}
}

// has reports whether a client belongs to a variant.
func (v *variants) has(variant *Server, p *ClientProfile) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	_, ok := v.members[variant][p]
	return ok
}

// isAttended reports whether a variant has a client that is not away. Called with mu held.
func (v *variants) isAttended(variant *Server) bool {
	for p := range v.members[variant] {
		if !p.away.Load() {
			return true
		}
	}
	return false
}

// leave removes a client from the server, which ends if no client is left.
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

// abandon ends a variant without clients. The configured server itself goes on.
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
		v.counts.add(s, -1)
	}
	delete(v.members, s)
	s.mu.Lock()
	if s.failure != nil {
		v.gone.Store(s.failure)
	}
	s.mu.Unlock()
	s.dismiss()
}

// callers are the clients that called an instance, and may rely on its state: a browser's page, the variables of a
// session, a transaction.
type callers struct {
	last atomic.Pointer[ClientProfile] // is in all

	mu  sync.Mutex
	all map[*ClientProfile]struct{}
}

// RecordCaller records that the lease is used for a request of the client. Call it before the lease is released.
func (l *Lease) RecordCaller(p *ClientProfile) {
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

// areThere reports whether one of them is not away.
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

// callerLeft makes the server check whether it is idle, because a client left for good; nil: because one is away.
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

// idleLimit returns after which idle time the server is stopped; 0: never.
func (s *Server) idleLimit() time.Duration {
	if s.config.Timeouts.Idle < 0 {
		return s.fleet.options.Idle
	}
	return s.config.Timeouts.Idle
}
