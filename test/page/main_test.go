//go:build linux

package page

import (
	"os"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
	"github.com/mcp-workbench/mcp-workbench/test/released"
)

func TestMain(m *testing.M) {
	mcptest.PlayRole(nil)
	os.Exit(released.Run(m))
}
