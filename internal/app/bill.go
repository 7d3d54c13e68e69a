package app

import (
	"slices"
	"strconv"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/front"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/metatool"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/tokencost"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
)

// Toolboxes implements control.Trier. It starts nothing: what is not known costs nothing here.
func (i Inspector) Toolboxes() control.Toolboxes {
	cfg := i.App.config.Load()
	bill := bill{cfg: cfg, shown: i.App.shownTo(i.caller()), caller: i.caller(), opened: make(map[string]int)}
	view := i.App.view(front.Audience{})
	all := control.Toolboxes{Toolboxes: []control.ToolboxCost{}, Clients: []control.ClientCost{}}
	for _, box := range slices.Concat(view.Toolboxes(), view.DisabledToolboxes()) {
		all.Toolboxes = append(all.Toolboxes, bill.add(box))
	}
	instructions, metaTools := bill.shown.Tokens()
	all.Start, all.Everything = instructions+bill.pinned, bill.listed
	for _, tokens := range metaTools {
		all.Start += tokens
	}
	if cfg.ToolMode == config.Direct {
		all.Start = instructions + bill.listed
	}
	for _, client := range i.App.front.Clients() {
		cost := control.ClientCost{ID: strconv.FormatUint(client.ID, 10), Name: i.App.shown(client.Name), Opened: client.Opened, Tokens: all.Start}
		if cost.Opened == nil {
			cost.Opened = []string{}
		}
		for _, name := range client.Opened {
			cost.Tokens += bill.opened[name]
		}
		all.Clients = append(all.Clients, cost)
	}
	return all
}

// bill adds up what toolboxes cost.
type bill struct {
	cfg            *config.Config
	shown          tokencost.Shown
	caller         string
	listed, pinned int            // tokens of definitions
	opened         map[string]int // tokens, by toolbox, that a client gets who opens it
}

func (b *bill) add(box *fleet.Toolbox) control.ToolboxCost {
	cost := control.ToolboxCost{Name: box.Name, Description: box.Description, Disabled: box.IsDisabled(), Servers: box.ServerNames()}
	var offers []metatool.Offer
	listed := 0
	for _, server := range box.Servers {
		known := server.Offered().For(b.caller)
		if known == nil {
			cost.Unknown = append(cost.Unknown, server.Name())
			continue
		}
		cost.Tools += len(known.Tools)
		offers = append(offers, metatool.Offer{Server: server.Name(), Tools: known.Tools, Instructions: known.Instructions})
		for _, tool := range known.Tools {
			tokens := tokencost.Estimate(string(tool.Definition.Bytes()))
			listed += tokens
			if slices.Contains(b.cfg.Discovery.Pinned, toolbox.Ref{Toolbox: box.Name, Server: server.Name(), Name: tool.Name}) {
				b.pinned += tokens
			}
		}
	}
	cost.Full, cost.Brief = b.shown.Opened(box.Name, box.Description, offers)
	b.listed += listed
	b.opened[box.Name] = cost.Full
	if b.cfg.Discovery.OpenBrief {
		b.opened[box.Name] = cost.Brief
	}
	if b.cfg.ToolMode == config.Dynamic { // its tools are listed natively, too
		b.opened[box.Name] += listed
	}
	return cost
}
