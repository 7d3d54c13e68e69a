// Package daemon is the workbench that clients of one user share: which clients share one, how they find and start it,
// and how it serves them.
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

	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// Identity is what clients must have in common to share a workbench. The content of the configuration is not part of
// it: a workbench reloads its file.
type Identity struct {
	Version string
	Build   Build
	Config  *config.Config
	Places  []config.Place // of its files. Those found in the working folder have to be trusted
	Toolbox string         // the only one to serve; "": all
	Environ []string
}

// Build distinguishes builds of the program with the same version.
type Build struct {
	path     string
	size     int64
	modified time.Time
}

// ThisBuild describes the running program. Call it early: another build may replace the file later.
func ThisBuild() (Build, error) {
	path, err := os.Executable()
	if err != nil {
		return Build{}, fmt.Errorf("the path of this program is unknown: %w", err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return Build{}, err
	}
	return Build{path, info.Size(), info.ModTime()}, nil
}

// Key returns the key of an identity's workbench: a hash, which reveals nothing.
func (i Identity) Key() string {
	sum := sha256.New()
	if i.Version != "" { // else it is a lineage, which spans versions of the protocol
		write(sum, fmt.Sprint(helloVersion))
	}
	write(sum, "mcp-workbench", i.Version, i.Build.path, fmt.Sprint(i.Build.size), i.Build.modified.UTC().Format(time.RFC3339Nano))
	for _, place := range i.Places {
		write(sum, place.Path, fmt.Sprint(place.Origin == config.Local))
	}
	write(sum, fmt.Sprint(len(i.Places)), i.Toolbox)
	for _, entry := range i.relevant() {
		write(sum, entry)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Lineage identifies the workbenches that replace each other when the program is upgraded: it is the same for all builds.
func (i Identity) Lineage() string {
	i.Version, i.Build = "", Build{}
	return i.Key()
}

// write hashes texts so that their boundaries are unambiguous.
func write(sum hash.Hash, texts ...string) {
	for _, text := range texts {
		fmt.Fprintf(sum, "%d:%s\n", len(text), text)
	}
}

// workbenchVariables are the variables that affect the workbench itself: its state folder, and how it reaches remote servers.
var workbenchVariables = []string{
	"HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
}

// relevant returns the variables that affect the whole workbench, sorted, each once. Other variables of a server affect
// that server only; see fleet.Environment.
func (i Identity) relevant() []string {
	var relevant []string
	for _, entry := range i.Environ {
		name, _, _ := strings.Cut(entry, "=")
		if runtime.GOOS == "windows" {
			name = strings.ToUpper(name)
		}
		if slices.Contains(workbenchVariables, name) || slices.Contains(i.Config.OuterVariables, name) {
			relevant = append(relevant, entry)
		}
	}
	slices.Sort(relevant)
	return slices.Compact(relevant)
}
