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
	Nowhere Origin = iota // there is no file
	Named                 // by the command line or the environment
	Local                 // it lay in the current folder, whoever put it there
	User                  // in the user's configuration folder
)

// Find returns the absolute path of the configuration file: the explicit one,
// else $WORKBENCH_CONFIG, else workbench-config.json in the current folder, else
// in the user's configuration folder. A file that was asked for counts as found
// even if it does not exist, so that Load reports it.
func Find(explicit string, getenv func(string) string) (path string, origin Origin, err error) {
	return find(runtime.GOOS, explicit, getenv)
}

func find(goos, explicit string, getenv func(string) string) (path string, origin Origin, err error) {
	for _, asked := range []string{explicit, getenv("WORKBENCH_CONFIG")} {
		if asked != "" {
			path, err = filepath.Abs(asked)
			if err != nil {
				return "", Nowhere, absError(err)
			}
			return path, Named, nil
		}
	}
	local, err := filepath.Abs(fileName)
	if err != nil {
		return "", Nowhere, absError(err)
	}
	users := userPath(goos, getenv)
	switch {
	case users != "" && isSameFolder(local, users) && isThere(local):
		return local, User, nil
	case isThere(local):
		return local, Local, nil
	case users != "" && isThere(users):
		return users, User, nil
	}
	return "", Nowhere, nil
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

// isSameFolder reports that two files lie in one folder. Where the files lead to does not
// matter: a link to the user's file is not the user's.
func isSameFolder(a, b string) bool {
	first, err := os.Stat(filepath.Dir(a))
	if err != nil {
		return false
	}
	second, err := os.Stat(filepath.Dir(b))
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
