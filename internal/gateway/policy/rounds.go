package policy

import (
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/subject"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
)

const (
	maxRounds = 1000             // calls whose next round is waited for; beyond, the oldest is forgotten: it is asked about and counted again
	roundTime = 10 * time.Minute // in which a client comes back with the input that a server wants; later, it is a call of its own
)

// Rounds are the calls that were approved or counted, and ended because their server wants input. A modern client sends such
// a call again with the input, as a request of its own: it is neither asked about nor counted another time. Rounds implement
// call.Observer, since only the end of a call tells whether there is a next round. They are safe for concurrent use.
type Rounds struct {
	running  atomic.Int64 // len(begun), to be read without the lock by calls that are not in it
	mu       sync.Mutex
	begun    map[*call.Call]round          // until the call ends
	open     []round                       // whose next one may come, the oldest first
	sessions map[*fleet.ClientProfile]bool // whose end is waited for
}

// round is one request of a call.
type round struct {
	session      *fleet.ClientProfile // nil: there will be no other round
	subject      subject.Subject
	hintsDoubted bool
	policy       *Policy   // by which it was decided
	isApproved   bool      // a person was asked
	until        time.Time // it is forgotten then
}

// NewRounds returns rounds that the stages of several configurations can share.
func NewRounds() *Rounds {
	return &Rounds{begun: make(map[*call.Call]round), sessions: make(map[*fleet.ClientProfile]bool)}
}

// roundOf returns the round that a request is. Only modern clients send a call again.
func roundOf(request *call.Call, q *Query) (r round) {
	profile := request.Client.Profile()
	if !profile.Modern() {
		return r
	}
	return round{session: profile, subject: subject.New(q.Ref, request.Tool, request.Arguments), hintsDoubted: request.HintsDoubted}
}

// resume reports whether a request is the next round of a call that was decided by the same rules, and approved if that is
// needed now. That call has no further one then, unless this request ends in the same way.
func (r *Rounds) resume(request *call.Call, now round, policy *Policy, needsApproval bool) bool {
	if r == nil || now.session == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dropLate()
	at := slices.IndexFunc(r.open, func(former round) bool {
		return former.session == now.session && former.subject == now.subject && former.hintsDoubted == now.hintsDoubted &&
			(former.isApproved || !needsApproval) && former.policy.hasRulesOf(policy)
	})
	if at < 0 {
		return false
	}
	former := r.open[at]
	r.open = slices.Delete(r.open, at, at+1)
	r.note(request, former)
	return true
}

// begin notes that a request was approved or counted, and is about to be sent.
func (r *Rounds) begin(request *call.Call, now round) {
	if r == nil || now.session == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.note(request, now)
}

// note must be called with mu held.
func (r *Rounds) note(request *call.Call, now round) {
	r.begun[request] = now
	r.running.Store(int64(len(r.begun)))
}

// CallBegan implements call.Observer.
func (*Rounds) CallBegan(*call.Call, time.Time) {}

// CallEnded implements call.Observer.
func (r *Rounds) CallEnded(request *call.Call, end call.End) {
	if r.running.Load() == 0 {
		return
	}
	if session := r.end(request, end.Status); session != nil {
		session.OnClose(func() { r.forget(session) })
	}
}

// end notes the end of a request. It returns its session if there may be a next round and the session was not known.
func (r *Rounds) end(request *call.Call, status call.Status) (unknown *fleet.ClientProfile) {
	r.mu.Lock()
	defer r.mu.Unlock()
	ended, ok := r.begun[request]
	if !ok {
		return nil
	}
	delete(r.begun, request)
	r.running.Store(int64(len(r.begun)))
	if status != call.StatusInputRequired {
		return nil
	}
	r.dropLate()
	if len(r.open) >= maxRounds {
		r.open = slices.Delete(r.open, 0, 1)
	}
	ended.until = time.Now().Add(roundTime)
	r.open = append(r.open, ended)
	if r.sessions[ended.session] {
		return nil
	}
	r.sessions[ended.session] = true
	return ended.session
}

// dropLate forgets the calls whose client did not come back in time. Called with mu held.
func (r *Rounds) dropLate() {
	now, late := time.Now(), 0
	for late < len(r.open) && !r.open[late].until.After(now) {
		late++
	}
	r.open = slices.Delete(r.open, 0, late)
}

// forget drops what is waited for of a session that has ended.
func (r *Rounds) forget(session *fleet.ClientProfile) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open = slices.DeleteFunc(r.open, func(former round) bool { return former.session == session })
	delete(r.sessions, session)
}

// PolicyChanged forgets what was decided by another policy.
func (r *Rounds) PolicyChanged() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open = nil
}

// hasRulesOf reports whether two policies are the same, as they are after a reload that changed something else.
func (p *Policy) hasRulesOf(other *Policy) bool {
	return p == other || p != nil && other != nil && reflect.DeepEqual(p.files, other.files) && reflect.DeepEqual(p.ask, other.ask)
}
