package app

import (
	"fmt"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// nearestToolboxes is the number of suggestions for an unknown toolbox.
const nearestToolboxes = 3

// CheckToolbox refuses a configuration without the toolbox to serve.
func CheckToolbox(cfg *config.Config, name string) error {
	if name == "" {
		return nil
	}
	var names []string
	for _, box := range cfg.Toolboxes {
		if box.Name == name {
			return nil
		}
		if !box.IsDisabled() {
			names = append(names, box.Name)
		}
	}
	err := &toolbox.Error{Code: toolbox.ToolboxNotFound, Message: fmt.Sprintf("Toolbox '%s' not found in configuration", name)}
	server, notServer := cfg.Places().Find(name, toolbox.ServerOnly)
	switch near := toolbox.Nearest(name, names, nearestToolboxes); {
	case notServer == nil:
		err.Hint = fmt.Sprintf("'%s' is a server of the toolbox '%s'.", name, server.Toolbox)
	case len(near) > 0:
		err.Hint = "Did you mean '" + strings.Join(near, "' or '") + "'?"
	case len(names) > 0:
		err.Hint = "Available toolboxes: " + strings.Join(names, ", ")
	default:
		err.Hint = "No toolboxes are configured."
	}
	return err
}
