//go:build unix

// Package script runs the promises of the contract, one small script each, against
// the real program: see README.md for how to read and write them.
package script

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// The programs are built and not played by the test binary: what users run is what is
// tested, with its guard process and its built-in servers, and a fake that starts fast.
func TestMain(m *testing.M) { os.Exit(buildAndRun(m)) }

func buildAndRun(m *testing.M) int {
	bin, err := os.MkdirTemp("", "workbench-script-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(bin)
	args := []string{"build", "-o", bin + string(filepath.Separator)}
	if raceEnabled {
		args = append(args, "-race")
	}
	if os.Getenv("GOCOVERDIR") != "" {
		args = append(args, "-cover", "-coverpkg=github.com/mcp-workbench/mcp-workbench/...")
	}
	for _, build := range [][]string{
		append(args, "github.com/mcp-workbench/mcp-workbench/cmd/mcp-workbench"),
		{
			"build", "-o", bin + string(filepath.Separator),
			"github.com/mcp-workbench/mcp-workbench/test/mcptest/fakeserver", "github.com/mcp-workbench/mcp-workbench/test/oauthtest/fakebrowser",
		},
	} {
		if out, err := exec.Command("go", build...).CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "go %v: %v\n%s", build, err, out)
			return 1
		}
	}
	// Files that their group can change need trust, and scripts must not depend on who
	// runs them.
	syscall.Umask(0o022)
	os.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	// Scripts wait for processes most of the time. A -parallel of the command line, which
	// is not parsed yet, wins.
	if err := flag.Set("test.parallel", "8"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// Bounds. Nothing waits for them unless a promise is broken.
const (
	replyTime = 15 * time.Second // for any answer
	endTime   = 5 * time.Second  // for the end of the workbench and of its processes
)

// Scripts are skipped where a program is missing that they need. On CI nobody would notice.
func TestProgramsOfScripts(t *testing.T) {
	if os.Getenv("CI") == "" || runtime.GOOS != "linux" {
		t.Skip("only CI on Linux has to have all of them")
	}
	for _, name := range []string{"script", "sh", "tmux"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Error(err)
		}
	}
}

func TestScripts(t *testing.T) { runPairing(t, pairing{overStdio, overStdio}) }

type stateKey struct{}

// setup gives the script a home of its own, so that nothing of the user's is read, and
// its fakes the transport that they are to have.
func (p pairing) setup(env *testscript.Env) error {
	home := filepath.Join(env.WorkDir, "home")
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	// Not in the work folder, whose name is too long for a socket.
	runtimeDir, err := os.MkdirTemp("", "wb")
	if err != nil {
		return err
	}
	env.Defer(func() { _ = os.RemoveAll(runtimeDir) })
	// A program with the race detector would otherwise sleep a second when it ends.
	env.Vars = append(env.Vars, "HOME="+home, "GORACE=atexit_sleep_ms=0", "XDG_RUNTIME_DIR="+runtimeDir, "DBUS_SESSION_BUS_ADDRESS=disabled:")
	s := &state{env: append([]string{}, env.Vars...), dir: env.WorkDir, pairing: p, party: &party{begun: make(map[string]pending)}}
	env.Values[stateKey{}] = s
	env.Defer(s.cleanUp)
	if p.above == overShared {
		if err := s.share(); err != nil {
			return err
		}
	}
	if p.below == overStdio {
		return nil
	}
	return s.rewriteConfigurations()
}
