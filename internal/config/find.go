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

// Find returns the absolute path of the configuration file: the explicit one,
// else $WORKBENCH_CONFIG, else workbench-config.json in the current folder, else
// in the user's configuration folder. A file that was asked for counts as found
// even if it does not exist, so that Load reports it; without any, found is
// false.
func Find(explicit string, getenv func(string) string) (path string, found bool, err error) {
	return find(runtime.GOOS, explicit, getenv)
}

func find(goos, explicit string, getenv func(string) string) (path string, found bool, err error) {
	for _, asked := range []string{explicit, getenv("WORKBENCH_CONFIG")} {
		if asked != "" {
			path, err = filepath.Abs(asked)
			return path, err == nil, absError(err)
		}
	}
	local, err := filepath.Abs(fileName)
	if err != nil {
		return "", false, absError(err)
	}
	candidates := []string{local}
	if dir := userConfigDir(goos, getenv); dir != "" {
		candidates = append(candidates, filepath.Join(dir, "mcp-workbench", fileName))
	}
	for _, candidate := range candidates {
		// A file that cannot be looked at is there: Load will say what is wrong.
		if _, err := os.Stat(candidate); !errors.Is(err, fs.ErrNotExist) {
			return candidate, true, nil
		}
	}
	return "", false, nil
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
