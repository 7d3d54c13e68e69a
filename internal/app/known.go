package app

import (
	"context"
	"errors"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/front"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
)

// KnownServer is what is known of one server.
type KnownServer struct {
	Toolbox, Server string
	Tools           []catalog.Tool
	Denied          []string // names of tools that the policy hides
	Instructions    string   // what the server says of how to use it
	Version         string   // as the server says it; may be empty
	Err             error    // why nothing is known
}

// KnownOptions say what Known is to find out. The zero value is all that is not known, for
// a client that declares nothing.
type KnownOptions struct {
	// Wanted reports whether a server is meant; nil: all are.
	Wanted func(toolbox, server string) bool
	// Refresh connects also those of which something is known, and waits for each as long as it
	// may take. Else those that were never seen are waited for as Patience has it.
	Refresh bool
	// Stored connects none: those of which nothing is known have ErrNeverSeen.
	Stored bool
	// Capabilities are those that servers are told, as for NewOnlooker; "": none.
	Capabilities string
	// Connecting is told which servers are connected, if any are, and returns what is told of
	// each when it is done, by its place among them, from one goroutine at a time.
	Connecting func(servers []KnownServer) (connected func(i int, server KnownServer))
}

// ErrNeverSeen says that nothing is known of a server, since it was never connected.
var ErrNeverSeen = errors.New("the server was never connected")

// Known returns what is known of the servers that are served, in the order of the
// configuration. Those of which nothing is are connected for it.
func (a *App) Known(ctx context.Context, options KnownOptions) []KnownServer {
	var servers, connect []*fleet.Server
	for _, box := range a.view(front.Audience{}).Toolboxes() {
		for _, server := range box.Servers {
			if options.Wanted != nil && !options.Wanted(box.Name, server.Name()) {
				continue
			}
			servers = append(servers, server)
			if options.Refresh && !options.Stored || server.Offered() == nil {
				connect = append(connect, server)
			}
		}
	}
	var reasons map[*fleet.Server]error
	if options.Stored {
		reasons = make(map[*fleet.Server]error)
		for _, server := range connect {
			reasons[server] = ErrNeverSeen
		}
	} else {
		reasons = a.learn(ctx, connect, len(servers) > len(connect), options)
	}
	known := make([]KnownServer, len(servers))
	for i, server := range servers {
		known[i] = knownOf(server, reasons[server])
	}
	return known
}

// learn connects servers, and returns why that failed with some. Others says that something is
// known of other servers.
func (a *App) learn(ctx context.Context, servers []*fleet.Server, others bool, options KnownOptions) map[*fleet.Server]error {
	reasons := make(map[*fleet.Server]error)
	if len(servers) == 0 {
		return reasons
	}
	place := make(map[*fleet.Server]int)
	connecting := make([]KnownServer, len(servers))
	for i, server := range servers {
		place[server] = i
		connecting[i] = KnownServer{Toolbox: server.Toolbox(), Server: server.Name()}
	}
	connected := func(int, KnownServer) {}
	if options.Connecting != nil {
		connected = options.Connecting(connecting)
	}
	var profile *fleet.ClientProfile
	if options.Capabilities != "" {
		profile = NewOnlooker(options.Capabilities)
		defer profile.Close()
	}
	judge := func(err error) error { return err }
	if !options.Refresh {
		var patience *Patience
		ctx, patience = NewPatience(ctx, others)
		defer patience.End()
		judge = patience.Judge
	}
	fleet.Connect(ctx, servers, profile, func(opened fleet.Opened) {
		reason := judge(opened.Err)
		reasons[opened.Server] = reason
		if opened.Lease != nil {
			opened.Lease.Release()
		}
		connected(place[opened.Server], knownOf(opened.Server, reason))
	})
	return reasons
}

// knownOf is what is known of a server now. What was known before counts more than that it
// cannot be connected, unless that was asked for.
func knownOf(server *fleet.Server, reason error) KnownServer {
	known := KnownServer{Toolbox: server.Toolbox(), Server: server.Name(), Err: reason}
	if offered := server.Offered(); offered != nil && reason == nil {
		known.Tools, known.Denied = offered.Tools, offered.Denied
		known.Instructions, known.Version = offered.Instructions, offered.ServerVersion
	}
	return known
}

// Shown returns what a client gets before it asks for anything: the instructions, and the
// definitions of our own tools.
func (a *App) Shown() (instructions string, tools [][]byte) {
	surface := a.surface(front.Audience{})
	return surface.Instructions(), surface.MetaTools()
}
