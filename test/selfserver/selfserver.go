// Package selfserver lets the test binary of a package play the servers that its tests
// start, so that nothing has to be built for them.
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

// variable makes the test binary play a server.
const variable = "TEST_PLAYS_SERVER"

// Main is for TestMain. It plays the server or the guard that the process was started as;
// otherwise it runs the tests, which may leave no goroutine.
func Main(m *testing.M) {
	if os.Args[0] == process.GuardName {
		os.Exit(process.GuardMain(os.Args[1:]))
	}
	if os.Getenv(variable) != "" {
		os.Exit(mcptest.Main(os.Args[1:]))
	}
	goleak.VerifyTestMain(m)
}

// New configures a server that does what the spec says, see mcptest.Server. The spec is
// kept in NAME.json of the folder, and the server logs to NAME.log beside it.
func New(t *testing.T, folder, name, spec string) config.Server {
	t.Helper()
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, name+".json")
	if err := os.WriteFile(path, []byte(spec), 0o600); err != nil {
		t.Fatal(err)
	}
	return config.Server{
		Name: name, Command: executable, Args: []string{path},
		Env:      []config.Variable{{Name: variable, Value: "1"}},
		Timeouts: config.Timeouts{Connect: 20 * time.Second, Call: 20 * time.Second},
	}
}
