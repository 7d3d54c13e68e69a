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
	Local               // in the working folder, whoever put it there: the project's
	User                // in the user's configuration folder
)

// Place is the path at which a configuration file is, or is searched.
type Place struct {
	Path   string // absolute
	Origin Origin
}

// Find returns the configuration files to use, in the order of their toolboxes. The explicit file or that of
// $WORKBENCH_CONFIG is used alone, even if it does not exist, so that Load reports it. Otherwise Find returns the
// existing ones of workbench-config.json in the working folder and in the user's configuration folder.
func Find(explicit string, getenv func(string) string) ([]Place, error) {
	return find(runtime.GOOS, explicit, getenv)
}

func find(goos, explicit string, getenv func(string) string) ([]Place, error) {
	places, err := candidates(goos, explicit, getenv)
	return Existing(places), err
}

// Candidates returns the places that Find searches, whether a file exists or not.
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

// Existing returns the places that have a file. A file in both places, through a link, counts once, as the user's.
func Existing(places []Place) []Place {
	var there []Place
	for _, place := range places {
		if place.Origin == Named || mayExist(place.Path) {
			there = append(there, place)
		}
	}
	if len(there) == 2 && isSame(there[0].Path, there[1].Path) {
		return there[1:]
	}
	return there
}

// UserDir returns the folder of the user's configuration; "" if the environment names no home folder.
func UserDir() string {
	if path := userPath(runtime.GOOS, os.Getenv); path != "" {
		return filepath.Dir(path)
	}
	return ""
}

func userPath(goos string, getenv func(string) string) string {
	if dir := userConfigDir(goos, getenv); dir != "" {
		return filepath.Join(dir, "mcp-workbench", fileName)
	}
	return ""
}

// mayExist also accepts a file that cannot be examined: Load reports the reason.
func mayExist(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// isSame reports whether two paths lead to the same file or folder.
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

// userConfigDir returns "" if the environment names no home folder. It does not use os.UserConfigDir, which on macOS
// returns a folder that command-line tools do not use.
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
