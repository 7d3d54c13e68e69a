package fleet

import (
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/hops"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// State is where a server is in its life.
type State string

// The states. A faulty server is never started, since what the configuration says of it is
// wrong. One that is dismissed or whose workbench ends is stopping until its
// process is gone.
const (
	Faulty     State = "faulty"
	Idle       State = "idle"
	Starting   State = "starting"
	Ready      State = "ready"
	BackingOff State = "backing off"
	Stopping   State = "stopping"
)

// Status is what can be said of one server at one moment.
type Status struct {
	Toolbox, Server string
	State           State
	PID             int           // 0 unless it is ready, and for a remote server
	Uptime          time.Duration // since it was ready
	Tools           int           // that it offered last
	Restarts        int           // starts that succeeded after the first
	Calls           int           // uses, of whatever kind
	Revision        string        // of the protocol; "" unless it is ready
	LastError       string        // of the last failure in a row, or the fault; "" if there is none
	Since           time.Time     // of the first failure in a row
	NextTry         time.Duration // while it is backing off
	Steps           []Step        // of the start that is under way, or was the last
	Software        string        // its own name and version; "" unless it is ready
	Stderr          []string      // its last lines, secrets masked
	Clients         int           // that use it, or did a moment ago
	For             Common        // what clients have in common that may share it
}

// Common is what clients have in common that share a session with a server, as far as it
// keeps others from sharing it. Of the session for clients that could share any, it is zero.
type Common struct {
	Folder       string   // where they work, and the server runs
	Roots        []string // their addresses, where the server asked for them
	Capabilities []string // names of what they declared
	Environment  []string // names of variables that have other values than for the workbench
	Command      string   // the file that the server's command is for them
	Behind       int      // how many workbenches their requests come through, where the server may be one, too
	Modern       bool     // they speak the protocol of the era without sessions
	Alone        bool     // it is one client: it has to be asked something that others may answer otherwise
}

// common describes whom a variant is for.
func (s *Server) common() (c Common) {
	v := &s.configured().variants
	v.mu.Lock()
	key := s.key
	v.mu.Unlock()
	c = Common{Folder: key.folder, Behind: hops.Count(key.hops), Modern: key.modern, Alone: key.alone != 0}
	for name := range wire.Raw([]byte(key.capabilities)).Members() {
		c.Capabilities = append(c.Capabilities, string(name))
	}
	for root := range wire.Raw([]byte(key.roots)).Elements() {
		uri, _ := root.Member("uri").Text()
		c.Roots = append(c.Roots, uri)
	}
	if key.roots != "" && c.Roots == nil {
		c.Roots = []string{} // that there are none is known, too
	}
	if s.differs != nil {
		c.Environment, c.Command = s.differs.variables, s.differs.command
	}
	return c
}

// statusLines is how many lines of stderr a status holds.
const statusLines = 20

// Status returns the status of every configured server, in order; of one that several
// clients use in sessions of their own, there is one for each session.
func (f *Fleet) Status() []Status {
	var all []Status
	for _, box := range f.Toolboxes() {
		for _, server := range box.Servers {
			sessions := server.allVariants()
			for i, session := range sessions {
				status := session.Status()
				if i > 0 || len(sessions) == 1 || !status.isUnused() {
					all = append(all, status)
				}
			}
		}
	}
	return all
}

// isUnused reports whether nothing ever happened to the server.
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
		Restarts: max(s.starts-1, 0), Calls: s.calls, Steps: s.progress.snapshot(),
		Clients: clients, For: common,
	}
	if s.offered != nil {
		status.Tools = len(s.offered.Tools)
	}
	if s.failure != nil {
		status.LastError, status.Since = s.failure.err.Error(), s.failure.since
		status.NextTry = max(time.Until(s.failure.until), 0)
	}
	if s.config.Fault != nil {
		status.LastError = s.config.Fault.Brief()
	}
	if s.running != nil {
		status.PID, status.Uptime = s.running.pid(), time.Since(s.running.ready)
		status.Calls += s.running.uses()
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

// state is called with mu held.
func (s *Server) state() State {
	switch {
	case s.config.Fault != nil:
		return Faulty
	case s.stopping > 0 && s.running == nil && s.starting == nil:
		return Stopping
	case s.starting != nil:
		return Starting
	case s.running != nil:
		return Ready
	case s.failure != nil && time.Now().Before(s.failure.until):
		return BackingOff
	default:
		return Idle
	}
}
