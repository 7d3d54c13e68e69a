package fleet

import (
	"cmp"
	"path/filepath"

	"github.com/mcp-workbench/mcp-workbench/internal/servers/builtin"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// Folder returns the folder in which the server runs for a client; "" for a remote server, and if it is not known.
func (s *Server) Folder(p *ClientProfile) string {
	definition := &s.config
	if p != nil {
		if d := p.options.Environment.differenceFor(s); d != nil {
			definition = &d.config
		}
	}
	if definition.URL != "" {
		return ""
	}
	folder := definition.Dir
	if dependsOnFolder(definition) {
		if p != nil {
			folder = p.options.Folder
		}
		folder = cmp.Or(folder, s.fleet.options.Folder)
	}
	folder, err := filepath.Abs(folder)
	if err != nil { // our own folder is gone
		return ""
	}
	return folder
}

// folderFor returns the client's folder if the server depends on it.
func (s *Server) folderFor(p *ClientProfile) string {
	definition := &s.config
	if d := p.options.Environment.differenceFor(s); d != nil {
		definition = &d.config
	}
	if !dependsOnFolder(definition) {
		return ""
	}
	return p.options.Folder
}

// dependsOnFolder reports whether a server depends on the working folder of its clients. A remote server does not know
// it, and most built-in servers do not use it.
func dependsOnFolder(server *config.Server) bool {
	return server.Dir == "" && server.URL == "" && (server.Builtin == "" || builtin.WorksInFolder(server.Builtin))
}
