// Package diff runs one scripted session twice, directly against a server and through the
// workbench, and compares every message that the client receives byte for byte. What may
// differ is written down in allowed_test.go, and what still does in pending_test.go.
package diff

import (
	"os"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/test/released"
)

// Bounds of waits. Nothing that works comes near them: patience is for an answer, and settle
// for what should come besides an answer that came.
const (
	patience = 20 * time.Second
	settle   = 3 * time.Second
)

// roleVariable makes this test binary play the fake server of that era instead of running tests.
const roleVariable = "DIFF_ROLE"

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		serveStdio(era(role), os.Stdin, os.Stdout)
		return
	}
	os.Exit(released.Run(m))
}
