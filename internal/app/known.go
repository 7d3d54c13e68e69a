package app

import (
	"context"

	"github.com/mcp-workbench/mcp-workbench/internal/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/front"
)

// KnownServer is what is known of one server.
type KnownServer struct {
	Toolbox, Server string
	Tools           []catalog.Tool
	Err             error // why nothing is
}

// Known returns what is known of all servers that are served, in the order of the
// configuration. Those of which nothing is are connected for it.
func (a *App) Known(ctx context.Context) []KnownServer {
	var servers, unseen []*fleet.Server
	for _, box := range a.view(front.Audience{}).Toolboxes() {
		for _, server := range box.Servers {
			servers = append(servers, server)
			if server.Offered() == nil {
				unseen = append(unseen, server)
			}
		}
	}
	reasons := make(map[*fleet.Server]error)
	for _, opened := range fleet.Connect(ctx, unseen, nil, nil) {
		reasons[opened.Server] = opened.Err
		if opened.Lease != nil {
			opened.Lease.Release()
		}
	}
	known := make([]KnownServer, len(servers))
	for i, server := range servers {
		known[i] = KnownServer{Toolbox: server.Toolbox(), Server: server.Name(), Err: reasons[server]}
		if offered := server.Offered(); offered != nil {
			known[i].Tools, known[i].Err = offered.Tools, nil
		}
	}
	return known
}

// Shown returns what a client gets before it asks for anything: the instructions, and the
// definitions of our own tools.
func (a *App) Shown() (instructions string, tools [][]byte) {
	surface := a.surface(front.Audience{})
	return surface.Instructions(), surface.MetaTools()
}
