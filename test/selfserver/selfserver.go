// Package selfserver configures fake servers that the test binary of a package plays. It is
// for tests of packages above internal/servers/process; test/mcptest has what it builds on.
package selfserver

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/mcp-workbench/mcp-workbench/internal/servers/process"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
)

// Main is for TestMain. It plays the fake server or the guard that the process was started
// as. Otherwise it runs the tests, which must not leave a goroutine behind.
func Main(m *testing.M) {
	if status, ok := process.Handover(os.Args); ok {
		os.Exit(status)
	}
	mcptest.PlayRole(nil)
	goleak.VerifyTestMain(m)
}

// New configures a server that does what the spec says, see mcptest.Server. The spec is
// kept in NAME.json of the folder, and the server logs to NAME.log beside it.
func New(t testing.TB, folder, name, spec string) config.Server {
	t.Helper()
	path := filepath.Join(folder, name+".json")
	if err := os.WriteFile(path, []byte(spec), 0o600); err != nil {
		t.Fatal(err)
	}
	return config.Server{
		Name: name, Command: mcptest.Self(), Args: mcptest.RoleArgs(mcptest.FakeServer, path),
		Timeouts: config.Timeouts{Connect: 20 * time.Second, Call: 20 * time.Second},
	}
}
