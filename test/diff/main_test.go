// Package diff runs one scripted session twice, directly against a server and through the
// workbench, and compares every message that the client receives byte for byte. What may
// differ is written down in allowed_test.go, and what still does in pending_test.go.
package diff

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	// Go caches results of tests by what they import: without this, a result would
	// stay after the workbench changed.
	_ "github.com/mcp-workbench/mcp-workbench/internal/cli"
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
	code := m.Run()
	if built.dir != "" {
		os.RemoveAll(built.dir)
	}
	os.Exit(code)
}

// built is the workbench's binary, made once for all tests.
var built struct {
	once sync.Once
	dir  string
	path string
	err  error
}

func workbenchBinary(t *testing.T) string {
	t.Helper()
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "workbench-diff-"); built.err != nil {
			return
		}
		built.path = filepath.Join(built.dir, "mcp-workbench")
		if runtime.GOOS == "windows" {
			built.path += ".exe"
		}
		build := exec.Command("go", "build", "-o", built.path, "../../cmd/mcp-workbench")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			built.err = fmt.Errorf("go build: %w\n%s", err, out)
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return built.path
}
