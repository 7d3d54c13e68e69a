// Package released builds and runs the workbench as it is released, for tests from outside:
// what the race detector adds would be measured, too.
package released

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	// Go caches results of tests by what they import: without this, a result would
	// stay after the workbench changed.
	_ "github.com/mcp-workbench/mcp-workbench/internal/cli"
)

// folder holds the program, once that is built.
var folder string

// Run is for TestMain: it runs the tests, and removes what Binary built.
func Run(m *testing.M) int {
	code := m.Run()
	if folder != "" {
		os.RemoveAll(folder)
	}
	return code
}

// binaryVariable names a program to test, such as a released one, instead of a new build.
const binaryVariable = "TEST_WORKBENCH"

// Binary returns the path of the program, which is built when it is first asked for.
func Binary(t testing.TB) string {
	t.Helper()
	if path := os.Getenv(binaryVariable); path != "" {
		return path
	}
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var build = sync.OnceValues(func() (path string, err error) {
	if folder, err = os.MkdirTemp("", "workbench-released-"); err != nil {
		return "", err
	}
	path = filepath.Join(folder, "mcp-workbench")
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	args := []string{"build", "-trimpath", "-o", path}
	if os.Getenv("GOCOVERDIR") != "" {
		args = append(args, "-cover")
	}
	cmd := exec.Command("go", append(args, "github.com/mcp-workbench/mcp-workbench/cmd/mcp-workbench")...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
})
