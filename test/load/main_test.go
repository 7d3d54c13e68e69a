package load

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	// Go caches results of tests by what they import: without this, a result would
	// stay after the workbench changed.
	_ "github.com/mcp-workbench/mcp-workbench/internal/cli"
	"github.com/mcp-workbench/mcp-workbench/internal/mcptest"
)

// roleVariable makes this test binary play a fake server.
const roleVariable = "LOAD_ROLE"

// binary is the workbench as it is released: what the race detector adds would be
// measured, too.
var binary string

func TestMain(m *testing.M) {
	if os.Getenv(roleVariable) != "" {
		os.Exit(mcptest.Main(os.Args[1:]))
	}
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "workbench-load-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "mcp-workbench")
	if runtime.GOOS == "windows" {
		binary += ".exe"
	}
	build := exec.Command("go", "build", "-trimpath", "-o", binary, "../../cmd/mcp-workbench")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}
