package fleet

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/journal"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/process"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// Server is one configured server, or a variant of it for some of its clients; see For.
type Server struct {
	definition // what is configured
	audience   // the clients that it is for
	lifecycle  // what runs

	// Of a configured server only:
	variants variants
	slots    slots // of its variants

	// Shared with its variants:
	startHints *startHints
	memory     *memory
	journal    *journal.Journal // its last stderr; the variants share it
}

// definition is what the configuration says about a server. It never changes.
type definition struct {
	fleet      *Fleet
	toolbox    string
	config     config.Server
	log        *slog.Logger
	instances  string // for whom it runs; see instancesOf
	maxMessage int
	identity   func() catalog.Hash  // see findIdentity
	signIn     *signIn              // how to sign in to it; nil: not at all
	taps       *downstream.TapPoint // of all its sessions, and of those of a server that replaces it
}

// audience describes the clients that a variant is for. It is the zero value for a configured server, except for left
// and persons, which the mu of the configured server's variants guards.
type audience struct {
	origin       *Server // the configured server of a variant; otherwise nil
	key          variantKey
	private      atomic.Bool // the key is for one client alone
	differs      *difference // the environment of the clients, if it differs; otherwise nil
	capabilities []byte      // declared to the server; nil: none
	modern       bool        // the clients are of the modern era
	folder       string      // the server's working folder; "": the configured one, or ours
	circle       string      // see ClientProfile.circle
	hops         string      // the mark of the clients' connections; "" if they are not workbenches
	refusal      error       // why the clients cannot use the server; nil if they can
	account      string      // of the client that the variant was made for
	person       string      // whose the variant is alone; "": the user of the workbench's, or of all
	personName   string      // of that client
	number       uint64      // of that client
	left         time.Time   // when a client left last
	persons      personsSeen // whose clients use it
}

// lifecycle is the state of a server that runs, or does not. Unless its definition is faulty, a server is in one state at
// any time: idle, starting, ready, backing off from its last failure, or waiting for a login.
type lifecycle struct {
	dismissing sync.Once
	dismissed  chan struct{} // closed when the server is no longer needed
	lives      atomic.Int32  // from the start to the end of a process, under way
	progress   progress      // of the start that is under way, or was the last
	tasks      taskOwners    // of its sessions

	mu        sync.Mutex
	starting  *attempt          // not nil: starting
	running   *instance         // not nil: ready
	launching *instance         // has the process of the start under way; nil: none yet
	failure   *failure          // the last one, until the next success
	failures  int               // in a row; reset when the server stays up for a while
	login     *loginNeeded      // not nil: only a person can go on; a session may be there nevertheless
	starts    int               // that succeeded
	calls     int               // leases of instances that have ended
	stopping  int               // instances that are being stopped
	last      *process.Process  // started last; its stderr may be read after its end
	offered   *catalog.Snapshot // the tools last seen; nil before the first start, see memory
	listed    catalog.Lists     // the other lists last seen; nil before the first start, see memory
}

// attempt is one start, shared by all who wait for it.
type attempt struct {
	done chan struct{}
	err  error // set before done is closed
}

var (
	errStopping  = errors.New("the workbench is shutting down")
	errDismissed = errors.New("the server is no longer part of the configuration")
)

func newServer(f *Fleet, toolbox string, server config.Server, instances string, maxMessage int) *Server {
	s := &Server{
		definition: definition{
			fleet: f, toolbox: toolbox, config: server, instances: instances, maxMessage: maxMessage,
			log: f.options.Log.With("toolbox", toolbox, "server", server.Name), taps: &downstream.TapPoint{},
		},
		lifecycle:  lifecycle{dismissed: make(chan struct{})},
		startHints: &startHints{}, memory: &memory{flagged: &flags{}}, journal: &journal.Journal{},
	}
	s.identity = sync.OnceValue(s.findIdentity)
	s.signIn = f.signInTo(toolbox, &server, f.options.Environ)
	if server.Builtin != "" {
		s.startHints.setNextOpening(downstream.InitializeOnly) // our own settle on the era of their first request
	}
	return s
}

// dismiss ends a server and its variants when their calls have ended.
func (s *Server) dismiss() {
	s.dismissing.Do(func() { close(s.dismissed) })
	if s.origin == nil {
		for _, variant := range s.allVariants()[1:] {
			variant.dismiss()
		}
	}
}

func (s *Server) isDismissed() bool {
	select {
	case <-s.dismissed:
		return true
	default:
		return false
	}
}

// dismissal returns why a server was dismissed.
func (s *Server) dismissal() error {
	if s.origin != nil && !s.origin.isDismissed() {
		return errDeserted
	}
	return errDismissed
}

// IsOutdated reports whether the configuration has another server in place of this one, or none.
func (s *Server) IsOutdated() bool { return s.isDismissed() }

// Name returns the configured name.
func (s *Server) Name() string { return s.config.Name }

// Toolbox returns the name of the toolbox that the server is in.
func (s *Server) Toolbox() string { return s.toolbox }

// Fault returns the error in the server's definition, because of which it is never started; nil if there is none.
func (s *Server) Fault() *config.Error { return s.config.Fault }

// Lease returns a lease of the running server for nobody in particular, and starts it if needed; see LeaseFor.
func (s *Server) Lease(ctx context.Context) (*Lease, error) { return s.leaseAs(ctx, "") }

