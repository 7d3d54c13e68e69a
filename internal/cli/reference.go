package cli

import (
	"fmt"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// place is a server of a configuration, or a toolbox with all of its servers.
type place struct {
	toolbox string
	server  string // "" is the whole toolbox
}

// String is how a place is named on the command line, and by nothing else. The slash at
// the end tells a toolbox from a server of the same name.
func (p place) String() string { return p.toolbox + "/" + p.server }

// path leads to the place in the file.
func (p place) path() []string {
	if p.server == "" {
		return []string{"toolboxes", p.toolbox}
	}
	return []string{"toolboxes", p.toolbox, "mcpServers", p.server}
}

func (p place) describe() string {
	if p.server == "" {
		return "toolbox '" + tty.CleanLine(p.toolbox) + "'"
	}
	return fmt.Sprintf("server '%s' of toolbox '%s'", tty.CleanLine(p.server), tty.CleanLine(p.toolbox))
}

// locate finds what is meant by TOOLBOX/SERVER, TOOLBOX or the name of a server that only
// one toolbox has.
func locate(outline *config.Preview, ref string) (place, error) {
	var found []place
	var names []string
	for _, box := range outline.Toolboxes {
		names = append(names, box.Name)
		if ref == box.Name || ref == box.Name+"/" {
			found = append(found, place{toolbox: box.Name})
		}
	}
	for _, server := range outline.Servers {
		p := place{server.Toolbox, server.Name}
		names = append(names, p.String())
		if ref == server.Name || ref == p.String() {
			found = append(found, p)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return place{}, notFound(ref, names)
	}
	var choices []string
	for _, p := range found {
		choices = append(choices, tty.CleanLine(p.String()))
	}
	return place{}, &toolbox.Error{
		Code:    toolbox.AmbiguousName,
		Message: fmt.Sprintf("'%s' may mean several things", tty.CleanLine(ref)),
		Hint:    "Write one of these: " + strings.Join(choices, ", "),
	}
}

// nearestNames is how many names are suggested for one that is not found.
const nearestNames = 3

func notFound(ref string, names []string) error {
	err := &toolbox.Error{
		Code:    toolbox.ReferenceNotFound,
		Message: fmt.Sprintf("There is no toolbox or server '%s' in the configuration", tty.CleanLine(ref)),
		Hint:    "See what there is: mcp-workbench list",
	}
	if near := toolbox.Nearest(ref, names, nearestNames); len(near) > 0 {
		err.Hint = tty.CleanLine("Did you mean '" + strings.Join(near, "' or '") + "'?")
	}
	return err
}

// servers returns the servers of a place.
func (p place) servers(outline *config.Preview) []config.PreviewServer {
	var found []config.PreviewServer
	for _, server := range outline.Servers {
		if server.Toolbox == p.toolbox && (p.server == "" || server.Name == p.server) {
			found = append(found, server)
		}
	}
	return found
}
