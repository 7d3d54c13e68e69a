package app

import (
	"context"

	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// Remembered returns the cached tool lists of a configuration, in its order, without servers that
// were never connected. It starts nothing.
func Remembered(ctx context.Context, cfg *config.Config, stateDir string) ([]KnownServer, error) {
	restrictions, err := restrictionsOf(cfg)
	if err != nil {
		return nil, err
	}
	servers := fleet.New(fleet.Options{Config: cfg, Copies: catalog.NewCopies(definitionsDir(stateDir), nil), Restrictions: restrictions})
	var known []KnownServer
	for _, box := range servers.Toolboxes() {
		for _, server := range box.Servers {
			if offered := server.Offered(); offered != nil {
				known = append(known, KnownServer{Toolbox: box.Name, Server: server.Name(), Tools: offered.Tools})
			}
		}
	}
	return known, servers.Stop(ctx)
}
