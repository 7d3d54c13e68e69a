package app

import (
	"cmp"
	"context"
	"errors"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/front"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/tokencost"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// KnownServer is the tool list of a server, from the cache or from a connection.
type KnownServer struct {
	Toolbox, Server string
	Tools           []catalog.Tool
	Denied          []string // names of tools hidden by the policy
	Instructions    string   // of the server
	Version         string   // reported by the server; may be empty
	Folder          string   // where relative paths in arguments start; "" if that is not known
	NamedFolders    []string // where the server may start them instead
	ForOthers       bool     // the list is that of a client with other capabilities, and may have fewer tools, or more
	Err             error    // why the list is unknown
}

// KnownOptions select the servers that Known connects. The zero value connects all servers without a cached list, as a
// client without capabilities.
type KnownOptions struct {
	// Wanted selects servers; nil: all.
	Wanted func(toolbox, server string) bool
	// Refresh also connects servers with a cached list, and waits for each up to its own limit.
	// Otherwise Patience bounds the wait for servers that were never connected.
	Refresh bool
	// Stored connects no server: those without a cached list have ErrNeverSeen.
	Stored bool
	// Capabilities are declared to servers, as for NewOnlooker; "": none.
	Capabilities string
	// Caller is who the tools are listed for, to the rules of the policy. Default: a person at a terminal.
	Caller string
	// Connecting is called with the servers that are about to be connected, if any. The function it
	// returns is called for each when it is done, by index, from one goroutine at a time.
	Connecting func(servers []KnownServer) (connected func(i int, server KnownServer))
}

// ErrNeverSeen is the error of a server without a cached list.
var ErrNeverSeen = errors.New("the server was never connected")

// Known returns the tool lists of the servers, in the order of the configuration. Servers without a
// cached list are connected.
func (a *App) Known(ctx context.Context, options KnownOptions) []KnownServer {
	options.Caller = cmp.Or(options.Caller, config.CallerTerminal)
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
		reasons = a.connectServers(ctx, connect, len(servers) > len(connect), options)
	}
	known := make([]KnownServer, len(servers))
	for i, server := range servers {
		known[i] = knownOf(server, options.Caller, reasons[server])
		known[i].ForOthers = !server.IsListedFor(options.Capabilities)
	}
	return known
}

// connectServers connects servers and returns the errors of those that failed. Others reports whether other
// servers have a cached list.
func (a *App) connectServers(ctx context.Context, servers []*fleet.Server, others bool, options KnownOptions) map[*fleet.Server]error {
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
		connected(place[opened.Server], knownOf(opened.Server, options.Caller, reason))
	})
	return reasons
}

// knownOf returns the current list of a server for a caller. A cached list wins over an error of connecting,
// unless a refresh was requested.
func knownOf(server *fleet.Server, caller string, reason error) KnownServer {
	known := KnownServer{Toolbox: server.Toolbox(), Server: server.Name(), Folder: server.Folder(nil), NamedFolders: server.NamedFolders(nil), Err: reason}
	if offered := server.Offered().For(caller); offered != nil && reason == nil {
		known.Tools, known.Denied = offered.Tools, offered.Denied
		known.Instructions, known.Version = offered.Instructions, offered.ServerVersion
	}
	return known
}

// ClientCaller is who the clients of a configuration are to the rules of the policy that start the program themselves.
func ClientCaller(cfg *config.Config) string {
	if cfg.Shared.On {
		return config.CallerShared
	}
	return config.CallerStdio
}

// Shown returns what a client receives.
func (a *App) Shown() tokencost.Shown { return a.shownTo(ClientCaller(a.config.Load())) }

func (a *App) shownTo(caller string) tokencost.Shown {
	surface := a.front.Surface(front.Audience{Caller: caller})
	return tokencost.Shown{Instructions: surface.Instructions(), MetaTools: surface.MetaTools(), OpenAnswer: surface.OpenAnswer}
}
