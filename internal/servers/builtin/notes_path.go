package builtin

import (
	"crypto/sha256"
	"encoding/hex"
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

// PersonVariable is the environment variable that tells a server for whom it runs, where each person has an instance of
// their own: a PersonKey. Without it, that is the user of the workbench.
const PersonVariable = "WORKBENCH_PERSON"

// PersonKey returns the value of PersonVariable for a person. It can be part of the name of a file.
func PersonKey(person string) string {
	sum := sha256.Sum256([]byte(person))
	return hex.EncodeToString(sum[:16])
}

// notesPath returns the path of the notes of the user, or of the person that the server runs for, on an operating system.
func notesPath(goos string, getenv func(string) string, home func() (string, error)) (string, error) {
	base, err := dataHome(goos, getenv, home)
	if err != nil {
		return "", err
	}
	name := "notes.json"
	if key := getenv(PersonVariable); key != "" {
		if raw, err := hex.DecodeString(key); err != nil || len(raw) != 16 {
			return "", &toolbox.Error{Message: "cannot tell whose notes these are: " + PersonVariable + " is not what the workbench sets", Hint: "Do not set it."}
		}
		name = "notes-" + key + ".json"
	}
	return filepath.Join(base, "mcp-workbench", name), nil
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
