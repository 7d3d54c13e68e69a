// Package e2e runs the built workbench between peers that others wrote: servers from
// npm and of go-sdk below it, the clients of both SDKs above it. Where bytes matter, a
// raw client and a tap on the wire stand in for the SDKs, which would hide them.
package e2e

import (
	"errors"
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

// patience is the deadline of every single wait; nothing here comes near it.
const patience = 30 * time.Second

// roleVariable makes this test binary play a server instead of running tests.
const roleVariable = "E2E_ROLE"

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		os.Exit(play(role))
	}
	code := m.Run()
	if built.dir != "" {
		os.RemoveAll(built.dir)
	}
	os.Exit(code)
}

func play(role string) int {
	var err error
	switch role {
	case roleTap:
		err = playTap(os.Args[1:])
	case roleFake:
		err = playFake(os.Stdin, os.Stdout)
	case roleGoSDK:
		err = playGoSDK()
	case roleAsker:
		err = playAsker()
	default:
		err = errors.New("unknown role " + role)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", role, err)
		return 1
	}
	return 0
}

// binaryVariable names a workbench to test, such as a released one, instead of a new build.
const binaryVariable = "E2E_WORKBENCH"

// built is the workbench's binary, made once for all tests.
var built struct {
	once sync.Once
	dir  string
	path string
	err  error
}

// workbenchBinary builds the workbench as it is released.
func workbenchBinary(t *testing.T) string {
	t.Helper()
	if path := os.Getenv(binaryVariable); path != "" {
		return path
	}
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "workbench-e2e-"); built.err != nil {
			return
		}
		built.path = filepath.Join(built.dir, "mcp-workbench")
		if runtime.GOOS == "windows" {
			built.path += ".exe"
		}
		build := exec.Command("go", "build", "-trimpath", "-o", built.path, "../../cmd/mcp-workbench")
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

// self is this test binary, which plays the servers that have a role.
func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}
