package app

import (
	"context"

	"github.com/mcp-workbench/mcp-workbench/internal/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/front"
)

// Offer is what one server offers.
type Offer struct {
	Toolbox, Server string
	Tools           []catalog.Tool
	Err             error // why nothing is known of it
}

// Offers returns what all servers that are served offer, in the order of the
// configuration. Those of which nothing is known are connected for it.
func (a *App) Offers(ctx context.Context) []Offer {
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
	offers := make([]Offer, len(servers))
	for i, server := range servers {
		offers[i] = Offer{Toolbox: server.Toolbox(), Server: server.Name(), Err: reasons[server]}
		if offered := server.Offered(); offered != nil {
			offers[i].Tools, offers[i].Err = offered.Tools, nil
		}
	}
	return offers
}

// Shown returns what a client gets before it asks for anything: the instructions, and the
// definitions of our own tools.
func (a *App) Shown() (instructions string, tools [][]byte) {
	surface := a.surface(front.Audience{})
	return surface.Instructions(), surface.MetaTools()
}
