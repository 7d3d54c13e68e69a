package app

import "github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"

// Server returns a configured server that is not disabled.
func (a *App) Server(toolbox, name string) (*fleet.Server, bool) {
	box, ok := a.fleet.Toolbox(toolbox)
	if !ok {
		return nil, false
	}
	return box.Server(name)
}
