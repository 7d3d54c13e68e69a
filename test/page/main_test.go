//go:build linux

package page

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
	"github.com/mcp-workbench/mcp-workbench/test/npm"
	"github.com/mcp-workbench/mcp-workbench/test/released"
)

func TestMain(m *testing.M) {
	mcptest.PlayRole(nil)
	os.Exit(released.Run(m))
}

// installed finds a browser, and brings what the tests need from npm.
var installed = sync.OnceValues(func() (found [2]string, err error) {
	for i, names := range [][]string{{"node"}, {os.Getenv("CHROMIUM"), "chromium", "chromium-browser", "google-chrome"}} {
		for _, name := range names {
			if path, err := exec.LookPath(name); err == nil && found[i] == "" {
				found[i] = path
			}
		}
		if found[i] == "" {
			return found, fmt.Errorf("none of %q is in PATH", names)
		}
	}
	return found, npm.Install(context.Background(), ".")
})

// needBrowser returns the paths of node and of a browser. Without them the test is skipped, but on CI, where a skipped
// test would go unnoticed, it fails.
func needBrowser(t *testing.T) (node, chromium string) {
	t.Helper()
	found, err := installed()
	switch {
	case err != nil && os.Getenv("CI") != "":
		t.Fatalf("a browser is needed on CI: %v", err)
	case err != nil:
		t.Skipf("skipped, there is no browser: %v; on Debian 'apt-get install chromium' brings one", err)
	}
	return found[0], found[1]
}
