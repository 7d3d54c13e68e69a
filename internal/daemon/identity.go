// Package daemon is the workbench that clients of one user share: what two of them must
// have in common for that, how it is found and started, and how it serves them.
package daemon

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/config"
	"github.com/mcp-workbench/mcp-workbench/internal/process"
)

// Identity is what clients must have in common to share a workbench. The content of the
// configuration is not part of it: a workbench follows its file.
type Identity struct {
	Version string
	Build   Build
	Config  *config.Config
	Places  []config.Place // of its files. What was found in the working folder has to be trusted
	Toolbox string         // the only one that is served; "": all
	Environ []string
}

// Build tells builds of the program apart that have the same version.
type Build struct {
	path     string
	size     int64
	modified time.Time
}

// ThisBuild describes the program that runs. Call it early: the file may be replaced by that
// of another build later.
func ThisBuild() (Build, error) {
	path, err := os.Executable()
	if err != nil {
		return Build{}, fmt.Errorf("this program cannot find itself: %w", err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return Build{}, err
	}
	return Build{path, info.Size(), info.ModTime()}, nil
}

// Key names the workbench of an identity. It tells nothing of what it was made from.
func (i Identity) Key() string {
	sum := sha256.New()
	write(sum, "mcp-workbench", fmt.Sprint(helloVersion), i.Version, i.Build.path, fmt.Sprint(i.Build.size), i.Build.modified.UTC().Format(time.RFC3339Nano))
	for _, place := range i.Places {
		write(sum, place.Path, fmt.Sprint(place.Origin == config.Local))
	}
	write(sum, fmt.Sprint(len(i.Places)), i.Toolbox)
	for _, entry := range i.relevant() {
		write(sum, entry)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// write hashes texts so that none can be taken for a part of another.
func write(sum hash.Hash, texts ...string) {
	for _, text := range texts {
		fmt.Fprintf(sum, "%d:%s\n", len(text), text)
	}
}

// meaningless are variables that say where a program was started from, and nothing to a
// server. Shared by clients in which they differ, a workbench has those of the first.
var meaningless = []string{
	"TERM", "TERM_*", "COLORTERM", "COLUMNS", "LINES", "WINDOWID", "SHLVL", "PWD", "OLDPWD", "_",
	"XDG_SESSION_*", "XDG_SEAT*", "XDG_VTNR", "XDG_ACTIVATION_*", "SSH_TTY", "SSH_CLIENT", "SSH_CONNECTION", "INVOCATION_ID", "JOURNAL_STREAM",
}

// relevant returns the variables that can make a difference to a server: those that the
// configuration names, and those that servers inherit. Sorted, each once.
func (i Identity) relevant() []string {
	passed, _ := process.Environment(i.Environ, process.Inherit{Patterns: i.Config.Variables}, nil)
	for _, box := range i.Config.Toolboxes {
		for _, server := range box.Servers {
			if inherits := server.InheritEnv; !server.Disabled && (inherits.All || len(inherits.Patterns) > 0) {
				more, _ := process.Environment(i.Environ, process.Inherit{All: inherits.All, Patterns: inherits.Patterns}, nil)
				passed = append(passed, more...)
			}
		}
	}
	passed = slices.DeleteFunc(passed, func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return isMeaningless(name) && !slices.Contains(i.Config.Variables, name)
	})
	slices.Sort(passed)
	return slices.Compact(passed)
}

func isMeaningless(name string) bool {
	if runtime.GOOS == "windows" {
		name = strings.ToUpper(name)
	}
	return slices.ContainsFunc(meaningless, func(pattern string) bool {
		prefix, isPrefix := strings.CutSuffix(pattern, "*")
		return isPrefix && strings.HasPrefix(name, prefix) || name == pattern
	})
}
