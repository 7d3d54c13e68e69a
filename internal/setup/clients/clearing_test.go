package clients

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What was taken out comes back in every format, after several changes and after the client has rewritten its file. What the
// user did since stays as it is.
func TestClearing(t *testing.T) {
	for _, test := range []struct {
		name, client, file string
		changes            []string // the contents of the file, the first being the oldest; each is a change of the one before
		now                string
		want               []string // parts of the result
		not                []string
	}{
		{
			"two connects", "cursor", "mcp.json",
			[]string{`{"mcpServers": {"a": {"command": "x"}}}`, `{"mcpServers": {"w": {"command": "mcp-workbench"}}}`, `{"mcpServers": {"w": {"command": "mcp-workbench", "args": ["--shared"]}}}`},
			`{"theme": 1, "mcpServers": {"b": {"command": "y"}, "w": {"command": "mcp-workbench", "args": ["--shared"], "on": true}}}`,
			[]string{`"theme": 1`, `"b": {"command": "y"}`, `"a": {"command": "x"}`},
			[]string{"mcp-workbench"},
		},
		{
			"the user removed what had come back", "cursor", "mcp.json",
			[]string{`{"mcpServers": {"a": {"command": "x"}}}`, `{"mcpServers": {"w": {"command": "mcp-workbench"}}}`, `{"mcpServers": {"a": {"command": "x"}}}`},
			`{"mcpServers": {"w": {"command": "mcp-workbench"}}}`, nil,
			[]string{"mcp-workbench", `"a"`},
		},
		{
			"the user put another one there", "cursor", "mcp.json",
			[]string{`{"mcpServers": {"a": {"command": "x"}}}`, `{"mcpServers": {"w": {"command": "mcp-workbench"}}}`},
			`{"mcpServers": {"w": {"command": "mcp-workbench"}, "a": {"command": "mine"}}}`,
			[]string{`"mine"`},
			[]string{"mcp-workbench", `"x"`},
		},
		{
			"an empty file", "cursor", "mcp.json",
			[]string{`{"mcpServers": {"a": {"command": "x"}}}`, `{"mcpServers": {"w": {"command": "mcp-workbench"}}}`},
			``,
			[]string{`"a"`},
			[]string{"mcp-workbench"},
		},
		{
			"a project", "claude-code", ".claude.json",
			[]string{`{"projects": {"/p": {"mcpServers": {"a": {"command": "x"}}}}}`, `{"projects": {"/p": {"mcpServers": {}}}, "mcpServers": {"w": {"command": "mcp-workbench"}}}`},
			`{"mcpServers": {"w": {"command": "mcp-workbench"}}}`,
			[]string{`"/p"`, `"a"`},
			[]string{"mcp-workbench"},
		},
		{
			"tables", "codex", "config.toml",
			[]string{"[mcp_servers.a]\ncommand = \"x\"\n", "[mcp_servers.w]\ncommand = \"mcp-workbench\"\n", "[mcp_servers.w]\ncommand = \"mcp-workbench\"\nargs = [\"--shared\"]\n"},
			"model = \"m\"\n[mcp_servers]\nw = { command = \"mcp-workbench\" }\n",
			[]string{"model", "[mcp_servers.a]"},
			[]string{"mcp-workbench"},
		},
		{
			"YAML", "goose", "config.yaml",
			[]string{"extensions:\n  a:\n    cmd: x\n    type: stdio\n", "extensions:\n  w:\n    cmd: mcp-workbench\n", "extensions: {}\n"},
			"extensions: {}\nmode: auto\n",
			[]string{"a:", "cmd: x", "mode: auto"},
			[]string{"mcp-workbench"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			client, store := ByID(test.client), Backups{Dir: t.TempDir()}
			file := filepath.Join(t.TempDir(), test.file)
			for i, after := range test.changes[1:] {
				if _, err := store.Store(Backup{Client: client.ID, File: file}, []byte(test.changes[i]), []byte(after), time.Unix(int64(i), 0)); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(file, []byte(test.now), 0o600); err != nil {
				t.Fatal(err)
			}
			c, err := NewClearing(client, store, file, ClearOptions{Mode: 0o600})
			if err != nil {
				t.Fatal(err)
			}
			for _, part := range test.want {
				if !strings.Contains(string(c.After), part) {
					t.Errorf("%s is missing in\n%s", part, c.After)
				}
			}
			for _, part := range test.not {
				if strings.Contains(string(c.After), part) {
					t.Errorf("%s is in\n%s", part, c.After)
				}
			}
		})
	}
}
