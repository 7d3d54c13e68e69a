// Package passthrough routes every request that is not about tools to the server that owns its subject: resources,
// prompts, completion, log levels, tasks, skills, and methods that the workbench does not know.
package passthrough

import (
	"cmp"
	"fmt"
	"log/slog"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// Session is the client session that a request came from.
type Session interface {
	call.Client
	// IsOpen reports whether the client opened the toolbox.
	IsOpen(toolbox string) bool
	// Memory returns the memory of the client, always the same one.
	Memory() *Memory
	// WaitUntil returns until when the client waits for servers that were never seen. The limit counts from the first
	// call of WaitUntil, whether it was made here or for a list of tools.
	WaitUntil(limit time.Duration) time.Time
}

// Toolboxes are the toolboxes that a client may see: those of the fleet, or of a view.
type Toolboxes interface {
	Toolboxes() []*fleet.Toolbox
	Toolbox(name string) (*fleet.Toolbox, bool)
}

// Options configure a Forwarder.
type Options struct {
	Router  *call.Router // sends the requests; default: one without stages
	Visible Toolboxes
	Mode    config.ToolMode
	// OpenedOnly limits lists to the toolboxes that the client opened. By default a client sees the lists of all visible
	// toolboxes, and using an entry starts its server. In direct mode there is nothing to open.
	OpenedOnly bool
	Log        *slog.Logger
}

// Forwarder routes the requests of clients to servers. It is cheap to make: the state of a client is in its Memory.
type Forwarder struct{ Options }

// New makes a Forwarder.
func New(options Options) *Forwarder {
	options.Router = cmp.Or(options.Router, new(call.Router))
	return &Forwarder{options}
}

// Request is a request as it came from the client.
type Request struct {
	Method    string
	Params    wire.Payload // may be absent
	Session   Session
	Canceller *call.Canceller // cancels the request
	// Replier gets the response of a server or of the workbench, a result or an error, or else the cause of the
	// cancellation. It is called exactly once, perhaps before Handle returns.
	Replier call.Replier
}

// Handle answers a request of a client. It does not block.
//
// If only one server can answer the request, the request and its response are forwarded unchanged. Lists are merged and
// names changed only if there are several.
func (f *Forwarder) Handle(request Request) {
	r := f.newRouting(request)
	switch {
	case request.Method == protocol.MethodWatchTask, request.Method == protocol.MethodUnwatchTask: // which clients do not know
		r.refuse(protocol.CodeMethodNotFound, fmt.Sprintf("Method not found: '%s'", request.Method), nil)
	case !r.isKnown && protocol.SimilarMethod(request.Method) != "":
		r.refuseMethod()
	default:
		r.start()
	}
}

// Subscribe answers a request that begins or ends the updates of a resource or a task, made on behalf of a client. It
// does not block.
func (f *Forwarder) Subscribe(request Request) { f.newRouting(request).start() }

// Servers returns the servers of the toolboxes that the client opened, in the order of the configuration.
func (f *Forwarder) Servers(session Session) (servers []*fleet.Server) {
	for _, box := range f.Visible.Toolboxes() {
		if f.Mode == config.Direct || session.IsOpen(box.Name) {
			servers = append(servers, box.Servers...)
		}
	}
	return servers
}

// listedServers returns the servers whose lists the client sees, in the order of the configuration.
func (f *Forwarder) listedServers(session Session) (servers []*fleet.Server) {
	if f.OpenedOnly {
		return f.Servers(session)
	}
	for _, box := range f.Visible.Toolboxes() {
		servers = append(servers, box.Servers...)
	}
	return servers
}

// seesLists reports whether the client sees the lists of the server.
func (f *Forwarder) seesLists(session Session, server *fleet.Server) bool {
	_, visible := f.Visible.Toolbox(server.Toolbox())
	return visible && (!f.OpenedOnly || f.Mode == config.Direct || session.IsOpen(server.Toolbox()))
}

// findServer returns the visible server of an origin; nil if there is none.
func (f *Forwarder) findServer(o origin) *fleet.Server {
	if box, ok := f.Visible.Toolbox(o.toolbox); ok {
		if server, ok := box.Server(o.server); ok {
			return server
		}
	}
	return nil
}

// liveSession returns the session with the server that the client uses at this moment; nil if there is none.
func liveSession(server *fleet.Server, session Session) *downstream.Session {
	return server.SessionFor(session.Profile())
}

func originOf(server *fleet.Server) origin { return origin{server.Toolbox(), server.Name()} }
