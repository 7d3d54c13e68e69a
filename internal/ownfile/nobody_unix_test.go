//go:build unix

package ownfile

import (
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/mcptest"
)

func TestAsNobody(t *testing.T) {
	if err := mcptest.AsNobody(t.TempDir(), "TestFollow|TestRead|TestStrangers"); err != nil {
		t.Error(err)
	}
}
