package formats

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/base/stored"
)

// docs/storage.md lists every kind of file, and no other.
func TestStorageIsDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/storage.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "| --- | --- | --- | --- |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	var want []string
	for _, kind := range stored.Kinds() {
		format := "none"
		if kind.Format > 0 {
			format = fmt.Sprint(kind.Format)
		}
		want = append(want, fmt.Sprintf("| `%s/%s` | %s | %s | %s |", kind.Place, kind.Patterns[0], kind.Name, format, kind.Kept))
	}
	if got := strings.Split(strings.TrimSpace(table), "\n"); !slices.Equal(got, want) {
		t.Errorf("docs/storage.md must have this table:\n%s", strings.Join(want, "\n"))
	}
}

// dialers are the files that may open connections, and to what.
var dialers = map[string]string{
	"internal/base/webclient/guard.go":          "what a configured server and its authorization server name",
	"internal/base/webclient/guard_client.go":   "what a configured identity provider names",
	"internal/base/webclient/webclient.go":      "what the callers below name",
	"internal/access/identity/identity.go":      "the identity provider in the configuration of a team, by the guarded client",
	"internal/access/identity/provider.go":      "the same",
	"internal/access/connect/connect.go":        "the same",
	"internal/terminal/doctor/serve.go":         "the address that 'serve --check' would listen on",
	"internal/app/service/bridge.go":            "the workbench that a bridge is started for",
	"internal/servers/downstream/client.go":     "configured servers",
	"internal/servers/downstream/remote.go":     "configured servers",
	"internal/observe/telemetry/poster.go":      "the receiver that a variable or the configuration names",
	"internal/mcp/hops/probe.go":                "an address on this machine that a client's file names",
	"internal/sharing/runtimedir/runtimedir.go": "sockets of this user",
	"internal/sharing/control/client.go":        "sockets of this user",
	"internal/sharing/control/forward.go":       "the workbench in this program, by pipes in memory",
}

// Nothing is sent anywhere: connections are opened only where docs/storage.md says so.
func TestConnectionsAreOpenedInKnownPlacesOnly(t *testing.T) {
	opens := regexp.MustCompile(`\bnet\.(Dial|Dialer|Lookup|Resolver|DefaultResolver)|\bhttp\.(Get|Post|PostForm|Head|DefaultClient|DefaultTransport|Client|Transport)\b[^a-zA-Z*]|\btls\.Dial|\bsmtp\.`)
	found := make(map[string]bool)
	for _, root := range []string{"../../internal", "../../cmd"} {
		err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			source, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			name := filepath.ToSlash(strings.TrimPrefix(path, "../../"))
			for line := range strings.SplitSeq(string(source), "\n") {
				code, _, _ := strings.Cut(line, "//")
				if opens.MatchString(code + "\n") {
					found[name] = true
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for name := range found {
		if dialers[name] == "" {
			t.Errorf("%s opens connections: if it may, add it to this test, and what it sends to docs/storage.md", name)
		}
	}
	for name := range dialers {
		if !found[name] {
			t.Errorf("%s opens no connections any more", name)
		}
	}
}
