package uninstall

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/safefile"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
)

// Left is something that stays, and what to do about it.
type Left struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

const (
	maxLeft  = 100                   // entries of a folder that are listed; further ones are not named
	maxShell = 1 << 20               // bytes of a shell's file that are searched; a larger one is skipped
	endTime  = 5 * time.Second       // for a stopped workbench to end its process; then its files are removed anyway
	dialTime = time.Second           // for a connection to a socket; then nobody listens on it
	endPoll  = 20 * time.Millisecond // between two looks whether the process has ended
)

// Left returns what stays: files in the workbench's folders that are not its own, units and completions that the user has
// made, and the program.
func (m *Machine) Left(executable string) (left []Left) {
	left = []Left{}
	only, _ := m.onlyCopies() // the folder is listed below, whatever is in it
	for _, folder := range m.roots() {
		if info, err := os.Lstat(folder); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			left = append(left, Left{folder, "it is a link, which is not followed"})
			continue
		}
		left = append(left, foreignIn(folder, only)...)
	}
	if m.Home != "" {
		left = append(left, m.userMade()...)
	}
	return append(left, Left{executable, "the program: " + removal(executable)})
}

// foreignIn returns what is in a folder. After everything was removed, it is not the workbench's, or the only copy of something.
func foreignIn(folder string, only map[string]string) (left []Left) {
	_ = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil //nolint:nilerr // it cannot be listed, or does not exist
		case len(left) == maxLeft:
			return fs.SkipAll
		case isInUse(path):
			left = append(left, Left{path, "a workbench that still runs listens on it"})
		case !entry.IsDir():
			left = append(left, Left{path, cmp.Or(only[recordOf(path)], "it was not confirmed, or is not of the workbench")})
		}
		return nil
	})
	return left
}

// userMade returns services and completions, which users make themselves.
func (m *Machine) userMade() (left []Left) {
	for pattern, why := range map[string]string{
		".config/systemd/user/*mcp-workbench*.service":           "a service that you made: systemctl --user disable --now NAME, then remove the file",
		"Library/LaunchAgents/*mcp-workbench*.plist":             "a launch agent that you made: launchctl unload FILE, then remove it",
		".local/share/bash-completion/completions/mcp-workbench": "shell completion: remove the file",
		".config/fish/completions/mcp-workbench.fish":            "shell completion: remove the file",
		".zfunc/_mcp-workbench":                                  "shell completion: remove the file",
	} {
		folder, name := filepath.Split(filepath.Join(m.Home, filepath.FromSlash(pattern)))
		entries, _ := os.ReadDir(folder) // usually it does not exist
		for _, entry := range entries {
			if isMade, err := filepath.Match(name, entry.Name()); err == nil && isMade {
				left = append(left, Left{filepath.Join(folder, entry.Name()), why})
			}
		}
	}
	for _, name := range []string{".bashrc", ".bash_profile", ".profile", ".zshrc", ".config/fish/config.fish"} {
		path := filepath.Join(m.Home, filepath.FromSlash(name))
		if text, _, err := safefile.Read(path, maxShell); err == nil && bytes.Contains(text, []byte("mcp-workbench")) {
			left = append(left, Left{path, "it mentions mcp-workbench, perhaps for completion: remove that line"})
		}
	}
	return left
}

// removal is how a program is removed, as its path suggests.
func removal(executable string) string {
	path := filepath.ToSlash(executable)
	if target, err := filepath.EvalSymlinks(executable); err == nil {
		path = filepath.ToSlash(target)
	}
	has := func(part string) bool { return strings.Contains(path, part) }
	switch {
	case has("/_npx/"):
		return "npm cache, which npx manages itself"
	case has("/node_modules/"):
		return "npm uninstall -g mcp-workbench"
	case has("/Cellar/"), has("/homebrew/"), has("/linuxbrew/"):
		return "brew uninstall mcp-workbench"
	case has("/scoop/"):
		return "scoop uninstall mcp-workbench"
	case strings.HasPrefix(path, "/usr/bin/"):
		return "apt remove mcp-workbench, or dnf remove mcp-workbench"
	}
	return "remove the file"
}

// stop stops a workbench, and waits until its process is gone: it writes files until then.
func stop(ctx context.Context, running *control.Client) error {
	pid := running.Status.PID
	if err := running.Stop(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, endTime)
	defer cancel()
	again := time.NewTicker(endPoll)
	defer again.Stop()
	for isRunning(pid) {
		select {
		case <-again.C:
		case <-ctx.Done():
			return errors.New("its process does not end")
		}
	}
	return nil
}
