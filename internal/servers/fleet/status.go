package fleet

import (
	"strings"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/hops"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// State is the state of a server.
type State string

// The states. A faulty server is never started, because its definition in the configuration is wrong. A server that is
// dismissed, or whose workbench ends, is stopping until its process has exited. A server that needs a login is not started
// again before a person has logged in.
const (
	Faulty      State = "faulty"
	Idle        State = "idle"
	Starting    State = "starting"
	Ready       State = "ready"
	BackingOff  State = "backing off"
	LoginNeeded State = "login needed"
	Stopping    State = "stopping"
)

// States returns all states.
func States() []State {
	return []State{Faulty, Idle, Starting, Ready, BackingOff, LoginNeeded, Stopping}
}

// Label returns the state as a word for metrics.
func (s State) Label() string { return strings.ReplaceAll(string(s), " ", "_") }

// Status describes a server at one moment.
type Status struct {
	Toolbox, Server string
	State           State
	PID             int           // 0 unless it is ready, and for a remote server
	Uptime          time.Duration // since it was ready
	Tools           int           // in its last list
	Remote          bool          // it has no process here
	Starts          int           // successful ones
	Restarts        int           // those after the first
	Requests        int           // of any kind
	Revision        string        // of the protocol; "" unless it is ready
	Failures        int           // in a row
	LastError       string        // the last of the current failures, or the fault; "" without
	Since           time.Time     // the first of the current failures
	NextTry         time.Duration // while it is backing off
	Steps           []Step        // of the current or the last start
	Software        string        // its own name and version; "" unless it is ready
	Stderr          []string      // its last lines, secrets masked
	Clients         int           // that use it or used it a moment ago
	For             Common        // which clients can share it
}

// Common describes what the clients of a session have in common and other clients do not. It is zero for the session
// that any client can share.
type Common struct {
	Folder       string   // the working folder of the clients and the server
	Roots        []string // their URIs, if the server requested them
	Capabilities []string // names of the declared capabilities
	Environment  []string // names of variables whose values differ from those of the workbench
	Command      string   // the executable of the server's command for them
	Behind       int      // how many workbenches their requests pass, if the server may be a workbench
	Modern       bool     // they use the modern era
	Alone        bool     // a single client, because the server asks questions that others may answer differently, or it is configured so
	Person       string   // the name of the person whose instance it is; "": it is nobody's in particular
}

// common describes the clients that a variant is for.
func (s *Server) common() (c Common) {
	v := &s.configured().variants
	v.mu.Lock()
	key := s.key
	v.mu.Unlock()
	c = Common{Person: s.shownPerson(), Folder: key.folder, Behind: hops.Count(key.hops), Modern: key.modern, Alone: key.alone != 0}
	for name := range wire.Raw([]byte(key.capabilities)).Members() {
		c.Capabilities = append(c.Capabilities, string(name))
	}
	for root := range wire.Raw([]byte(key.roots)).Elements() {
		uri, _ := root.Member("uri").Text()
		c.Roots = append(c.Roots, uri)
	}
	if key.roots != "" && c.Roots == nil {
		c.Roots = []string{} // known to be empty
	}
	if s.differs != nil {
		c.Environment, c.Command = s.differs.variables, s.differs.command
	}
	return c
}

// statusLines is the number of stderr lines in a status.
const statusLines = 20

// Status returns the status of every configured server, in the order of the configuration. A server with several sessions
// has one for each.
func (f *Fleet) Status() []Status {
	var all []Status
	for _, glance := range f.Glances(nil) {
		all = append(all, glance.Status())
	}
	return all
}

// isUnused reports whether the server was never started.
func (s *Status) isUnused() bool {
	return s.State == Idle && s.LastError == "" && s.Tools == 0 && s.Restarts == 0
}

// Status returns the server's status.
func (s *Server) Status() Status {
	clients, common := len(s.clients()), s.common()
	s.mu.Lock()
	defer s.mu.Unlock()
	status := Status{
		Toolbox: s.toolbox, Server: s.Name(), State: s.state(),
		Remote: s.config.URL != "", Starts: s.starts, Restarts: max(s.starts-1, 0), Requests: s.calls, Steps: s.progress.snapshot(),
		Clients: clients, For: common,
	}
	if s.offered != nil {
		status.Tools = len(s.offered.Tools)
	}
	if s.failure != nil {
		status.LastError, status.Since, status.Failures = s.failure.err.Error(), s.failure.since, s.failures
		status.NextTry = max(time.Until(s.failure.until), 0)
	}
	if needed := s.lacksLogin(); needed != nil {
		status.LastError = needed.Error()
	}
	if s.config.Fault != nil {
		status.LastError = s.config.Fault.OneLine() // it is one of many lines; validate has all of it
	}
	if s.running != nil {
		status.PID, status.Uptime = s.running.pid(), time.Since(s.running.ready)
		status.Requests += s.running.uses()
		status.Revision = string(s.running.session.Revision())
		status.Software = s.software(s.running.session)
	}
	if s.last != nil {
		for _, line := range s.last.StderrTail(statusLines) {
			status.Stderr = append(status.Stderr, s.fleet.cleanServerText(line))
		}
	}
	return status
}

// state returns the state. Called with mu held.
func (s *Server) state() State {
	switch {
	case s.config.Fault != nil:
		return Faulty
	case s.stopping > 0 && s.running == nil && s.starting == nil:
		return Stopping
	case s.starting != nil:
		return Starting
	case s.lacksLogin() != nil:
		return LoginNeeded
	case s.running != nil:
		return Ready
	case s.failure != nil && time.Now().Before(s.failure.until):
		return BackingOff
	default:
		return Idle
	}
}
