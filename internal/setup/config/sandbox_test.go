package config

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSandbox(t *testing.T) {
	dir := t.TempDir()
	open := &Sandbox{ReadAll: true, Network: true}
	for _, test := range []struct {
		name, top, server string
		want              *Sandbox
		problem           string
	}{
		{"none", ``, ``, nil, ""},
		{"true", ``, `, "sandbox": true`, open, ""},
		{"an empty one", ``, `, "sandbox": {}`, open, ""},
		{"of all", `"sandbox": true, `, ``, open, ""},
		{"off for one", `"sandbox": true, `, `, "sandbox": false`, nil, ""},
		{"replaced", `"sandbox": {"network": false, "write": ["a"]}, `, `, "sandbox": {"memory": "512MiB"}`, &Sandbox{ReadAll: true, Network: true, Memory: 512 << 20}, ""},
		{
			"all keys", ``, `, "sandbox": {"read": ["a/../b", "~/c", "cwd"], "write": ["/d/", "./cwd"], "network": false, "memory": 16777216, "bestEffort": true}`,
			&Sandbox{
				Read: []string{filepath.Join(dir, "b"), filepath.FromSlash("/home/me/c"), "cwd"}, Write: []string{filepath.FromSlash("/d"), filepath.Join(dir, "cwd")},
				Memory: 16 << 20, BestEffort: true,
			}, "",
		},
		{"nothing to read", ``, `, "sandbox": {"read": []}`, &Sandbox{Read: []string{}, Network: true}, ""},
		{"all to read", ``, `, "sandbox": {"read": "all"}`, open, ""},
		{"another word", ``, `, "sandbox": {"read": "none"}`, nil, `'sandbox.read' must be "all" or a list of paths`},
		{"too little", ``, `, "sandbox": {"memory": "1MiB"}`, nil, "'sandbox.memory' must be a number of bytes or a size"},
		{"a mistyped key", ``, `, "sandbox": {"netwrok": false}`, nil, "unknown key 'sandbox.netwrok'"},
		{"an empty path", ``, `, "sandbox": {"write": [""]}`, nil, "'sandbox.write[0]' must not be empty"},
	} {
		t.Run(test.name, func(t *testing.T) {
			text := `{` + test.top + `"toolboxes": {"t": {"description": "d", "mcpServers": {"s": {"command": "c"` + test.server + `}}}}}`
			cfg, err := Parse("c.json", []byte(text), ParseOptions{Dir: dir, Home: filepath.FromSlash("/home/me")})
			if err != nil {
				t.Fatal(err)
			}
			server := cfg.Toolboxes[0].Servers[0]
			if fault := faultText(server); !strings.Contains(fault, test.problem) || test.problem == "" && fault != "" {
				t.Errorf("fault %q, want %q", fault, test.problem)
			}
			if diff := cmp.Diff(test.want, server.Sandbox); diff != "" && test.problem == "" {
				t.Error(diff)
			}
		})
	}
}

func faultText(server Server) string {
	if server.Fault == nil {
		return ""
	}
	return server.Fault.Error()
}

// Built-in servers are parts of the workbench, and remote ones run elsewhere: only what is said of such a server itself counts.
func TestSandboxOfAll(t *testing.T) {
	cfg, err := Parse("c.json", []byte(`{"sandbox": true, "toolboxes": {"t": {"description": "d", "mcpServers": {
		"a": {"builtin": "clock"}, "b": {"builtin": "clock", "sandbox": {"network": false}}, "c": {"url": "https://example.com"},
		"d": {"url": "https://example.com", "sandbox": true}, "e": {"command": "c"}}}}}`), ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var got []bool
	for _, server := range cfg.Toolboxes[0].Servers {
		got = append(got, server.Sandbox != nil)
	}
	if diff := cmp.Diff([]bool{false, true, false, false, true}, got); diff != "" {
		t.Error(diff)
	}
	if len(cfg.Warnings) != 1 || !strings.Contains(cfg.Warnings[0].Message, "'sandbox' has no effect") {
		t.Errorf("warnings: %v", cfg.Warnings)
	}
}

// A project's file can tighten the user's sandbox, at the top and for a server, and never loosen it.
func TestSandboxOfProject(t *testing.T) {
	user := &Sandbox{ReadAll: true, Write: []string{"/w"}, Memory: 64 << 20}
	const users = `"sandbox": {"write": ["/w"], "network": false, "memory": "64MiB"}, `
	for _, test := range []struct {
		name, users, top, server string
		want                     *Sandbox
		warned                   string
	}{
		{"the user's", users, ``, ``, user, ""},
		{"only the project's", ``, `"sandbox": {"network": false}, `, ``, &Sandbox{ReadAll: true}, ""},
		{"neither", ``, `"sandbox": false, `, `, "sandbox": false`, nil, ""},
		{"off", users, `"sandbox": false, `, ``, user, "'sandbox'"},
		{"off for a server", users, ``, `, "sandbox": false`, user, "'sandbox'"},
		{
			"looser", users, ``, `, "sandbox": {"write": ["/"], "network": true, "memory": "1GiB", "bestEffort": true}`,
			&Sandbox{ReadAll: true, Write: []string{"/"}, Memory: 64 << 20, Bound: user}, "",
		},
		{
			"stricter at the top", users, `"sandbox": {"read": ["/r"], "memory": "32MiB"}, `, ``,
			&Sandbox{Read: []string{"/r"}, Memory: 32 << 20, Bound: user}, "",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			project := strings.Replace(boxed(test.top, "p"), `"command": "x"`, `"command": "x"`+test.server, 1)
			if test.server != "" && !strings.Contains(project, test.server) {
				t.Fatalf("no place for the server's value in %s", project)
			}
			joined, _ := layered(t, project, boxed(test.users, "u"))
			if diff := cmp.Diff(test.want, joined.Toolboxes[0].Servers[0].Sandbox); diff != "" {
				t.Error(diff)
			}
			var wantUsers *Sandbox
			if test.users != "" {
				wantUsers = user
			}
			if diff := cmp.Diff(wantUsers, joined.Toolboxes[1].Servers[0].Sandbox); diff != "" {
				t.Errorf("of the user's own server: %s", diff)
			}
			checkWarned(t, joined, test.warned)
		})
	}
}

// While the user's file cannot be used, a sandbox that it may have allows a project's servers nothing.
func TestAssumedSandbox(t *testing.T) {
	for text, want := range map[string]*Sandbox{`{"sandbox": {"write"`: {}, `{"toolboxes": `: nil} {
		if diff := cmp.Diff(want, Withheld("/c.json", &Source{Data: []byte(text)}).Sandbox); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
	if Withheld("/c.json", nil).Sandbox == nil {
		t.Error("no sandbox although the file cannot be read")
	}
}

// The sandboxes that clients have in their own files are of another form.
func TestSandboxOfClient(t *testing.T) {
	cfg, err := Parse("mcp.json", []byte(`{"mcpServers": {"s": {"command": "c", "sandbox": {"filesystem": {}}}}}`), ParseOptions{Plain: true})
	if err != nil {
		t.Fatal(err)
	}
	if server := cfg.Toolboxes[0].Servers[0]; server.Fault != nil || server.Sandbox != nil || len(cfg.Warnings) != 1 {
		t.Errorf("%+v, %v", server, cfg.Warnings)
	}
}
