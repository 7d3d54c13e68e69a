package builtin

import (
	"os"
	"path/filepath"
	"runtime"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
)

// NotesFolder returns the folder of the user's notes; "" if there is none.
func NotesFolder() string {
	path, err := notesPath(runtime.GOOS, os.Getenv, os.UserHomeDir)
	if err != nil {
		return ""
	}
	return filepath.Dir(path)
}

// notesPath returns the path of the user's notes on an operating system.
func notesPath(goos string, getenv func(string) string, home func() (string, error)) (string, error) {
	base, err := dataHome(goos, getenv, home)
	if err != nil {
		return "", err
	}
	return filepath.Join(base, "mcp-workbench", "notes.json"), nil
}

func dataHome(goos string, getenv func(string) string, home func() (string, error)) (string, error) {
	below := []string{".local", "share"}
	switch goos {
	case "windows":
		if dir := getenv("LocalAppData"); dir != "" {
			return dir, nil
		}
		below = []string{"AppData", "Local"}
	case "darwin":
		below = []string{"Library", "Application Support"}
	default:
		// The XDG specification says to ignore relative paths.
		if dir := getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
			return dir, nil
		}
	}
	dir, err := home()
	if err != nil {
		return "", &toolbox.Error{
			Message: "cannot tell where to keep notes: the home folder is unknown",
			Hint:    "Set HOME, or XDG_DATA_HOME to a folder for the notes.",
			Cause:   err,
		}
	}
	return filepath.Join(append([]string{dir}, below...)...), nil
}
