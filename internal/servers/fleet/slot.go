package fleet

import (
	"cmp"
	"fmt"
	"sync"
	"time"
)

// Clients that declare different things have sessions of their own with a server, and so does one client that declares
// something else each time. This file limits how many run for one account.

const (
	// maxRunning is how many sessions with a server may be up at once for the clients of an account, as far as they
	// work in the same folder and environment.
	maxRunning = 8
	// accountVariants is how many variants of a server, running or not, the clients of an account may have.
	accountVariants = 50
	// freshTime is how long a session that has just begun is left to whoever began it.
	freshTime = 10 * time.Second
)

// slots are taken by the variants of a configured server that are up, or about to be.
type slots struct {
	mu    sync.Mutex // before that of variants, and that of a server
	taken map[*Server]struct{}
}

// slotGroup are what variants have in common that share one limit.
type slotGroup struct{ account, folder, environment string }

// slotGroup are those of the client that has been in the variant for the longest time, or made it.
func (s *Server) slotGroup() slotGroup {
	v := &s.configured().variants
	v.mu.Lock()
	defer v.mu.Unlock()
	c := slotGroup{s.account, s.key.folder, s.key.environment}
	if clients := v.clientsOf(s); len(clients) > 0 {
		c.account = clients[0].options.Account
	}
	return c
}

// admit has a variant take a slot before it is started. If its account has too many, the one of them that was not used
// for the longest time is stopped; if all are in use, it fails. Called with mu held, until the start is under way.
func (l *slots) admit(s *Server) error {
	if _, has := l.taken[s]; has {
		return nil
	}
	own := s.slotGroup()
	var rivals []*Server
	for rival := range l.taken {
		if rival.slotGroup() == own {
			rivals = append(rivals, rival)
		}
	}
	if n := len(rivals); n >= maxRunning && !l.makeRoom(rivals, own.account) {
		return &Failure{
			reason: fmt.Sprintf("you have %d sessions with this server already, and all are in use: clients that declare different capabilities do not share one", n),
			hint:   "try again when a call has ended, or have your clients declare the same capabilities",
		}
	}
	if l.taken == nil {
		l.taken = make(map[*Server]struct{})
	}
	l.taken[s] = struct{}{}
	return nil
}

// releaseSlot gives the slot back when a life of the server has ended, unless the next one has begun.
func (s *Server) releaseSlot() {
	if s.origin == nil {
		return
	}
	slots := &s.origin.slots
	slots.mu.Lock()
	defer slots.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running == nil && s.starting == nil {
		delete(slots.taken, s)
	}
}

// makeRoom stops one of the variants. Called with mu held.
func (l *slots) makeRoom(rivals []*Server, account string) bool {
	for len(rivals) > 0 {
		best, at := spareVariant{}, -1
		for i, rival := range rivals {
			if s, ok := rival.spare(account); ok && (at < 0 || s.before(best)) {
				best, at = s, i
			}
		}
		if at < 0 {
			return false
		}
		if chosen := rivals[at]; chosen.retireForAnother() {
			delete(l.taken, chosen)
			return true
		}
		rivals = append(rivals[:at:at], rivals[at+1:]...) // it was used just now
	}
	return false
}

// spareVariant is what decides which variant makes room: one that nobody is there for, then one that no client counts
// on that called it, and among these the one that has been idle for longest.
type spareVariant struct {
	counted int
	idle    time.Duration
}

func (s spareVariant) before(other spareVariant) bool {
	return cmp.Or(cmp.Compare(s.counted, other.counted), cmp.Compare(other.idle, s.idle)) < 0
}

// spare reports whether the variant can make room for others of its account: it is idle, and no other account uses it.
func (s *Server) spare(account string) (v spareVariant, ok bool) {
	for _, p := range s.clients() {
		if p.away.Load() {
			continue
		}
		if p.options.Account != account {
			return v, false
		}
		v.counted = 1
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running == nil {
		return spareVariant{}, s.starting == nil // it is being stopped
	}
	if v.idle = s.running.idleFor(); v.idle == 0 || s.running.lent.Load() == 0 && v.idle < freshTime {
		return v, false
	}
	if v.counted > 0 && s.running.callers.areThere() {
		v.counted = 2
	}
	return v, true
}

// retireForAnother takes the instance out of use, unless somebody uses it.
func (s *Server) retireForAnother() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	in := s.running
	if in == nil {
		return s.starting == nil
	}
	if in.idleFor() == 0 {
		return false
	}
	s.retire(in)
	signal(in.yielded)
	return true
}

// forgetOldest forgets a variant of the account that is not up, if it has too many. Called with mu held.
func (v *variants) forgetOldest(account string) {
	if account == "" { // the user of the workbench
		return
	}
	count, oldest := 0, (*Server)(nil)
	for _, variant := range v.byKey {
		if variant.account != account {
			continue
		}
		count++
		if variant.isUp() || oldest != nil && oldest.number < variant.number {
			continue
		}
		oldest = variant
	}
	if count < accountVariants || oldest == nil {
		return
	}
	v.remove(oldest)
}

func (s *Server) isUp() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running != nil || s.starting != nil
}
