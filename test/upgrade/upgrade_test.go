//go:build unix

// Package upgrade tests what happens when two versions of the program meet.
package upgrade

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n"

// patience bounds the wait for a workbench to end; it is never reached where nothing is wrong.
const patience = 20 * time.Second

// place is a home folder with two versions of the program.
type place struct {
	t    *testing.T
	home string
}

func (p place) command(version string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(p.home, version), args...)
	cmd.Dir = p.home
	cmd.Env = []string{"HOME=" + p.home, "XDG_RUNTIME_DIR=" + p.home, "PATH=" + os.Getenv("PATH")}
	return cmd
}

// client starts a client of the shared workbench, and waits until it is served. leave ends it and returns what it said.
func (p place) client(version string) (leave func() string) {
	p.t.Helper()
	cmd := p.command(version, "--shared")
	var said bytes.Buffer
	cmd.Stderr = &said
	in, err := cmd.StdinPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	_, err = io.WriteString(in, hello)
	if line, readErr := bufio.NewReader(out).ReadString('\n'); err != nil || readErr != nil {
		p.t.Fatal(line, err, readErr)
	}
	return func() string {
		p.t.Helper()
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			p.t.Error(err)
		}
		return said.String()
	}
}

// running waits until workbenches of these versions run, in ascending order, and no others.
func (p place) running(versions ...string) {
	p.t.Helper()
	var listed []byte
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		listed, _ = p.command("2.0.0", "ps", "--json").Output()
		var seen struct{ Workbenches []struct{ Version string } }
		if err := json.Unmarshal(listed, &seen); err != nil {
			p.t.Fatalf("%v\n%s", err, listed)
		}
		var found []string
		for _, workbench := range seen.Workbenches {
			found = append(found, workbench.Version)
		}
		slices.Sort(found)
		if slices.Equal(found, versions) {
			return
		}
	}
	p.t.Errorf("want %v running, but there is\n%s", versions, listed)
}

func TestTwoVersionsMeet(t *testing.T) {
	home, err := os.MkdirTemp("/tmp", "wb") // a socket's name has to be short
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(home) }()
	p := place{t, home}
	for _, version := range []string{"1.0.0", "2.0.0"} {
		build := exec.Command("go", "build", "-ldflags", "-X github.com/mcp-workbench/mcp-workbench/internal/cli.Version="+version, "-o", filepath.Join(home, version), "../../cmd/mcp-workbench")
		if text, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	}
	folder := filepath.Join(home, ".config", "mcp-workbench")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	config := []byte(`{"toolboxes": {"dev": {"description": "Time", "mcpServers": {"clock": {"builtin": "clock"}}}}}`)
	if err := os.WriteFile(filepath.Join(folder, "workbench-config.json"), config, 0o600); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.command("2.0.0", "stop", "--all").Run() }()

	p.client("1.0.0")()
	p.running("1.0.0")
	if said := p.client("2.0.0")(); !strings.Contains(said, "was used by nobody, and is replaced by version 2.0.0") {
		t.Errorf("the new version says %q about an idle old one", said)
	}
	p.running("2.0.0")

	// Commands meet workbenches of other versions, too, and say so.
	p.client("1.0.0")()
	p.running("1.0.0", "2.0.0")
	listed, err := p.command("2.0.0", "ps").Output()
	if err != nil || strings.Count(string(listed), "another version than this program, which is 2.0.0") != 1 {
		t.Errorf("ps says %v\n%s", err, listed)
	}
	called, err := p.command("2.0.0", "call", "now").CombinedOutput()
	if err != nil || !strings.Contains(string(called), "version 1.0.0 (process ") || !strings.Contains(string(called), "is replaced by version 2.0.0") {
		t.Errorf("call says %v\n%s", err, called)
	}
	p.running("2.0.0")
	called, err = p.command("1.0.0", "call", "now").CombinedOutput()
	if err != nil || !strings.Contains(string(called), "is newer than this program (1.0.0)") {
		t.Errorf("call of an older program says %v\n%s", err, called)
	}

	leave := p.client("1.0.0")
	p.running("1.0.0", "2.0.0")
	if said := p.client("2.0.0")(); !strings.Contains(said, "still serves 1 client") {
		t.Errorf("the new version says %q about an old one in use", said)
	}
	p.running("1.0.0", "2.0.0")
	if said := leave(); !strings.Contains(said, "is newer than this program (1.0.0)") {
		t.Errorf("the old version says %q about a newer one", said)
	}
	p.running("2.0.0")
}
