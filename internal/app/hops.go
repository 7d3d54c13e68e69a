package app

import "github.com/mcp-workbench/mcp-workbench/internal/mcp/hops"

// NewSelf returns the identity by which workbenches with this state folder recognise themselves.
func NewSelf(stateDir string) *hops.Self {
	return hops.New(func() []byte { return hops.Key(stateDir) })
}

// refuseLoop refuses a client that leads this workbench back to itself.
func (a *App) refuseLoop(self *hops.Self, mark string) error {
	cfg := a.config.Load()
	var files []string
	for _, file := range cfg.Files {
		files = append(files, hops.RealPath(file.Path))
	}
	var servers []hops.Server
	for _, box := range cfg.Toolboxes {
		for _, server := range box.Servers {
			servers = append(servers, hops.Server{Toolbox: box.Name, Name: server.Name})
		}
	}
	return self.Check(mark, hops.Workbench{Files: files, Servers: servers, Toolbox: a.toolbox})
}
