//go:build unix

package config

import (
	"testing"

	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
)

func TestAsNobody(t *testing.T) {
	if err := mcptest.AsNobody(t.TempDir(), "TestSpecialFiles|TestExposed|TestLoad"); err != nil {
		t.Error(err)
	}
}
