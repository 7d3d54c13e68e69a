package e2e

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
)

// This file is about bridges, and about who shares a workbench with whom.

// shareFake is a workbench of one server without Node whose clients share it.
func shareFake(t *testing.T) *bench {
	t.Helper()
	b := newBench(t, "", box{"all", "One server", []server{fakeServer(newest)}})
	b.share()
	t.Cleanup(b.awaitSharedEnd)
	return b
}

// bridged starts the program with a client, in a folder and with more variables.
func (b *bench) bridged(binary, folder string, environ []string, args ...string) *rawClient {
	b.t.Helper()
	cmd := exec.Command(binary, args...)
	cmd.Env, cmd.Dir, cmd.Stderr = append(b.environ(), environ...), folder, b.stderr
	c := dial(b.t, b.mark, cmd)
	c.initialize(newest)
	return c
}

func (b *bench) daemons() int { return len(b.processesOf(" daemon --")) }

func copyFile(t *testing.T, from, to string, mode os.FileMode) {
	t.Helper()
	source, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, mode)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(target, source); err != nil {
		t.Fatal(err)
	}
	if err := target.Close(); err != nil {
		t.Fatal(err)
	}
}

// Another program, file, toolbox or proxy has a workbench of its own; another folder
// has not, but servers of its own, and another terminal or locale shares everything.
func TestWhoSharesAWorkbench(t *testing.T) {
	b := shareFake(t)
	other := filepath.Join(t.TempDir(), "mcp-workbench")
	copyFile(t, b.binary, other, 0o700)
	file := filepath.Join(t.TempDir(), "workbench-config.json")
	copyFile(t, b.config, file, 0o600)
	here, there := realTempDir(t), realTempDir(t)
	steps := []struct {
		name           string
		binary, folder string
		environ, args  []string
		daemons, fakes int // that there are then
	}{
		{"the first", b.binary, here, nil, []string{"--shared", "--config", b.config}, 1, 1},
		{"the same", b.binary, here, nil, []string{"--shared", "--config", b.config}, 1, 1},
		{"another terminal", b.binary, here, []string{"TERM=other"}, []string{"--shared", "--config", b.config}, 1, 1},
		{"another folder", b.binary, there, nil, []string{"--shared", "--config", b.config}, 1, 2},
		{"another build", other, here, nil, []string{"--shared", "--config", b.config}, 2, 3},
		{"another file", b.binary, here, nil, []string{"--shared", "--config", file}, 3, 4},
		{"another toolbox", b.binary, here, nil, []string{"--shared", "--config", b.config, "--toolbox", "all"}, 4, 5},
		{"another locale", b.binary, here, []string{"LANG=other"}, []string{"--shared", "--config", b.config}, 4, 5},
		{"another proxy", b.binary, here, []string{"HTTPS_PROXY=http://127.0.0.1:9"}, []string{"--shared", "--config", b.config}, 5, 6},
		{"not shared", b.binary, here, nil, []string{"--config", b.config}, 5, 7},
	}
	for _, step := range steps {
		c := b.bridged(step.binary, step.folder, step.environ, step.args...)
		c.open("all")
		if daemons, fakes := b.daemons(), len(b.processesOf(mcptest.Self())); daemons != step.daemons || fakes != step.fakes {
			t.Errorf("%s: %d shared workbenches and %d servers, want %d and %d", step.name, daemons, fakes, step.daemons, step.fakes)
		}
	}
}

// A bridge that is killed ends the session of its own client, and nothing else.
func TestKilledBridge(t *testing.T) {
	b := shareFake(t)
	folder := realTempDir(t)
	args := []string{"--shared", "--config", b.config}
	killed, other := b.bridged(b.binary, folder, nil, args...), b.bridged(b.binary, folder, nil, args...)
	other.open("all")
	killed.open("all")
	if err := killed.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = killed.wait() // by a signal
	other.open("all")
	if daemons, fakes := b.daemons(), len(b.processesOf(mcptest.Self())); daemons != 1 || fakes != 1 {
		t.Errorf("%d shared workbenches and %d servers", daemons, fakes)
	}
}

// A bridge leads to a workbench by its socket, and goes on when it was started again.
func TestBridgeToASocket(t *testing.T) {
	b := shareFake(t)
	folder := realTempDir(t)
	sharing := b.bridged(b.binary, folder, nil, "--shared", "--config", b.config)
	want := sharing.open("all")
	sockets, _ := filepath.Glob(filepath.Join(b.sockets, "mcp-workbench", "d-*.sock"))
	if len(sockets) != 1 {
		t.Fatalf("sockets: %v", sockets)
	}
	c := b.bridged(b.binary, folder, nil, "bridge", sockets[0])
	if got := c.open("all"); len(got.Tools) != len(want.Tools) {
		t.Errorf("%d tools, want %d", len(got.Tools), len(want.Tools))
	}
	daemon := b.processesOf(" daemon --")[0]
	if err := syscall.Kill(daemon, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	b.awaitNone(func() bool { return slices.Contains(b.processesOf(" daemon --"), daemon) })
	// A call that a bridge sends before it notices is not repeated, since it may have been carried out.
	b.awaitStderr(regexp.MustCompile(`(?s)connection to the workbench broke.*connection to the workbench broke`))
	// The other client's bridge starts the workbench again. The toolbox is still open.
	if result := string(c.use("all", "fake", "nothing", "{}")); !strings.Contains(result, "not found in server") {
		t.Errorf("afterwards: %s", result)
	}
	if again := b.processesOf(" daemon --"); len(again) != 1 || slices.Contains(again, daemon) {
		t.Errorf("shared workbenches: %v, before %d", again, daemon)
	}
}

// A bridge leads to a workbench by its address, with what that says of itself.
func TestBridgeToAnAddress(t *testing.T) {
	b := newBench(t, "", box{"all", "One server", []server{fakeServer(newest)}})
	c := dial(t, b.mark, b.bridgeTo(b.serve()))
	if hello := c.initialize(newest); !strings.Contains(string(hello), "all (1 servers)") {
		t.Errorf("it says %s", hello)
	}
	direct := b.remoteClient(newest)
	if got, want := string(c.request("tools/list", "{}")), string(direct.request("tools/list", "{}")); got != want {
		t.Errorf("tools: %s\nwant %s", got, want)
	}
	c.open("all")
	direct.open("all")
	for _, sample := range fidelitySamples() {
		got, want := c.use("all", "fake", sample.name, `{"a":1}`), direct.use("all", "fake", sample.name, `{"a":1}`)
		if string(got) != string(want) {
			t.Errorf("%s: %s\nwant %s", sample.name, got, want)
		}
	}
}

func (b *bench) bridgeTo(address string) *exec.Cmd {
	cmd := exec.Command(b.binary, "bridge", address)
	cmd.Env, cmd.Stderr = b.environ(), b.stderr
	return cmd
}
