package faults

import (
	"os"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/test/faults/rig"
	"github.com/mcp-workbench/mcp-workbench/test/released"
)

// nodeModules is where the end-to-end tests install servers of npm.
const nodeModules = "../e2e/node_modules"

func TestKill(t *testing.T) {
	if os.Getenv(pairingVariable) != "" {
		t.Skip("it has nothing to do with transports")
	}
	for i := range rig.KillRounds(10) {
		if err := rig.KillRound(released.Binary(t), t.TempDir(), nodeModules); err != nil {
			t.Errorf("round %d: %v", i+1, err)
		}
	}
}
