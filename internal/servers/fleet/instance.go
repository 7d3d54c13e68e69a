package fleet

import (
	"bytes"
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/process"
)

// instance is one run of a server: its process and the session with it.
type instance struct {
	process  *process.Process // nil for a remote server
	session  *downstream.Session
	tools    atomic.Pointer[catalog.Snapshot]
	changed  chan struct{} // holds a token when the server notified that its tools changed
	unneeded chan struct{} // holds a token when the prefetch that started it is done; see Prefetch
	ordered  chan struct{} // holds a token when a restart was ordered; see Restart
	yielded  chan struct{} // holds a token when it makes room for another variant; see slots
	replaced chan struct{} // holds a token when the login is another one; see replace
	left     chan struct{} // holds a token when a caller has left or is away

	condemned chan struct{}           // holds a token when it is to end at once; see stopFor
	stopped   atomic.Pointer[Failure] // why; nil: it was not
	abort     context.CancelFunc      // ends its start; nil for a remote server

	ready   time.Time
	took    time.Duration // from the start to ready
	login   usedLogin
	lister  lister
	crashed bool // it ended by itself; guarded by the server's mu

	// Leases are added with the server's mu held, and released without it.
	leases atomic.Int64
	lent   atomic.Int64          // all leases so far
	usage  atomic.Pointer[Usage] // of its processes; nil: not seen yet
	used   atomic.Int64          // when the last lease was released, in nanoseconds after ready
	reused []*Lease              // while the tools stay the same: one for all callers that see the same; guarded by the server's mu

	callers callers

	lentBefore int64 // see wasUsed
}

// Lease keeps a running server in use for one request. It is immutable, so that requests can share one; each of them
// releases it.
type Lease struct {
	Session *downstream.Session
	Tools   *catalog.Snapshot // as the caller can see them

	server   *Server
	instance *instance
	of       *catalog.Snapshot // what Tools is a view of
}

func (in *instance) snapshot() *catalog.Snapshot { return in.tools.Load() }

// lease returns a lease with the tools that a caller can see. Called with the server's mu held.
func (in *instance) lease(s *Server, caller string) *Lease {
	in.leases.Add(1)
	in.lent.Add(1)
	if in.process != nil {
		s.fleet.memory.rouse()
	}
	all := in.snapshot()
	tools := all.For(caller)
	for _, lease := range in.reused {
		if lease.Tools == tools {
			return lease
		}
	}
	if len(in.reused) > 0 && in.reused[0].of != all {
		in.reused = nil
	}
	lease := &Lease{Session: in.session, Tools: tools, server: s, instance: in, of: all}
	in.reused = append(in.reused, lease)
	return lease
}

// Release ends the lease. Call it once for each lease that was returned.
func (l *Lease) Release() {
	in := l.instance
	for {
		n := in.leases.Load()
		if n == 1 { // stored before the count is 0
			in.used.Store(int64(time.Since(in.ready)))
		}
		if in.leases.CompareAndSwap(n, n-1) {
			return
		}
	}
}

// Explain describes for users why a request failed with err. If the session ended because the process exited, the
// description has the exit status and the last output.
func (l *Lease) Explain(err error) error {
	if why := l.instance.stopped.Load(); why != nil {
		return why
	}
	explained := l.server.explain(l.instance.process, err, 0)
	if needed, ok := errors.AsType[*LoginNeededError](explained); ok {
		l.server.noteLogin(l.instance, needed)
	}
	l.server.noteDenial(l.instance, err)
	return explained
}

// ReadySince returns when the server was ready, after its start.
func (l *Lease) ReadySince() time.Time { return l.instance.ready }

// uses returns the number of leases so far.
func (in *instance) uses() int { return int(in.lent.Load()) }

// idleFor returns how long the server has been idle; 0 if it is in use.
func (in *instance) idleFor() time.Duration {
	if in.leases.Load() > 0 {
		return 0
	}
	return max(1, time.Since(in.ready)-time.Duration(in.used.Load()))
}

// refreshPause is the minimum time between two readings of a server's tools, however often it notifies of changes.
const refreshPause = 250 * time.Millisecond

// Limits of the wait for the calls of a dismissed server.
const (
	drainTime  = 30 * time.Second      // for calls of a server that left the configuration; then they end with it
	drainPause = 50 * time.Millisecond // between two checks whether such calls have ended
)

// watch handles the events of a running server until it ends, and then releases everything it used.
func (s *Server) watch(in *instance) {
	defer s.discard(in)
	limit := s.idleLimit()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	if limit <= 0 {
		timer.Stop()
	}
	for {
		select {
		case <-in.session.Done():
			reason := s.explain(in.process, in.session.Err(), 0)
			s.log.Warn("server ended", "reason", reason)
			s.mu.Lock()
			s.crashed(in, reason)
			s.mu.Unlock()
			return
		case <-s.fleet.life.Done():
			s.retireIfRunning(in)
			return
		case <-s.dismissed:
			s.drain(in)
			s.retireIfRunning(in)
			s.log.Info("server stopped", "reason", s.dismissal())
			return
		case <-in.ordered:
			s.log.Info("server stopped", "reason", "it was ordered to restart")
			return
		case <-in.yielded:
			s.log.Info("server stopped", "reason", "it was idle, and another session of the same client needed its place")
			return
		case <-in.condemned:
			s.log.Warn("server stopped", "reason", in.stopped.Load())
			return
		case <-in.replaced:
			s.log.Info("server stopped", "reason", "the login for it has changed")
			s.drain(in)
			return
		case <-in.changed:
			s.refresh(in)
		case <-in.unneeded:
			if s.retireUnused(in) {
				s.log.Info("server stopped", "reason", "what it offers is known now (prefetch)")
				return
			}
		case <-timer.C:
			if s.stopIfIdle(in, limit, timer) {
				return
			}
		case <-in.left:
			if limit > 0 && s.stopIfIdle(in, limit, timer) {
				return
			}
		}
	}
}

