package importer

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcp-workbench/mcp-workbench/internal/setup/clients"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/configwrite"
)

const token = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2"

func of(id string, servers ...clients.Server) clients.Source {
	return clients.Source{Client: clients.ByID(id), File: "/" + id, Servers: servers}
}

func command(name string, words ...string) clients.Server {
	return clients.Server{Name: name, Command: words[0], Args: words[1:]}
}

func plan(t *testing.T, g Given) *Plan {
	t.Helper()
	if g.Lookup == nil {
		g.Lookup = func(string) (string, bool) { return "", false }
	}
	p, err := NewPlan(g)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func names(p *Plan) (all []string) {
	for _, server := range p.Servers {
		all = append(all, server.Name+" of "+strings.Join(server.From, " and "))
	}
	return all
}

func TestSameServersAreOne(t *testing.T) {
	p := plan(t, Given{Sources: []clients.Source{
		of("cursor", command("fs", "npx", "files"), command("gh", "npx", "one")),
		of("zed", command("filesystem", "npx", "files"), command("gh", "npx", "two")),
		of("warp", command("gh", "npx", "three")),
		of("warp", command("gh", "npx", "four")),
		of("cline", command("github.com/upstash/context7-mcp", "npx", "five")),
	}})
	want := []string{"fs of Cursor and Zed", "gh of Cursor", "gh-zed of Zed", "gh-warp of Warp", "gh-2 of Warp", "context7-mcp of Cline"}
	if diff := cmp.Diff(want, names(p)); diff != "" {
		t.Error(diff)
	}
	if got := strings.Join(p.Notes, "\n"); !strings.Contains(got, "'filesystem' of Zed is the same server as 'fs'") || !strings.Contains(got, "is called 'gh-zed'") {
		t.Errorf("notes:\n%s", got)
	}
}

func TestSecretsAreMoved(t *testing.T) {
	server := clients.Server{Name: "gh", Command: "npx", Env: []clients.Setting{{Name: "GITHUB_TOKEN", Value: token}}}
	for _, test := range []struct {
		name      string
		env       map[string]string // workbench.env
		process   map[string]string
		variables []configwrite.Variable
		entry     string
	}{
		{"new", nil, nil, []configwrite.Variable{{Name: "GITHUB_TOKEN", Value: token}}, `"${GITHUB_TOKEN}"`},
		{"there already", map[string]string{"GITHUB_TOKEN": token}, nil, nil, `"${GITHUB_TOKEN}"`},
		{"another value is there", map[string]string{"GITHUB_TOKEN": "x"}, nil, []configwrite.Variable{{Name: "GH_GITHUB_TOKEN", Value: token}}, `"${GH_GITHUB_TOKEN}"`},
		{"the environment would win", nil, map[string]string{"GITHUB_TOKEN": "x"}, []configwrite.Variable{{Name: "GH_GITHUB_TOKEN", Value: token}}, `"${GH_GITHUB_TOKEN}"`},
		{"the environment has it for now", nil, map[string]string{"GITHUB_TOKEN": token}, []configwrite.Variable{{Name: "GITHUB_TOKEN", Value: token}}, `"${GITHUB_TOKEN}"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := plan(t, Given{
				Sources: []clients.Source{of("cursor", server)}, Env: test.env,
				Lookup: func(name string) (string, bool) { value, ok := test.process[name]; return value, ok },
			})
			if diff := cmp.Diff(test.variables, p.Variables); diff != "" {
				t.Error(diff)
			}
			data, err := p.Render(nil, p.Propose())
			if err != nil || !strings.Contains(string(data), test.entry) || strings.Contains(string(data), token) {
				t.Errorf("%v\n%s", err, data)
			}
		})
	}
}

func TestRenderIsAConfiguration(t *testing.T) {
	p := plan(t, Given{Sources: []clients.Source{
		of("vscode",
			command("filesystem", "npx", "-y", "@modelcontextprotocol/server-filesystem", "/home/me"),
			clients.Server{Name: "github", Command: "docker", Args: []string{"run"}, Env: []clients.Setting{{Name: "T", Value: "${GH}"}, {Name: "A", Value: "<&>"}}, Dir: "/w", Disabled: true},
			clients.Server{Name: "thing", URL: "https://mcp.linear.app/sse", Transport: "sse", Headers: []clients.Setting{{Name: "X", Value: "y"}}, Tools: []string{"a"}},
			clients.Server{Name: "odd", URL: "https://h", Headers: []clients.Setting{{Name: "not a header", Value: "y"}}},
		),
	}, Lookup: func(name string) (string, bool) { return "v", name == "GH" }})
	if len(p.Skipped) != 1 || p.Skipped[0].Name != "odd" {
		t.Errorf("skipped: %v", p.Skipped)
	}
	data, err := p.Render(nil, p.Propose())
	if err != nil {
		t.Fatal(err)
	}
	want := `{
  // use_tool opens what it needs: scripts and one-shot clients cannot open a toolbox first.
  "autoOpen": true,
  // Opening lists signatures, a fraction of the tokens; full definitions come on request.
  "openDetail": "brief",
  "toolboxes": {
    "files": {
      "description": "Files and folders: find, read, write (filesystem)",
      "mcpServers": {
        "filesystem": {
          "command": "npx",
          "args": ["-y", "@modelcontextprotocol/server-filesystem", "/home/me"],
          "cwd": "~"
        }
      }
    },
    "code": {
      "description": "Repositories, issues, pull requests, builds and errors of software (github)",
      "mcpServers": {
        "github": {
          "command": "docker",
          "args": ["run"],
          "env": {
            "T": "${GH}",
            "A": "<&>"
          },
          "cwd": "/w",
          "disabled": true
        }
      }
    },
    "projects": {
      "description": "Tasks, tickets and plans (thing)",
      "mcpServers": {
        "thing": {
          "url": "https://mcp.linear.app/sse",
          "transport": "sse",
          "headers": {
            "X": "y"
          },
          "toolFilters": ["a"]
        }
      }
    }
  }
}
`
	if diff := cmp.Diff(want, string(data)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	cfg, err := config.Parse("x", data, config.ParseOptions{Dir: "/", Home: "/home/me", Lookup: func(string) (string, bool) { return "v", true }})
	if err != nil || len(cfg.Warnings) > 0 {
		t.Errorf("%v, %v", err, cfg)
	}
}

func TestAddsToAConfiguration(t *testing.T) {
	before := []byte("{\n  // mine\n  \"toolboxes\": {\n    \"files\": {\"description\": \"d\", \"mcpServers\": {\"fs\": {\"command\": \"npx\", \"args\": [\"files\"], \"disabled\": true}}}\n  }\n}\n")
	g := Given{Config: before, Sources: []clients.Source{of("cursor", command("filesystem", "npx", "files"), command("fs", "npx", "other-fs"), command("zzz", "z"))}}
	p := plan(t, g)
	if len(p.Already) != 1 || p.Already[0].Toolbox != "files" || p.Already[0].Server != "fs" || p.Already[0].Name != "filesystem" || !p.Already[0].Disabled {
		t.Errorf("already: %+v", p.Already)
	}
	after, err := p.Render(before, p.Propose())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"// mine", `"fs-2": {`, `"other-fs"`, `"Further tools (zzz)"`, `"description": "d"`} {
		if !strings.Contains(string(after), want) {
			t.Errorf("%q is missing in\n%s", want, after)
		}
	}
	g.Config = after
	if again := plan(t, g); len(again.Servers) != 0 || len(again.Already) != 3 {
		t.Errorf("a second time: %v", names(again))
	}
}

func TestServersWithoutTheirVariablesWait(t *testing.T) {
	g := Given{
		Sources: []clients.Source{of("vscode", clients.Server{Name: "a", Command: "x", Args: []string{"${KEY}", "$${NOT}", "${D:-1}", "${SHELL_ONLY}"}})},
		Lookup:  func(name string) (string, bool) { return "v", name == "SHELL_ONLY" },
	}
	p := plan(t, g)
	if diff := cmp.Diff([]string{"KEY"}, p.Unset()); diff != "" {
		t.Error(diff)
	}
	if got := strings.Join(p.Notes, "\n"); !strings.Contains(got, "SHELL_ONLY comes from this terminal") {
		t.Errorf("notes: %s", got)
	}
	if data, err := p.Render(nil, p.All("x")); err != nil || !strings.Contains(string(data), `"disabled": true`) {
		t.Errorf("%v\n%s", err, data)
	}
	p.Set("KEY", "value")
	if data, err := p.Render(nil, p.All("x")); err != nil || strings.Contains(string(data), "disabled") || len(p.Variables) != 1 {
		t.Errorf("%v\n%s", err, data)
	}
}

func TestGroups(t *testing.T) {
	for _, test := range []struct {
		server clients.Server
		want   string
	}{
		{command("brave-search", "npx", "x"), "web"},
		{command("x", "npx", "-y", "@modelcontextprotocol/server-postgres", "url"), "database"},
		{command("x", "uvx", "mcp-server-git"), "code"},
		{command("x", "docker", "run", "-i", "--rm", "mcp/memory"), "notes"},
		{clients.Server{Name: "x", URL: "https://mcp.figma.com/mcp"}, "design"},
		{command("Sequential_Thinking", "npx", "x"), "helpers"},
		{command("mine", "/opt/mine"), "tools"},
	} {
		if got := (&Server{Name: test.server.Name, definition: test.server}).Toolbox(); got != test.want {
			t.Errorf("%+v: %s, want %s", test.server, got, test.want)
		}
	}
	p := plan(t, Given{Sources: []clients.Source{of("cursor", command("a", "x"), command("fetch", "y"), command("b", "z"))}})
	if boxes := p.Propose(); boxes[0].Name != "web" || boxes[1].Name != "tools" || boxes[1].Description != "Further tools (a, b)" {
		t.Errorf("%+v", boxes)
	}
	if boxes := p.Assign([]string{"one", "web", "one"}); len(boxes) != 2 || boxes[0].Description != "Tools (a, b)" || boxes[1].Description != rules[2].description+" (fetch)" {
		t.Errorf("%+v", boxes)
	}
}

func TestMasker(t *testing.T) {
	file := `{"oauth": {"accessToken": "short-one"}, "mcpServers": {"a": {"command": "x", "args": ["--api-key", "sesame", "-e", "MY_SECRET=hush", "Authorization: Bearer aloud"], "env": {"PASSWORD": "opensesame"}}}, "theme": "dark"}`
	masked := Masker("x.json", [][]byte{[]byte(file)}, nil).Mask(file)
	for _, secret := range []string{"short-one", "sesame", "hush", "aloud", "opensesame"} {
		if strings.Contains(masked, secret) {
			t.Errorf("%q is shown in %s", secret, masked)
		}
	}
	if !strings.Contains(masked, "dark") || !strings.Contains(masked, `"command": "x"`) {
		t.Errorf("too much is hidden in %s", masked)
	}
	if got := string(MaskedEnv([]byte("# c=d\nA=b\nB='x'\n"))); got != "# c=d\nA=[hidden]\nB=[hidden]\n" {
		t.Errorf("%q", got)
	}
}

// What a client starts in whatever folder it works in runs at home, and so can be shared by
// clients in different folders; what is for one project does not.
func TestServersOfAllProjectsRunAtHome(t *testing.T) {
	project := of("claude-code", command("s", "x"))
	project.Project = "/work/project"
	unknown := of("cursor", command("s", "x"))
	unknown.Client = nil
	for _, test := range []struct {
		name    string
		sources []clients.Source
		want    bool
	}{
		{"of a user's file", []clients.Source{of("cursor", command("s", "npx", "-y", "server", "/data", "a.b", "..."))}, true},
		{"of two", []clients.Source{of("cursor", command("s", "x")), of("zed", command("s", "x"))}, true},
		{"of a project", []clients.Source{project}, false},
		{"of a project, too", []clients.Source{of("cursor", command("s", "x")), project}, false},
		{"of a file whose client is not known", []clients.Source{unknown}, false},
		{"with a folder", []clients.Source{of("cursor", clients.Server{Name: "s", Command: "x", Dir: "/w"})}, false},
		{"remote", []clients.Source{of("cursor", clients.Server{Name: "s", URL: "https://h/"})}, false},
		{"with its client's folder as an argument", []clients.Source{of("cursor", command("s", "npx", "server", "."))}, false},
		{"with a path from there", []clients.Source{of("cursor", command("s", "x", "--root=../y"))}, false},
		{"with a program there", []clients.Source{of("cursor", command("s", "./server"))}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := plan(t, Given{Sources: test.sources})
			data, err := p.Render(nil, p.Propose())
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(string(data), `"cwd": "~"`); got != test.want {
				t.Errorf("runs at home: %t, want %t:\n%s", got, test.want, data)
			}
			if noted := strings.Contains(strings.Join(p.Notes, "\n"), `"cwd": "~"`); noted != test.want {
				t.Errorf("the notes say so: %t, want %t: %q", noted, test.want, p.Notes)
			}
		})
	}
}

func TestMoveToKeyring(t *testing.T) {
	server := command("gh", "npx", "gh")
	server.Env = []clients.Setting{{Name: "GH_TOKEN", Value: token}, {Name: "OTHER_TOKEN", Value: "other-" + token}}
	from := Given{Sources: []clients.Source{of("cursor", server)}}
	p := plan(t, from)
	p.MoveToKeyring(func(name, _ string) bool { return name != "OTHER_TOKEN" })
	if diff := cmp.Diff([]configwrite.Variable{{Name: "GH_TOKEN", Value: token}}, p.Kept); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]configwrite.Variable{{Name: "OTHER_TOKEN", Value: "other-" + token}}, p.Variables); diff != "" {
		t.Error(diff)
	}
	data, err := p.Render(nil, p.Propose())
	if err != nil || !strings.Contains(string(data), `"GH_TOKEN": "${keyring:GH_TOKEN}"`) || !strings.Contains(string(data), `"OTHER_TOKEN": "${OTHER_TOKEN}"`) {
		t.Errorf("%s, %v", data, err)
	}
	from.Config = data // the second import finds it there
	if again := plan(t, from); len(again.Servers) != 0 || len(again.Already) != 1 {
		t.Errorf("again: %v", names(again))
	}
}

// The settings of a login need an address that is known before the start.
func TestSecretThatCannotBeMovedToTheKeyring(t *testing.T) {
	p := &Plan{
		Servers:   []*Server{{Name: "s", entry: []byte(`{"url": "https://x/${KEY}", "oauth": {"clientId": "y"}}`)}},
		Variables: []configwrite.Variable{{Name: "KEY", Value: "v"}, {Name: "UNUSED", Value: "v"}},
	}
	if p.MoveToKeyring(func(string, string) bool { return true }); len(p.Kept) != 0 || len(p.Variables) != 2 {
		t.Error(p.Kept, p.Variables)
	}
}
