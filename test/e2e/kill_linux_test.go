package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/test/faults/rig"
	"github.com/mcp-workbench/mcp-workbench/test/released"
)

// npxWindow is about as long as ten servers take to start through npx on two cores, so that
// the workbench is killed at any stage of it.
const npxWindow = 6 * time.Second

// TestKillWhileNpxStarts kills the workbench while it starts what people start most: npx,
// which starts a shell, which starts the server.
func TestKillWhileNpxStarts(t *testing.T) {
	needNode(t)
	if _, err := exec.LookPath("npx"); err != nil {
		t.Fatalf("npm is here, but npx is not: %v", err)
	}
	here, err := os.Getwd() // npx finds the packages that are installed here
	if err != nil {
		t.Fatal(err)
	}
	for i := range rig.KillRounds(2) {
		dir := t.TempDir()
		fleet := make(map[string]rig.Server)
		for n := range 10 {
			fleet[fmt.Sprint("memory", n)] = rig.Server{
				Command: "npx", Args: []string{"-y", "mcp-server-memory"},
				Env: map[string]string{
					"MEMORY_FILE_PATH":           filepath.Join(dir, fmt.Sprint(n, ".jsonl")),
					"npm_config_offline":         "true", // a package that is missing is an error, not a download
					"npm_config_update_notifier": "false",
				},
				More: map[string]any{"cwd": here},
			}
		}
		if err := rig.KillWhileOpening(released.Binary(t), dir, fleet, npxWindow); err != nil {
			t.Errorf("round %d: %v", i+1, err)
		}
	}
}
