package configwrite

import (
	"fmt"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// Entry names a server of a configuration, or a toolbox with all of its servers.
type Entry struct {
	Toolbox string
	Server  string // "": the whole toolbox
}

// String returns the unambiguous name on the command line. A trailing slash distinguishes a toolbox from a server of
// the same name.
func (e Entry) String() string { return e.Toolbox + "/" + e.Server }

// Ref returns the name of the entry in command lines.
func (e Entry) Ref() string {
	if e.Server == "" {
		return e.Toolbox
	}
	return e.String()
}

// Path returns the keys that lead to the entry in the file.
func (e Entry) Path() []string {
	if e.Server == "" {
		return []string{"toolboxes", e.Toolbox}
	}
	return []string{"toolboxes", e.Toolbox, "mcpServers", e.Server}
}

// Describe returns the entry as errors and reports name it.
func (e Entry) Describe() string {
	if e.Server == "" {
		return "toolbox '" + tty.CleanLine(e.Toolbox) + "'"
	}
	return fmt.Sprintf("server '%s' of toolbox '%s'", tty.CleanLine(e.Server), tty.CleanLine(e.Toolbox))
}

// Locate finds the entry named by TOOLBOX/SERVER, TOOLBOX or the name of a server that only one toolbox has.
func Locate(outline *config.Preview, ref string) (Entry, error) {
	found, err := outline.Places().Find(ref, toolbox.ToolboxMarked)
	return Entry(found), err
}

// Servers returns the servers of the entry.
func (e Entry) Servers(outline *config.Preview) []config.PreviewServer {
	var found []config.PreviewServer
	for _, server := range outline.Servers {
		if server.Toolbox == e.Toolbox && (e.Server == "" || server.Name == e.Server) {
			found = append(found, server)
		}
	}
	return found
}
