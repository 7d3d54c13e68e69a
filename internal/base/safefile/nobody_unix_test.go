//go:build unix

package safefile

import (
	"testing"

	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
)

func TestAsNobody(t *testing.T) {
	if err := mcptest.AsNobody(t.TempDir(), "TestFollow|TestRead|TestStrangers"); err != nil {
		t.Error(err)
	}
}
