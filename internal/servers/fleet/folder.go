package fleet

import (
	"cmp"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
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

// NamedFolders returns the folders that the arguments of the server's command and the client's roots name. Some servers
// start relative paths there, and not in the folder in which they run.
func (s *Server) NamedFolders(p *ClientProfile) (folders []string) {
	definition := &s.config
	if p != nil {
		if d := p.options.Environment.differenceFor(s); d != nil {
			definition = &d.config
		}
	}
	own := s.Folder(p)
	if own == "" {
		return nil
	}
	for _, argument := range definition.Args {
		if _, value, ok := strings.Cut(argument, "="); ok {
			argument = value
		}
		if argument == "" || strings.HasPrefix(argument, "-") {
			continue
		}
		if !filepath.IsAbs(argument) {
			argument = filepath.Join(own, argument)
		}
		if info, err := os.Stat(argument); err == nil && info.IsDir() && argument != own {
			folders = append(folders, argument)
		}
	}
	if s.variants.isRooted() { // it asks for them
		folders = append(folders, p.rootFolders()...)
	}
	return folders
}

// rootFolders returns the client's roots, as far as they are known and are folders of this machine.
func (p *ClientProfile) rootFolders() (folders []string) {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	roots := p.roots
	p.mu.Unlock()
	if roots == nil {
		return nil
	}
	for root := range wire.Raw(roots).Elements() {
		address, _ := root.Member("uri").Text()
		if parsed, err := url.Parse(address); err == nil && parsed.Scheme == "file" && filepath.IsAbs(parsed.Path) {
			folders = append(folders, parsed.Path)
		}
	}
	return folders
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
