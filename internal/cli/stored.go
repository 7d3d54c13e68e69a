package cli

import (
	"github.com/mcp-workbench/mcp-workbench/internal/base/stored"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/builtin"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// storedFolders returns the folders in which this user's workbenches store files that have a format.
func storedFolders() map[stored.Place]string {
	return map[stored.Place]string{stored.State: config.StateDir(), stored.Config: config.UserDir(), stored.Data: builtin.NotesFolder()}
}
