// Package diff runs one scripted session twice, directly against a server and through the
// workbench, and compares every message that the client receives byte for byte. What may
// differ is written down in allowed_test.go, and what still does in pending_test.go.
package diff

import (
	"os"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
	"github.com/mcp-workbench/mcp-workbench/test/released"
)

// Bounds of waits. Nothing that works comes near them: patience is for an answer, and settle
// for what should come besides an answer that came.
const (
	patience = 20 * time.Second
	settle   = 3 * time.Second
)

func TestMain(m *testing.M) {
	mcptest.PlayRole(func(role string, _ []string) int { // a role is an era of the fake server
		serveStdio(era(role), os.Stdin, os.Stdout)
		return 0
	})
	os.Exit(released.Run(m))
}
