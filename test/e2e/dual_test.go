//nolint:staticcheck // sampling is deprecated, and in use
package e2e

import (
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
)

// This file is about dual-era servers of the TypeScript SDK 2.x, which name only the modern
// revision.

// dualServer is such a server: over stdio, or over HTTP with sessions for legacy clients or
// stateless.
func dualServer(t *testing.T, mode string) server {
	t.Helper()
	node := needNode(t)
	script, err := filepath.Abs("dual.mjs")
	if err != nil {
		t.Fatal(err)
	}
	s := server{name: "dual", command: node, args: []string{script, mode}}
	if mode == "stdio" {
		return s
	}
	return serviceOf(t, newMark(t), s, "/mcp")
}

func TestDualEraTypeScriptServerAsksItsClients(t *testing.T) {
	for _, test := range []struct {
		mode, client, tool, want string
	}{
		{"stdio", newest, "request", "legacy Ada said"},
		{"sessions", newest, "request", "legacy Ada said"},
		{"stateless", newest, "input", "modern Ada"},
		{"stdio", modernRevision, "input", "modern Ada"},
		{"sessions", modernRevision, "input", "modern Ada"},
		{"stateless", modernRevision, "input", "modern Ada"},
	} {
		t.Run(fmt.Sprintf("%s, client %s", test.mode, test.client), func(t *testing.T) {
			eachAbove(t, func(t *testing.T, overHTTP bool) {
				b := newBench(t, "", box{"tools", "Asks", []server{dualServer(t, test.mode)}})
				b.overHTTP = overHTTP
				var asked atomic.Int32
				session := b.connect(test.client, askable(&asked))
				sdkOpen(t, session, "tools")
				if got := sdkText(t, sdkUse(t, session, "tools", "dual", test.tool, struct{}{})); got != test.want {
					t.Errorf("got %q after %d questions, want %q", got, asked.Load(), test.want)
				}
			})
		})
	}
}