// leaseAs returns a lease of the running server for a caller, and starts it if needed. Concurrent callers share one start, which
// continues when one of them gives up. It blocks until the server is ready, the start failed, or ctx ends. Release the
// lease.
func (s *Server) leaseAs(ctx context.Context, caller string) (*Lease, error) {
	for {
		lease, pending, err := s.leaseNow(caller)
		if lease != nil || err != nil {
			return lease, err
		}
		select {
		case <-pending.done:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		if pending.err != nil {
			return nil, pending.err
		}
	}
}

// StartInBackground starts the server unless it is running, and does not wait for it.
func (s *Server) StartInBackground() {
	if lease, _, _ := s.leaseNow(""); lease != nil { // the next use reports why it cannot be started
		lease.Release()
	}
}

// TryLeaseFor returns the lease of the client's variant if that is ready, or nil. It does not block.
func (s *Server) TryLeaseFor(p *ClientProfile) *Lease { return s.For(p).tryLease(p.Caller()) }

func (s *Server) tryLease(caller string) *Lease {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.isReady() {
		return nil
	}
	return s.running.lease(s, caller)
}

// isReady reports whether there is a session to use. A session that has just ended is retired at once: a caller that saw
// its end must get a new one. Called with mu held.
func (s *Server) isReady() bool {
	if s.running == nil {
		return false
	}
	if err := s.running.session.Err(); err != nil {
		s.crashed(s.running, err)
	} else if s.signIn != nil && s.loginOf(s.running) != s.running.login.id {
		s.replace(s.running)
	}
	return s.running != nil
}

// leaseNow returns the lease of a server that is ready, or the start to wait for. A faulty server is never started: a
// reload replaces it.
func (s *Server) leaseNow(caller string) (*Lease, *attempt, error) {
	if s.refusal != nil {
		return nil, nil, s.refusal
	}
	if fault := s.config.Fault; fault != nil {
		return nil, nil, &Failure{reason: fault.Brief(), cause: fault}
	}
	if needed := s.needsPerson(caller); needed != nil {
		return nil, nil, needed
	}
	if s.origin == nil {
		return s.leaseOrStart(caller, true)
	}
	if lease, pending, err := s.leaseOrStart(caller, false); lease != nil || pending != nil || err != nil {
		return lease, pending, err
	}
	if err := s.fleet.memory.admit(s); err != nil {
		return nil, nil, err
	}
	slots := &s.origin.slots
	slots.mu.Lock()
	defer slots.mu.Unlock()
	if err := slots.admit(s); err != nil {
		return nil, nil, err
	}
	return s.leaseOrStart(caller, true)
}

// leaseOrStart returns the lease of a server that is ready, the start to wait for, or why there is none. Without start
// it returns nothing if there is no start yet.
func (s *Server) leaseOrStart(caller string, start bool) (*Lease, *attempt, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isReady() {
		return s.running.lease(s, caller), nil, nil
	}
	if s.starting != nil {
		return nil, s.starting, nil
	}
	if s.isDismissed() {
		return nil, nil, s.dismissal()
	}
	if needed := s.awaitsLogin(); needed != nil {
		return nil, nil, needed
	}
	if needed := s.lacksOwnLogin(); needed != nil {
		return nil, nil, needed
	}
	if s.failure != nil {
		if wait := time.Until(s.failure.until); wait > 0 {
			return nil, nil, &BackoffError{Err: s.failure.err, Since: s.failure.since, Wait: wait}
		}
	}
	if !start {
		return nil, nil, nil
	}
	pending := &attempt{done: make(chan struct{})}
	s.lives.Add(1)
	if !s.fleet.run(func() { s.live(pending) }) {
		s.lives.Add(-1)
		return nil, nil, errStopping
	}
	s.starting, s.login = pending, nil
	return nil, pending, nil
}

// live is the goroutine of one life of the server, from its start to its end.
func (s *Server) live(pending *attempt) {
	defer s.releaseSlot()
	defer s.lives.Add(-1)
	before := s.Offered() // the start replaces the cache
	login := s.currentLogin()
	began := time.Now()
	ctx, cancel := context.WithTimeout(s.fleet.life, s.config.Timeouts.Connect)
	in, err := s.launch(ctx)
	var dropped *instance
	cancel()

	s.mu.Lock()
	s.starting, s.launching = nil, nil
	if err == nil && in.stopped.Load() != nil {
		err, dropped = in.stopped.Load(), in
	}
	if err != nil {
		s.progress.fail()
		if !s.needsLogin(err, login) {
			s.failed(err, s.failures)
		}
	} else {
		in.login = login
		in.tools.Store(s.permitted(in.snapshot()))
		s.running, s.offered, s.failure = in, in.snapshot(), nil
		s.starts++
	}
	pending.err = err
	s.mu.Unlock()
	if dropped != nil {
		s.discard(dropped)
	}
	if err == nil {
		s.fleet.changes.Add(1)
		s.configured().variants.gone.Store(nil)
	}
	if err == nil && (before == nil || !s.isSame(before, in.snapshot())) {
		s.fleet.options.ToolsChanged(s.toolbox, s.scope())
	}
	if events := s.fleet.options.Events; events != nil && s.fleet.life.Err() == nil {
		events.ServerStarted(s.toolbox, s.Name(), time.Since(began), err)
	}
	close(pending.done)

	if err != nil {
		s.log.Warn("server did not start", "reason", err)
		return
	}
	s.log.Info("server is ready", "pid", in.pid(), "tools", len(in.snapshot().Tools),
		"revision", in.session.Revision(), "took", in.took.Round(time.Millisecond))
	s.logWithheld(in.snapshot())
	s.watch(in)
}

// retire takes an instance out of use. Called with mu held.
func (s *Server) retire(in *instance) {
	s.running = nil
	s.calls += in.uses()
	if time.Since(in.ready) >= steadyAfter {
		s.failures = 0
	}
}
