package fleet

import (
	"cmp"
	"fmt"
	"sync"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// Clients that declare different capabilities have separate sessions with a server, even if it is the same client each
// time. This file limits the running sessions of one account.

const (
	// maxRunning is the limit of running sessions with a server for the clients of an account that work in the same
	// folder and environment.
	maxRunning = 8
	// maxRunningClients is that limit where each client has a session of its own ("instances": "per-client").
	maxRunningClients = 50
	// accountVariants is the limit of variants of a server, running or not, for the clients of an account.
	accountVariants = 50
	// freshTime is how long a new session is reserved for the client that began it.
	freshTime = 10 * time.Second
)

// slots holds the variants of a configured server that are running or starting.
type slots struct {
	mu    sync.Mutex // locked before that of variants and that of a server
	taken map[*Server]struct{}
}

// slotGroup identifies the variants that share one limit.
type slotGroup struct{ account, folder, environment string }

// slotGroup returns the group of the variant's oldest client, or else of the client that the variant was made for.
func (s *Server) slotGroup() slotGroup {
	v := &s.configured().variants
	v.mu.Lock()
	defer v.mu.Unlock()
	c := slotGroup{s.account, s.key.folder, s.key.environment}
	if clients := v.clientsOf(s); len(clients) > 0 {
		c.account = clients[0].account()
	}
	return c
}

// admit reserves a slot for a variant before it starts. If the limit is reached, the variant that was idle for the
// longest time is stopped; if all are in use, admit fails. Called with mu held, until the start is under way.
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
	if n := len(rivals); n >= s.maxRunning() && !l.makeRoom(rivals, own.account) {
		return s.allInUse(n)
	}
	if l.taken == nil {
		l.taken = make(map[*Server]struct{})
	}
	l.taken[s] = struct{}{}
	return nil
}

func (s *Server) maxRunning() int {
	if s.instances == config.InstancesPerClient {
		return maxRunningClients
	}
	return maxRunning
}

// allInUse is why a client gets no session with the server.
func (s *Server) allInUse(count int) error {
	if s.instances == config.InstancesPerClient {
		return &Failure{
			reason: fmt.Sprintf("you have %d sessions with this server already, and all are in use: each of your clients has one of its own", count),
			hint:   "try again when a call has ended, or close clients that are not needed",
		}
	}
	return &Failure{
		reason: fmt.Sprintf("you have %d sessions with this server already, and all are in use: clients that declare different capabilities do not share one", count),
		hint:   "try again when a call has ended, or have your clients declare the same capabilities",
	}
}

// releaseSlot releases the slot when an instance has ended, unless the next one is starting or running.
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

// spareVariant ranks the variants that can make room: first those without a present client, then those without a present
// caller, and among these the one that was idle for the longest time.
type spareVariant struct {
	counted int
	idle    time.Duration
}

func (s spareVariant) before(other spareVariant) bool {
	return cmp.Or(cmp.Compare(s.counted, other.counted), cmp.Compare(other.idle, s.idle)) < 0
}

// spare reports whether the variant can make room for others of its account: it is idle and no other account uses it.
func (s *Server) spare(account string) (v spareVariant, ok bool) {
	for _, p := range s.clients() {
		if p.away.Load() {
			continue
		}
		if p.account() != account {
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

// retireForAnother retires the instance to make room for another variant, unless it is in use.
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

// forgetOldest removes the oldest variant of the account that is not running, if the account has reached its limit. Called
// with mu held.
func (v *variants) forgetOldest(account string) {
	if account == "" || v.counts.byAccount[account] < accountVariants { // "": the user who runs the workbench
		return
	}
	var oldest *Server
	for _, variant := range v.byKey {
		if variant.account == account && !variant.isUp() && (oldest == nil || variant.number < oldest.number) {
			oldest = variant
		}
	}
	if oldest != nil {
		v.remove(oldest)
	}
}

func (s *Server) isUp() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running != nil || s.starting != nil
}
