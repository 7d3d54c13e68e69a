//go:build unix

package trust

import (
	"testing"

	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
)

func TestAsNobody(t *testing.T) {
	if err := mcptest.AsNobody(t.TempDir(), "TestDoubt|TestStore|TestModes|TestDamaged|TestLinks"); err != nil {
		t.Error(err)
	}
}
