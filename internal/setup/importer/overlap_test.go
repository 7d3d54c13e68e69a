package importer

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/clients"
)

// Only a server that the workbench runs in the same way, with all the tools that the client has of it, is removable.
func TestOverlap(t *testing.T) {
	server := func(further string) string { return `{"command": "x", "args": ["a"]` + further + `}` }
	for _, test := range []struct {
		name    string
		dev     string // its server x
		ops     string // its server y; "": it has none
		toolbox string // that the client gets
		client  clients.Server
		project string
		stays   string // why; "": it is removable
	}{
		{"the same", server(``), "", "", clients.Server{}, "", ""},
		{"in the home folder", server(`, "cwd": "~"`), "", "", clients.Server{}, "", ""},
		{"in the folder of a project", server(`, "cwd": "~"`), "", "", clients.Server{}, "/p", "in your home folder"},
		{"with all tools", server(`, "toolFilters": ["*"]`), "", "", clients.Server{}, "", ""},
		{"with some tools", server(`, "toolFilters": ["t"]`), "", "", clients.Server{}, "", "not offer all of its tools"},
		{"without tools", server(`, "toolFilters": []`), "", "", clients.Server{}, "", "not offer all of its tools"},
		{"with the client's tools", server(`, "toolFilters": ["t", "u"]`), "", "", clients.Server{Tools: []string{"u"}}, "", ""},
		{"with others", server(`, "toolFilters": ["t", "u"]`), "", "", clients.Server{Tools: []string{"v"}}, "", "not offer all of its tools"},
		{"disabled", server(`, "disabled": true`), "", "", clients.Server{}, "", "it is disabled"},
		{"disabled in one toolbox only", server(`, "disabled": true`), server(``), "", clients.Server{}, "", ""},
		{"limited in one toolbox only", server(`, "toolFilters": []`), server(``), "", clients.Server{}, "", ""},
		{"in the toolbox that the client gets", server(``), server(``), "ops", clients.Server{}, "", ""},
		{"in another one", server(``), "", "ops", clients.Server{}, "", "which the client does not get"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("XDG_STATE_HOME", t.TempDir())
			path := filepath.Join(t.TempDir(), "c.json")
			ops := ""
			if test.ops != "" {
				ops = `"y": ` + test.ops
			}
			content := `{"toolboxes": {"dev": {"mcpServers": {"x": ` + test.dev + `}}, "ops": {"mcpServers": {` + ops + `}}}}`
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			test.client.Name, test.client.Command, test.client.Args = "mine", "x", []string{"a"}
			source := clients.Source{Client: clients.ByID("claude-code"), Project: test.project, Servers: []clients.Server{test.client}}
			for range 10 { // the order of objects must not matter
				found, err := FindOverlap(t.Context(), []clients.Source{source}, OverlapOptions{
					Config: path, Standing: clients.Standing{Toolbox: test.toolbox},
					Working: func(context.Context, string) (map[toolbox.Ref]bool, error) {
						return map[toolbox.Ref]bool{{Toolbox: "dev", Server: "x"}: true, {Toolbox: "ops", Server: "y"}: true}, nil
					},
					Command: func(words ...string) string { return strings.Join(words, " ") },
				})
				if err != nil {
					t.Fatal(err)
				}
				if test.stays == "" && (len(found.Removable) != 1 || len(found.Stays) > 0) {
					t.Fatalf("%v stays", found.Stays)
				}
				if test.stays != "" && (len(found.Removable) > 0 || len(found.Stays) != 1 || !strings.Contains(found.Stays[0].Reason, test.stays)) {
					t.Fatalf("%v is removable, and %v stays", found.Removable, found.Stays)
				}
			}
		})
	}
}
