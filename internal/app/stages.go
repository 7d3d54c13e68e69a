package app

import (
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// stages returns the stages that every request passes on its way to a server. They are made anew with each
// configuration; a stage that the configuration does not ask for is left out.
func (a *App) stages(_ *config.Config) call.Stages {
	return call.Stages{}
}
