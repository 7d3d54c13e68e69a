package app

import (
	"context"
	"errors"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// Remembered returns the cached tool lists of a configuration for a person at a terminal, in its order, without servers
// that were never connected. It starts nothing.
func Remembered(ctx context.Context, cfg *config.Config, stateDir string) ([]KnownServer, error) {
	var known []KnownServer
	err := eachRemembered(ctx, cfg, stateDir, func(server *fleet.Server) error {
		if offered := server.Offered().For(config.CallerTerminal); offered != nil {
			known = append(known, KnownServer{Toolbox: server.Toolbox(), Server: server.Name(), Tools: offered.Tools})
		}
		return nil
	})
	return known, err
}

// DoubtedTool is a tool whose annotations do not count because they changed, and nobody accepted that.
type DoubtedTool struct {
	Ref           toolbox.Ref
	Before, After catalog.Hints
}

// DoubtedTools returns the tools of a configuration whose hints changed, as far as its servers were seen. It starts
// nothing. Servers whose hints are not trusted at all are included: they may be trusted later.
func DoubtedTools(ctx context.Context, cfg *config.Config, stateDir string) ([]DoubtedTool, error) {
	var doubted []DoubtedTool
	err := eachRemembered(ctx, cfg, stateDir, func(server *fleet.Server) error {
		for _, change := range server.ChangedHints() {
			ref := toolbox.Ref{Toolbox: server.Toolbox(), Server: server.Name(), Name: change.Tool}
			doubted = append(doubted, DoubtedTool{ref, change.Before, change.After})
		}
		return nil
	})
	return doubted, err
}

// AcceptHints lets the hints of these tools count as they were seen last. It starts nothing. A running workbench takes
// that over when it reloads, and when it reads the tools of the server again.
func AcceptHints(ctx context.Context, cfg *config.Config, stateDir string, tools []toolbox.Ref) error {
	return eachRemembered(ctx, cfg, stateDir, func(server *fleet.Server) error {
		var names []string
		for _, ref := range tools {
			if ref.Toolbox == server.Toolbox() && ref.Server == server.Name() {
				names = append(names, ref.Name)
			}
		}
		if names == nil {
			return nil
		}
		return server.AcceptHints(names)
	})
}

// eachRemembered visits the servers of a configuration, of which only the cache is known.
func eachRemembered(ctx context.Context, cfg *config.Config, stateDir string, visit func(*fleet.Server) error) error {
	restrictions, err := restrictionsOf(cfg)
	if err != nil {
		return err
	}
	servers := fleet.New(fleet.Options{
		Config: cfg, Restrictions: restrictions,
		Copies: catalog.NewCopies(definitionsDir(stateDir), nil), Baseline: catalog.NewBaseline(definitionsDir(stateDir), nil),
	})
	var errs []error
	for _, box := range servers.Toolboxes() {
		for _, server := range box.Servers {
			errs = append(errs, visit(server))
		}
	}
	return errors.Join(append(errs, servers.Stop(ctx))...)
}
