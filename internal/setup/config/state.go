package config

import (
	"os"
	"path/filepath"
)

// StateDir returns the folder for state that outlives a run: trust records, tokens, backups and the catalogue. It
// returns "" if the environment names no home folder.
func StateDir() string {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "mcp-workbench")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".local", "state", "mcp-workbench")
}
