// Package passage takes what is no tool to the servers that have it: resources, prompts,
// completion, log levels, tasks, and whatever else MCP may know.
package passage

import (
	"fmt"
	"log/slog"

	"github.com/mcp-workbench/mcp-workbench/internal/call"
	"github.com/mcp-workbench/mcp-workbench/internal/config"
	"github.com/mcp-workbench/mcp-workbench/internal/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/wire"
)

// Session is the client session that a request came from.
type Session interface {
	call.Client
	// IsOpen reports whether the client opened the toolbox.
	IsOpen(toolbox string) bool
	// Memory returns what is remembered of the client: always the same.
	Memory() *Memory
}

// Toolboxes are what a client may see of the fleet: all of it, or a view.
type Toolboxes interface {
	Toolboxes() []*fleet.Toolbox
	Toolbox(name string) (*fleet.Toolbox, bool)
}

// Passage leads the requests of clients to servers. It costs next to nothing to make; what
// is remembered is in the clients' memories.
type Passage struct {
	visible Toolboxes
	mode    config.ToolMode
	log     *slog.Logger
	carry   func(Session) carrier
}

// New makes the passage to what is visible; in direct mode clients need not open it.
func New(visible Toolboxes, mode config.ToolMode, log *slog.Logger) *Passage {
	return &Passage{
		visible: visible, mode: mode, log: log,
		carry: func(session Session) carrier { return fleetCarrier{session} },
	}
}

// Request is a request as it came from the client.
type Request struct {
	Method  string
	Params  wire.Payload // may be absent
	Session Session
	Ticket  *call.Ticket // cancels the request
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
	case downstream.MethodWatchTask, downstream.MethodUnwatchTask: // which clients do not know
		e.refuse(protocol.CodeMethodNotFound, fmt.Sprintf("Method not found: '%s'", request.Method), nil)
		return
	}
	e.send()
}

// Subscribe answers a request for updates of a resource or a task, or for an end of them, that
// is made on a client's behalf. It does not block.
func (p *Passage) Subscribe(request Request) { p.newErrand(request).send() }

func (p *Passage) newErrand(request Request) *errand {
	return &errand{
		passage: p, request: request, memory: request.Session.Memory(), carrier: p.carry(request.Session),
		scope: p.Servers(request.Session),
	}
}

// send finds the server for the request, or answers it.
func (e *errand) send() {
	kind, known := methods[e.request.Method]
	if kind.list != nil {
		e.memory.asks(kind.list, e.scope)
	}
	switch {
	case len(e.scope) == 1 && !e.memory.hasRenamed(originOf(e.scope[0])):
		e.pass(kind, e.scope[0])
	case !known:
		e.refuseUnknown()
	case len(e.scope) == 0:
		kind.nobody(e)
	default:
		go e.choose(kind)
	}
}

// Servers returns the servers that the client's requests may be for, in the order of the
// configuration.
func (p *Passage) Servers(session Session) (servers []*fleet.Server) {
	for _, box := range p.visible.Toolboxes() {
		if p.mode == config.Direct || session.IsOpen(box.Name) {
			servers = append(servers, box.Servers...)
		}
	}
	return servers
}

// sees reports whether the server is in the client's scope.
func (p *Passage) sees(session Session, server *fleet.Server) bool {
	_, visible := p.visible.Toolbox(server.Toolbox())
	return visible && (p.mode == config.Direct || session.IsOpen(server.Toolbox()))
}

func originOf(server *fleet.Server) origin { return origin{server.Toolbox(), server.Name()} }
