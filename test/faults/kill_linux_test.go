package faults

import (
	"os"
	"strconv"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/test/faults/rig"
)

// roundsVariable asks for more rounds of TestKill than the usual ten.
const roundsVariable = "FAULTS_KILL_ROUNDS"

// nodeModules is where the end-to-end tests install servers of npm.
const nodeModules = "../e2e/node_modules"

func TestKill(t *testing.T) {
	rounds := 10
	if n, err := strconv.Atoi(os.Getenv(roundsVariable)); err == nil {
		rounds = n
	}
	for i := range rounds {
		if err := rig.KillRound(binary, t.TempDir(), nodeModules); err != nil {
			t.Errorf("round %d: %v", i+1, err)
		}
	}
}
