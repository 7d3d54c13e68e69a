package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

const fileName = "workbench-config.json"

// Origin is how a configuration file was found.
type Origin int

// The origins.
const (
	Named Origin = iota // by the command line or the environment
	Local               // it lies in the working folder, whoever put it there: the project's
	User                // in the user's configuration folder
)

// Place is where a configuration file is, or would be looked for.
type Place struct {
	Path   string // absolute
	Origin Origin
}

// Find returns the configuration files that count, in the order of their toolboxes: the
// explicit one or that of $WORKBENCH_CONFIG alone, which count even if they do not exist, so
// that Load reports it. Else workbench-config.json in the working folder and the one in the
// user's configuration folder, those that exist.
func Find(explicit string, getenv func(string) string) ([]Place, error) {
	return find(runtime.GOOS, explicit, getenv)
}

func find(goos, explicit string, getenv func(string) string) ([]Place, error) {
	places, err := candidates(goos, explicit, getenv)
	return Existing(places), err
}

// Candidates returns the places that Find looks at, whether there is a file or not.
func Candidates(explicit string, getenv func(string) string) ([]Place, error) {
	return candidates(runtime.GOOS, explicit, getenv)
}

func candidates(goos, explicit string, getenv func(string) string) ([]Place, error) {
	for _, asked := range []string{explicit, getenv("WORKBENCH_CONFIG")} {
		if asked != "" {
			path, err := filepath.Abs(asked)
			if err != nil {
				return nil, absError(err)
			}
			return []Place{{path, Named}}, nil
		}
	}
	local, err := filepath.Abs(fileName)
	if err != nil {
		return nil, absError(err)
	}
	users := userPath(goos, getenv)
	switch {
	case users == "":
		return []Place{{local, Local}}, nil
	case isSame(filepath.Dir(local), filepath.Dir(users)):
		return []Place{{local, User}}, nil
	}
	return []Place{{local, Local}, {users, User}}, nil
}

// Existing returns those places that have a file. One file that is in both places, by a
// link, counts once, as the user's.
func Existing(places []Place) []Place {
	var there []Place
	for _, place := range places {
		if place.Origin == Named || isThere(place.Path) {
			there = append(there, place)
		}
	}
	if len(there) == 2 && isSame(there[0].Path, there[1].Path) {
		return there[1:]
	}
	return there
}

func userPath(goos string, getenv func(string) string) string {
	if dir := userConfigDir(goos, getenv); dir != "" {
		return filepath.Join(dir, "mcp-workbench", fileName)
	}
	return ""
}

// isThere counts a file that cannot be looked at: Load will say what is wrong.
func isThere(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// isSame reports that two paths lead to one file or folder.
func isSame(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}

func absError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("finding the current folder: %w", err)
}

// userConfigDir returns "" if the environment does not tell. os.UserConfigDir is
// not used: on macOS it names a folder that command-line tools do not use.
func userConfigDir(goos string, getenv func(string) string) string {
	if goos == "windows" {
		return getenv("AppData")
	}
	// The XDG specification says to ignore a relative path.
	if dir := getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	if home := getenv("HOME"); home != "" {
		return filepath.Join(home, ".config")
	}
	return ""
}
