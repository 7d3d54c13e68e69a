package faults

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/test/faults/rig"
	"github.com/mcp-workbench/mcp-workbench/test/processtable"
	"github.com/mcp-workbench/mcp-workbench/test/released"
)

const aServer = `{"toolboxes":{"dev":{"description":"d","mcpServers":{"s":{"command":"true"%s}}}}}`

// starts the workbench, or a command of it, with a file and waits for its end; the client
// says nothing.
func runWith(t *testing.T, path string, command ...string) (stderr string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), recovery)
	defer cancel()
	cmd := exec.CommandContext(ctx, released.Binary(t), append(command, "--config", path)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
	var out, words strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &words
	_ = cmd.Run() // the exit code tells all
	if ctx.Err() != nil {
		t.Errorf("the workbench took longer than %v", recovery)
	}
	if out.Len() > 0 {
		t.Errorf("stdout: %.300s", out.String())
	}
	return words.String(), cmd.ProcessState.ExitCode()
}

func writeConfig(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "workbench.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestConfiguration(t *testing.T) {
	t.Parallel()
	for _, fault := range []struct {
		row, text string
		words     []string // all of them
	}{
		{"90 syntax error", "{\n\"toolboxes\": {\n,}}", []string{"workbench.json:3"}},
		{"91 empty", "", []string{"workbench.json"}},
		{"91 array", "[]", []string{"workbench.json"}},
		{"92 wrong type", fmt.Sprintf(aServer, `,"args":5`), []string{"'s'", "args"}},
		{"92 unset variable", fmt.Sprintf(aServer, `,"args":["${NOT_THERE_AT_ALL}"]`), []string{"NOT_THERE_AT_ALL", "args"}},
	} {
		row(t, fault.row, func(t *testing.T, _ pairing) {
			refused(t, writeConfig(t, fault.text), fault.words...)
		}, noClient, noServer)
	}
	row(t, "91 missing", func(t *testing.T, _ pairing) { refused(t, "/no/such/file.json", "/no/such/file.json") }, noClient, noServer)
	row(t, "91 directory", func(t *testing.T, _ pairing) {
		dir := t.TempDir()
		refused(t, dir, dir)
	}, noClient, noServer)
	row(t, "93 unknown field", func(t *testing.T, _ pairing) {
		warned(t, writeConfig(t, fmt.Sprintf(aServer, `,"comand":"x"`)), "unknown key 'comand' is ignored", "did you mean 'command'?")
	}, noClient, noServer)
	row(t, "93 duplicate key", func(t *testing.T, _ pairing) {
		refused(t, writeConfig(t, fmt.Sprintf(aServer, `,"command":"x"`)), "workbench.json:1:", "Duplicate key 'command'")
	}, noClient, noServer)
	row(t, "93 world-writable file", func(t *testing.T, _ pairing) {
		path := writeConfig(t, fmt.Sprintf(aServer, ""))
		if err := os.Chmod(path, 0o666); err != nil { // WriteFile obeys the umask
			t.Fatal(err)
		}
		warned(t, path, "workbench.json can be changed by every user", "chmod o-w")
	}, noClient, noServer)
	row(t, "94 symlink", func(t *testing.T, _ pairing) {
		link := filepath.Join(t.TempDir(), "link.json")
		if err := os.Symlink(writeConfig(t, fmt.Sprintf(aServer, "")), link); err != nil {
			t.Fatal(err)
		}
		accepted(t, link)
	}, noClient, noServer)
	row(t, "94 byte order mark", func(t *testing.T, _ pairing) { accepted(t, writeConfig(t, "\ufeff"+fmt.Sprintf(aServer, ""))) }, noClient, noServer)
	row(t, "94 no toolboxes", func(t *testing.T, _ pairing) { accepted(t, writeConfig(t, `{"toolboxes":{}}`)) }, noClient, noServer)
	row(t, "95 2000 toolboxes of 5 servers", testManyToolboxes, noServer)
}

// refused wants a file that commands refuse, with all the words about it, and that is served
// as far as it goes.
func refused(t *testing.T, path string, words ...string) {
	t.Helper()
	stderr, code := runWith(t, path, "validate")
	if code != 1 {
		t.Errorf("the exit code is %d", code)
	}
	says(t, stderr, words...)
	warned(t, path, words...)
}

// warned wants a file that is served, and all the words about it.
func warned(t *testing.T, path string, words ...string) {
	t.Helper()
	stderr, code := runWith(t, path)
	if code != 0 {
		t.Errorf("the exit code is %d", code)
	}
	says(t, stderr, words...)
}

func says(t *testing.T, stderr string, words ...string) {
	t.Helper()
	for _, word := range words {
		if !strings.Contains(stderr, word) {
			t.Errorf("stderr does not say %q: %s", word, stderr)
		}
	}
}

func accepted(t *testing.T, path string) {
	t.Helper()
	if stderr, code := runWith(t, path); code != 0 {
		t.Errorf("the exit code is %d: %s", code, stderr)
	}
}

func testManyToolboxes(t *testing.T, p pairing) {
	boxes := make(map[string]box)
	for i := range 2000 {
		servers := make(box)
		for j := range 5 {
			servers[fmt.Sprint("s", j)] = rig.Server{Role: "good"}
		}
		boxes[fmt.Sprint("box", i)] = servers
	}
	b := startWith(t, p, rig.Options{Boxes: boxes})
	if used := cpuTime(t, b.PID); used > sibling {
		t.Errorf("the workbench used %v of CPU until initialize", used)
	}
	b.wait(b.Begin("tools/list", "{}"), sibling)
	if below := processtable.Below(b.PID); len(below) > 0 {
		t.Errorf("processes were started: %v", below)
	}
}
