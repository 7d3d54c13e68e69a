// Package passthrough takes what is no tool to the servers that have it: resources, prompts,
// completion, log levels, tasks, and whatever else MCP may know.
package passthrough

import (
	"cmp"
	"fmt"
	"log/slog"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// Session is the client session that a request came from.
type Session interface {
	call.Client
	// IsOpen reports whether the client opened the toolbox.
	IsOpen(toolbox string) bool
	// Memory returns what is remembered of the client: always the same.
	Memory() *Memory
	// WaitUntil returns until when the client waits for servers that were never seen: for the limit
	// from when it is first asked, here or for a list of tools.
	WaitUntil(limit time.Duration) time.Time
}

// Toolboxes are what a client may see of the fleet: all of it, or a view.
type Toolboxes interface {
	Toolboxes() []*fleet.Toolbox
	Toolbox(name string) (*fleet.Toolbox, bool)
}

// Options say what a passage leads to.
type Options struct {
	Router  *call.Router // sends the requests; default: one without stages
	Visible Toolboxes
	Mode    config.ToolMode
	// OpenedOnly lists what is in opened toolboxes only. Otherwise a client sees what is in all
	// visible ones, and what it uses is started then. In direct mode there is nothing to open.
	OpenedOnly bool
	Log        *slog.Logger
}

// Passage leads the requests of clients to servers. It costs next to nothing to make; what
// is remembered is in the clients' memories.
type Passage struct {
	Options
	carry func(Session) carrier
}

// New makes a passage.
func New(options Options) *Passage {
	options.Router = cmp.Or(options.Router, new(call.Router))
	return &Passage{Options: options, carry: func(session Session) carrier { return fleetCarrier{options.Router, session} }}
}

// Request is a request as it came from the client.
type Request struct {
	Method    string
	Params    wire.Payload // may be absent
	Session   Session
	Canceller *call.Canceller // cancels the request
	// Replier gets the answer: what a server or we answered, be it a result or an error,
	// or the cause of the cancellation. It is called exactly once, perhaps before Handle
	// returns.
	Replier call.Replier
}

// Handle answers a request of a client. It does not block.
//
// While there is but one server that a request can be for, it gets it as it came, and so
// does the client its answer. Only among several is anything gathered or renamed.
func (p *Passage) Handle(request Request) {
	e := p.newErrand(request)
	switch request.Method {
	case protocol.MethodWatchTask, protocol.MethodUnwatchTask: // which clients do not know
		e.refuse(protocol.CodeMethodNotFound, fmt.Sprintf("Method not found: '%s'", request.Method), nil)
		return
	}
	e.send()
}

// Subscribe answers a request for updates of a resource or a task, or for an end of them, that
// is made on a client's behalf. It does not block.
func (p *Passage) Subscribe(request Request) { p.newErrand(request).send() }

func (p *Passage) newErrand(request Request) *errand {
	e := &errand{passage: p, request: request, memory: request.Session.Memory(), carrier: p.carry(request.Session)}
	e.kind, e.known = methods[request.Method]
	e.scope = p.Servers(request.Session)
	if e.kind.wide {
		e.scope = p.listed(request.Session)
	}
	return e
}

// send finds the server for the request, or answers it.
func (e *errand) send() {
	switch {
	case len(e.scope) == 1 && e.mayPass(e.scope[0]) && e.answersLists():
		if e.kind.list != nil {
			e.memory.serves(e.kind.list, e.sights)
		}
		e.pass(e.scope[0])
	case e.known && len(e.scope) == 0:
		e.kind.nobody(e)
	default:
		go e.choose()
	}
}

// mayPass reports whether the only server that a request can be for gets it as it is. Unless it
// runs, it is started only for what is certainly for it: never for a list.
func (e *errand) mayPass(only *fleet.Server) bool {
	if e.memory.hasRenamed(originOf(only)) || e.kind.list == tasks && e.carrier.servesOthers(only) {
		return false
	}
	if !e.known || e.carrier.live(only) != nil {
		return true
	}
	if e.passage.Mode == config.Direct {
		return e.kind.list == nil && e.request.Method != protocol.MethodSetLevel
	}
	return e.kind.starts && e.request.Session.IsOpen(only.Toolbox())
}

// answersLists reports whether a list may be asked of the only server: one that declares such lists and has not
// told this one yet is not waited for.
func (e *errand) answersLists() bool {
	if e.kind.list == nil {
		return true
	}
	e.look()
	only := e.sights[0]
	return e.kind.list == tasks || only.lists[e.kind.list] != nil || !e.kind.list.IsDeclared(only.capabilities)
}

// Servers returns the servers of the toolboxes that the client opened, in the order of the
// configuration.
func (p *Passage) Servers(session Session) (servers []*fleet.Server) {
	for _, box := range p.Visible.Toolboxes() {
		if p.Mode == config.Direct || session.IsOpen(box.Name) {
			servers = append(servers, box.Servers...)
		}
	}
	return servers
}

// listed returns the servers whose lists the client sees, in the order of the configuration.
func (p *Passage) listed(session Session) (servers []*fleet.Server) {
	if p.OpenedOnly {
		return p.Servers(session)
	}
	for _, box := range p.Visible.Toolboxes() {
		servers = append(servers, box.Servers...)
	}
	return servers
}

// sees reports whether the client sees what the server lists.
func (p *Passage) sees(session Session, server *fleet.Server) bool {
	_, visible := p.Visible.Toolbox(server.Toolbox())
	return visible && (!p.OpenedOnly || p.Mode == config.Direct || session.IsOpen(server.Toolbox()))
}

func originOf(server *fleet.Server) origin { return origin{server.Toolbox(), server.Name()} }
