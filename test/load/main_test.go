package load

import (
	"os"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
	"github.com/mcp-workbench/mcp-workbench/test/released"
)

// roleVariable makes this test binary play a fake server.
const roleVariable = "LOAD_ROLE"

func TestMain(m *testing.M) {
	if os.Getenv(roleVariable) != "" {
		os.Exit(mcptest.Main(os.Args[1:]))
	}
	os.Exit(released.Run(m))
}
