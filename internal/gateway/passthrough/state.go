package passthrough

import (
	"cmp"
	"context"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
)

// carrier takes requests to servers on behalf of one client.
type carrier interface {
	// look returns what is known of the server. It starts nothing, and may read a file.
	look(server *fleet.Server) sight
	// reach returns what the server declared that it can do. It starts the server if
	// needed, and blocks until it is there, that failed, or ctx ends.
	reach(ctx context.Context, server *fleet.Server) (capabilities wire.Payload, err error)
	// forward sends a request to the server, which is started if needed. It does not block.
	forward(server *fleet.Server, f forwarding)
	// live identifies the session with the server that the client uses at this moment; nil
	// if there is none.
	live(server *fleet.Server) any
	// setLogLevel has the level set in sessions that begin later.
	setLogLevel(params []byte)
	// madeTask says that the server made a task for the client.
	madeTask(server *fleet.Server, id string)
	// servesOthers reports whether the server is used by others than the client's person, so that it may have
	// tasks that are not for the client; hidesTask whether that one is not.
	servesOthers(server *fleet.Server) bool
	hidesTask(server *fleet.Server, id string) bool
}

// sight is what is known of a server without starting it.
type sight struct {
	server       *fleet.Server
	running      bool
	seen         bool          // what it can do is known, perhaps from an earlier run
	capabilities wire.Payload  // what it declared
	lists        catalog.Lists // what it listed
}

// forwarding is a request on its way to a server.
type forwarding struct {
	method    string
	params    wire.Payload // stay as they are
	edits     []wire.Edit  // of parts of params
	name      string       // of what it is about, if that is not in params as the server knows it
	canceller *call.Canceller
	replier   call.Replier // gets the server's own answer, a *call.Failure or the canceller's cause
}

// fleetCarrier carries for a session, with the sessions that its party has.
type fleetCarrier struct {
	router  *call.Router
	session Session
}

func (c fleetCarrier) look(server *fleet.Server) sight {
	party := c.session.Party()
	seen := sight{server: server, lists: server.ListsFor(party)}
	if session := server.SessionFor(party); session != nil {
		seen.running, seen.seen, seen.capabilities = true, true, session.Capabilities()
	} else if offered := server.OfferedFor(party); offered != nil {
		seen.seen, seen.capabilities = true, offered.Capabilities
	}
	return seen
}

func (c fleetCarrier) reach(ctx context.Context, server *fleet.Server) (wire.Payload, error) {
	lease, err := server.LeaseFor(ctx, c.session.Party())
	if err != nil {
		return wire.Payload{}, err
	}
	defer lease.Release()
	return lease.Session.Capabilities(), nil
}

func (c fleetCarrier) forward(server *fleet.Server, f forwarding) {
	c.router.Forward(server, &call.Forwarding{
		Method: f.method, Params: f.params, Edits: f.edits, Name: f.subject(),
		Client: c.session, Canceller: f.canceller, Replier: f.replier,
	})
}

// subject names what the request is about.
func (f forwarding) subject() string {
	about := protocol.FindMethod(f.method)
	if !about.InHeader {
		return ""
	}
	return cmp.Or(f.name, about.SubjectOf(f.params))
}

func (c fleetCarrier) live(server *fleet.Server) any {
	if session := server.SessionFor(c.session.Party()); session != nil {
		return session
	}
	return nil
}

func (c fleetCarrier) setLogLevel(params []byte) {
	if party := c.session.Party(); party != nil {
		party.SetLogLevel(params)
	}
}

func (c fleetCarrier) madeTask(server *fleet.Server, id string) {
	server.MadeTask(c.session.Party(), id)
}

func (c fleetCarrier) servesOthers(server *fleet.Server) bool {
	return server.ServesOthers(c.session.Party())
}

func (c fleetCarrier) hidesTask(server *fleet.Server, id string) bool {
	return server.HidesTask(c.session.Party(), id)
}
