package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/clients"
)

// A client that writes its file while a person looks at the difference loses nothing, and
// gets the workbench all the same. One that writes all the time is told of.
func TestConnectWhileTheClientWrites(t *testing.T) {
	for _, test := range []struct {
		name   string
		writes int // how often the client writes before our turn
		code   toolbox.Code
	}{{"once", 1, ""}, {"always", 100, toolbox.FileChanged}} {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("XDG_STATE_HOME", t.TempDir())
			file := filepath.Join(t.TempDir(), ".claude.json")
			count := 0
			clientWrites := func() {
				count++
				if err := os.WriteFile(file, []byte(`{"numStartups": `+strings.Repeat("1", count)+`}`), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			clientWrites()
			client := clients.ByID("claude-code")
			c, err := clients.NewChange(file, connectOptions{}.mode(), func(before []byte) ([]byte, error) {
				after, err := client.Put(file, before, clients.Entry{Name: "workbench", Command: "/mcp-workbench"})
				if count <= test.writes {
					clientWrites()
				}
				return after, err
			})
			if err != nil {
				t.Fatal(err)
			}
			store, err := clients.OpenBackups()
			if err != nil {
				t.Fatal(err)
			}
			err = c.Write(store, client)
			done := err == nil
			after, readErr := os.ReadFile(file)
			if readErr != nil {
				t.Fatal(readErr)
			}
			if !strings.Contains(string(after), strings.Repeat("1", count)) {
				t.Errorf("what the client wrote is lost: %s", after)
			}
			if test.code == "" && (err != nil || !done || !strings.Contains(string(after), "workbench")) {
				t.Errorf("%v, %v: %s", done, err, after)
			}
			if test.code != "" && (err == nil || !strings.Contains(tty.Describe(err), string(test.code))) {
				t.Errorf("%v: %v", done, err)
			}
			backups, err := filepath.Glob(filepath.Join(os.Getenv("XDG_STATE_HOME"), "mcp-workbench", "clients", "*.json"))
			if want := map[bool]int{true: 1, false: 0}[done]; err != nil || len(backups) != want {
				t.Errorf("%d changes are remembered, want %d", len(backups), want)
			}
		})
	}
}

// Where a client may read either of two files, nobody guesses.
func TestConnectStopsIfTheFileIsUnclear(t *testing.T) {
	env := map[string]string{"LOCALAPPDATA": `C:\Local`, "APPDATA": `C:\Roaming`, "USERPROFILE": `C:\me`}
	ordinary := `C:\Roaming\Claude\claude_desktop_config.json`
	machine := clients.Machine{
		OS:     "windows",
		Getenv: func(name string) string { return env[name] },
		Exists: func(path string) bool { return path == ordinary },
		Glob:   func(string) []string { return []string{`C:\Local\Packages\Claude_x`} },
	}
	var out bytes.Buffer
	screen := tty.New(&out, strings.NewReader("1\n"), os.Getenv)
	file, err := clientFile(t.Context(), machine, clients.ByID("claude-desktop"), connectOptions{}, screen)
	if err == nil || !strings.Contains(tty.Describe(err), "code: client-ambiguous") || !strings.Contains(tty.Describe(err), ordinary) {
		t.Errorf("%q, %v", file, err)
	}
	named := filepath.Join(t.TempDir(), "x.json")
	if file, err := clientFile(t.Context(), machine, clients.ByID("claude-desktop"), connectOptions{file: named}, screen); err != nil || file != named {
		t.Errorf("%q, %v", file, err)
	}
}

// After init, a client that has the workbench is not told to be connected.
func TestClientToConnect(t *testing.T) {
	code, cursor := clients.ByID("claude-code"), clients.ByID("cursor")
	connected := clients.Source{Client: code, Self: []string{"workbench"}}
	for _, test := range []struct {
		name    string
		sources []clients.Source
		want    string
	}{
		{"no client", []clients.Source{{}}, "CLIENT"},
		{"the first", []clients.Source{{Client: code}, {Client: cursor}}, "claude-code"},
		{"the other", []clients.Source{connected, {Client: code, Project: "/p"}, {Client: cursor}}, "cursor"},
		{"all are", []clients.Source{{}, connected}, ""},
	} {
		if got := toConnect(test.sources); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}
