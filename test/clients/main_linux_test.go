package clients

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
	"github.com/mcp-workbench/mcp-workbench/test/released"
)

// Bounds. Nothing waits for them unless something is wrong.
const (
	installTime = 5 * time.Minute
	clientTime  = 2 * time.Minute // for one run of a client
	leftTime    = 15 * time.Second
)

// modeVariable makes the tests run: "pinned", or "newest" for the newest of each client.
const modeVariable = "CLIENTS_RUN"

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == tapName {
		os.Exit(playTap(os.Args[0], os.Args[1:]))
	}
	mcptest.PlayRole(nil)
	code := released.Run(m)
	if newest != "" {
		os.RemoveAll(newest)
	}
	if err := tried.tell(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// needMode skips the test unless clients are to be run.
func needMode(t *testing.T) {
	t.Helper()
	if os.Getenv(modeVariable) == "" {
		t.Skip("skipped: 'make clients' runs the clients, which have to be brought from npm")
	}
}