// stopIfIdle retires a server that was idle for the limit and has no present caller that may rely on its state.
// Otherwise it sets the timer to the next possible time; with a present caller, the next client that leaves triggers the
// check.
func (s *Server) stopIfIdle(in *instance, limit time.Duration, timer *time.Timer) bool {
	switch left, held := s.retireIdle(in, limit); {
	case held:
		return false
	case left > 0:
		timer.Reset(left)
		return false
	}
	s.log.Info("server stopped", "reason", "idle for "+limit.String()+" (timeouts.idle)")
	return true
}

// drain waits for the calls of a dismissed server, for a limited time.
func (s *Server) drain(in *instance) {
	patience := time.NewTimer(drainTime)
	defer patience.Stop()
	look := time.NewTicker(drainPause)
	defer look.Stop()
	for in.idleFor() == 0 {
		select {
		case <-look.C:
		case <-patience.C:
			return
		case <-in.session.Done():
			return
		case <-s.fleet.life.Done():
			return
		}
	}
}

// retireIfRunning retires an instance, unless that was done before.
func (s *Server) retireIfRunning(in *instance) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running == in {
		s.retire(in)
	}
}

// retireIdle retires a server that was idle for the limit. Otherwise it returns the remaining time, or held if a caller
// is present. No lease is given meanwhile.
func (s *Server) retireIdle(in *instance, limit time.Duration) (left time.Duration, held bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if left = limit - in.idleFor(); left > 0 {
		return left, false
	}
	if in.callers.areThere() {
		return 0, true
	}
	if s.running == in {
		s.retire(in)
	}
	return 0, false
}

// discard stops the process and its children, and ends the session, in bounded time.
func (s *Server) discard(in *instance) {
	s.mu.Lock()
	s.stopping++
	crashed := in.crashed
	s.mu.Unlock()
	if in.process != nil {
		s.stopProcess(in.process)
	}
	if in.session != nil {
		in.session.Close()
	}
	in.stopLists()
	s.mu.Lock()
	s.stopping--
	s.mu.Unlock()
	if events := s.fleet.options.Events; events != nil && !in.ready.IsZero() {
		events.ServerEnded(s.toolbox, s.Name(), time.Since(in.ready), crashed)
	}
}

func (s *Server) stopProcess(child *process.Process) {
	ctx, cancel := context.WithTimeout(context.Background(), stopTime)
	defer cancel()
	if err := child.Stop(ctx); err != nil {
		s.log.Warn("server did not stop cleanly", "reason", err)
	}
}

// pid returns the process id; 0 for a remote server.
func (in *instance) pid() int {
	if in.process == nil {
		return 0
	}
	return in.process.PID()
}

// refresh reads the tools again and then pauses. Notifications that arrive meanwhile cause one more reading.
func (s *Server) refresh(in *instance) {
	ctx, cancel := context.WithTimeout(s.fleet.life, s.config.Timeouts.Connect)
	defer cancel()
	snapshot, err := s.readTools(ctx, in.session, false)
	if err != nil {
		s.log.Warn("could not read the changed tools; the old list stays", "reason", s.explain(in.process, err, s.config.Timeouts.Connect))
		return
	}
	s.mu.Lock()
	snapshot = s.permitted(snapshot)
	before := in.tools.Swap(snapshot)
	s.offered = snapshot
	s.mu.Unlock()
	s.fleet.changes.Add(1)
	if !s.isSame(before, snapshot) {
		s.log.Info("tools changed", "tools", len(snapshot.Tools))
		s.logWithheld(snapshot)
		s.fleet.options.ToolsChanged(s.toolbox, s.scope())
	}
	pause := time.NewTimer(refreshPause)
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-in.session.Done():
	case <-s.fleet.life.Done():
	}
}

// isSame reports whether two snapshots show the same tools to every caller.
func (s *Server) isSame(a, b *catalog.Snapshot) bool {
	if restrictions := s.fleet.restrictions.Load(); restrictions != nil {
		for _, caller := range restrictions.Callers {
			if !sameTools(a.For(caller), b.For(caller)) {
				return false
			}
		}
	}
	return sameTools(a, b)
}

func sameTools(a, b *catalog.Snapshot) bool {
	if len(a.Tools) != len(b.Tools) {
		return false
	}
	for i := range a.Tools {
		if !bytes.Equal(a.Tools[i].Definition.Bytes(), b.Tools[i].Definition.Bytes()) {
			return false
		}
	}
	return true
}

func newInstance(child *process.Process) *instance {
	return &instance{
		process: child, changed: make(chan struct{}, 1), unneeded: make(chan struct{}, 1), ordered: make(chan struct{}, 1), yielded: make(chan struct{}, 1), replaced: make(chan struct{}, 1), left: make(chan struct{}, 1),
		condemned: make(chan struct{}, 1),
		lister:    lister{wake: make(chan struct{}, 1)},
	}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
