package fleet

import (
	"net/url"
	"slices"
)

// Glance is what can be seen of a session with a server at small cost, to notice that its status has changed: two glances
// of a session are equal unless it has. What grows all the time, such as its uptime and its requests, is left out.
type Glance struct {
	session  *Server
	state    State
	clients  int
	tools    int
	starts   int
	failures int
	running  *instance
	failure  *failure
	login    *loginNeeded
	gone     *failure // of a copy that is gone; see variants
}

// Glances appends a glance of every session that Status describes, in the same order.
func (f *Fleet) Glances(to []Glance) []Glance {
	for _, box := range f.Toolboxes() {
		for _, server := range box.Servers {
			to = server.appendGlances(to)
		}
	}
	return to
}

// appendGlances appends those of a configured server and its variants. Instances of people are left out while nothing of
// them runs or fails: there may be thousands. The configured server is left out if it was never started, and another one is
// there.
func (s *Server) appendGlances(to []Glance) []Glance {
	s.variants.mu.Lock()
	isAlone := len(s.variants.byKey) == 0
	members := len(s.variants.members[s])
	s.variants.mu.Unlock()
	if isAlone {
		own := s.glance(members)
		if own.isUnused() {
			own.gone = s.variants.gone.Load()
		}
		return append(to, own)
	}
	sessions, first := s.allVariants(), len(to)
	for _, session := range sessions[1:] {
		one := session.glance(s.variants.countMembers(session))
		if session.person == "" || one.state != Idle || one.failure != nil {
			to = append(to, one)
		}
	}
	if own := s.glance(members); len(to) == first || !own.isUnused() {
		if len(to) == first && own.isUnused() {
			own.gone = s.variants.gone.Load()
		}
		to = slices.Insert(to, first, own)
	}
	return to
}

func (v *variants) countMembers(session *Server) int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.members[session])
}

func (s *Server) glance(clients int) Glance {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := Glance{session: s, state: s.state(), clients: clients, starts: s.starts, failures: s.failures, running: s.running, failure: s.failure, login: s.login}
	if s.offered != nil {
		g.tools = len(s.offered.Tools)
	}
	return g
}

// isUnused reports whether the session was never begun.
func (g *Glance) isUnused() bool {
	return g.state == Idle && g.failure == nil && g.tools == 0 && g.starts <= 1
}

// Server returns the names of the session's server.
func (g *Glance) Server() (toolbox, server string) { return g.session.toolbox, g.session.Name() }

// PID returns the process of the server; 0 without one.
func (g *Glance) PID() int {
	if g.running == nil {
		return 0
	}
	return g.running.pid()
}

// Status returns the session's status as it is now.
func (g *Glance) Status() Status {
	status := g.session.Status()
	if g.gone != nil && status.isUnused() {
		status.LastError, status.Since, status.Failures = g.gone.err.Error(), g.gone.since, 1
	}
	return status
}

// Runs returns what the session is with: the command without its arguments, or the address without what may be secret.
func (g *Glance) Runs() string {
	definition := &g.session.config
	switch {
	case definition.Builtin != "":
		return "built in: " + definition.Builtin
	case definition.URL == "":
		return g.session.fleet.cleanServerText(definition.Command)
	}
	address, err := url.Parse(definition.URL)
	if err != nil {
		return ""
	}
	return g.session.fleet.cleanServerText(address.Scheme + "://" + address.Host) // a path may hold a key
}
