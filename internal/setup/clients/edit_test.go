package clients

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var bench = Entry{Name: "workbench", Command: "/opt/mcp-workbench", Args: []string{"--config", "/c d/w.json"}}

// What a person added to the arguments of the workbench's entry stays when it is put there again.
func TestPutKeepsArguments(t *testing.T) {
	for _, test := range []struct {
		name      string
		had, sets []string // words of the entry that is there, and arguments of the new one
		want      []string
	}{
		{"a flag", []string{"/opt/mcp-workbench", "--shared"}, nil, []string{"--shared"}},
		{"all of them, in their order", []string{"/opt/mcp-workbench", "--log-level", "debug", "--shared", "--toolbox=x"}, nil, []string{"--log-level", "debug", "--shared", "--toolbox=x"}},
		{"behind a runner", []string{"npx", "-y", "mcp-workbench", "--toolbox", "x y"}, nil, []string{"--toolbox", "x y"}},
		{"the configuration is what is set now", []string{"/opt/mcp-workbench", "--shared", "--config", "/old", "--toolbox", "x"}, []string{"--config", "/new"}, []string{"--shared", "--config", "/new", "--toolbox", "x"}},
		{"in another form", []string{"/opt/mcp-workbench", "--config=/old"}, []string{"--config", "/new"}, []string{"--config", "/new"}},
		{"or none", []string{"/opt/mcp-workbench", "--config", "/old", "--shared"}, nil, []string{"--shared"}},
		{"what is set now wins", []string{"/opt/mcp-workbench", "--shared", "--toolbox", "x", "--toolbox", "y"}, []string{"--toolbox", "z"}, []string{"--shared", "--toolbox", "z"}},
		{"what is new comes first", []string{"/opt/mcp-workbench", "--shared"}, []string{"--config", "/new"}, []string{"--config", "/new", "--shared"}},
		{"a flag without its value", []string{"/opt/mcp-workbench", "--shared", "--toolbox"}, nil, []string{"--shared", "--toolbox"}},
		{"not of another command", []string{"/opt/mcp-workbench", "bridge", "http://127.0.0.1:1/mcp"}, nil, []string{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, kind := range []struct{ id, file string }{{"cursor", "mcp.json"}, {"opencode", "opencode.json"}, {"codex", "config.toml"}, {"goose", "config.yaml"}, {"crush", "crushrc"}} {
				client := ByID(kind.id)
				before, err := client.Put(kind.file, nil, Entry{Name: "workbench", Command: test.had[0], Args: test.had[1:]})
				if err != nil {
					t.Fatal(err)
				}
				set := Entry{Name: "workbench", Command: "/opt/mcp-workbench", Args: test.sets}
				got, err := client.Put(kind.file, before, set)
				if err != nil {
					t.Fatal(err)
				}
				set.Args = test.want
				want, err := client.Put(kind.file, nil, set)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(strings.TrimSpace(string(want)), strings.TrimSpace(string(got))); diff != "" {
					t.Errorf("%s (-want +got):\n%s", kind.id, diff)
				}
			}
		})
	}
}

// A block that a person wrote otherwise is replaced as a whole.
func TestShellCommand(t *testing.T) {
	for line, want := range map[string][]string{
		"mcp add w --command /w --args --shared --timeout 30":       {"/w", "--shared"},
		`mcp add w --command '/it'\''s' --args 'a b'`:               {"/it's", "a b"},
		`mcp add w --command "$HOME/w" --args --shared`:             nil,
		"mcp add w --command '/w --args --shared":                   nil,
		"mcp add w --url http://x":                                  nil,
		"mcp add w --args x":                                        nil,
		"mcp add w --command /w\nmcp add v --command /v --args --x": nil,
	} {
		if got := shellCommand("# begin\n" + line + "\n# end\n"); !cmp.Equal(got, want) {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

func TestPut(t *testing.T) {
	for _, test := range []struct{ name, id, file, before, after string }{
		{
			"comments and order stay", "vscode", "mcp.json",
			"{\n\t// mine\n\t\"servers\": {\n\t\t\"b\": {\"command\": \"x\"}, // keep\n\t},\n\t\"inputs\": [],\n}\n",
			"{\n\t// mine\n\t\"servers\": {\n\t\t\"b\": {\"command\": \"x\"}, // keep\n\t\t\"workbench\": {\"type\": \"stdio\", \"command\": \"/opt/mcp-workbench\", \"args\": [\"--config\", \"/c d/w.json\"]},\n\t},\n\t\"inputs\": [],\n}\n",
		},
		{
			"an entry keeps what is not ours", "claude-code", ".claude.json",
			`{"mcpServers": {"workbench": {"command": "/old/mcp-workbench", "env": {"A": "b"}, "timeout": 5}}}` + "\n",
			`{"mcpServers": {"workbench": {"command": "/opt/mcp-workbench", "env": {"A": "b"}, "timeout": 5, "type": "stdio", "args": ["--config", "/c d/w.json"], "alwaysLoad": true}}}` + "\n",
		},
		{
			"a table", "codex", "config.toml",
			"# mine\nmodel = \"m\" # this\n\n[mcp_servers.a]\ncommand = \"x\"",
			"# mine\nmodel = \"m\" # this\n\n[mcp_servers.a]\ncommand = \"x\"\n\n[mcp_servers.workbench]\ncommand = \"/opt/mcp-workbench\"\nargs = [\"--config\", \"/c d/w.json\"]\nstartup_timeout_sec = 30\n",
		},
		{
			"a table in place of an older one", "codex", "config.toml",
			"[mcp_servers.workbench]\ncommand = \"/old/mcp-workbench\"\n[mcp_servers.workbench.env]\nA = \"b\"\n\n# of z\n[z]\nx = 1\n",
			"\n# of z\n[z]\nx = 1\n\n[mcp_servers.workbench]\ncommand = \"/opt/mcp-workbench\"\nenv = { A = \"b\" }\nargs = [\"--config\", \"/c d/w.json\"]\nstartup_timeout_sec = 30\n",
		},
		{
			"lines with carriage returns", "codex", "config.toml", "a = 1\r\n",
			"a = 1\r\n\r\n[mcp_servers.workbench]\r\ncommand = \"/opt/mcp-workbench\"\r\nargs = [\"--config\", \"/c d/w.json\"]\r\nstartup_timeout_sec = 30\r\n",
		},
		{
			"a mapping", "goose", "config.yaml",
			"# mine\nGOOSE_MODE: auto\nextensions: # all\n    # of a\n    a:\n        enabled: true\n        cmd: x\nz: |\n  extensions:\n",
			"# mine\nGOOSE_MODE: auto\nextensions: # all\n    workbench:\n      enabled: true\n      type: stdio\n      name: workbench\n      description: MCP Workbench\n      cmd: /opt/mcp-workbench\n      args: [\"--config\", \"/c d/w.json\"]\n      envs: {}\n      timeout: 300\n    # of a\n    a:\n        enabled: true\n        cmd: x\nz: |\n  extensions:\n",
		},
		{
			"a mapping that is empty", "goose", "config.yaml", "extensions: {} # none\nz: 1\n",
			"extensions: # none\n  workbench:\n    enabled: true\n    type: stdio\n    name: workbench\n    description: MCP Workbench\n    cmd: /opt/mcp-workbench\n    args: [\"--config\", \"/c d/w.json\"]\n    envs: {}\n    timeout: 300\nz: 1\n",
		},
		{
			"a list", "continue", "config.yaml", "name: c\nmcpServers:\n- name: a\n  command: x\nmodels: []\n",
			"name: c\nmcpServers:\n- name: workbench\n  command: /opt/mcp-workbench\n  args: [\"--config\", \"/c d/w.json\"]\n- name: a\n  command: x\nmodels: []\n",
		},
		{
			"a list that is not there", "continue", "config.yaml", "name: c",
			"name: c\n\nmcpServers:\n  - name: workbench\n    command: /opt/mcp-workbench\n    args: [\"--config\", \"/c d/w.json\"]\n",
		},
		{
			"a script", "crush", "crushrc", "option debug true\n",
			"option debug true\n\n# mcp-workbench begin: workbench\nmcp add workbench --command /opt/mcp-workbench --args --config --args '/c d/w.json' --timeout 30\n# mcp-workbench end: workbench\n",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			client := ByID(test.id)
			got, err := client.Put(test.file, []byte(test.before), bench)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.after, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			again, err := client.Put(test.file, got, bench)
			if err != nil || string(again) != string(got) {
				t.Errorf("a second time changes it (%v):\n%s", err, again)
			}
			_, names, err := client.RemoveWorkbench(test.file, got, "", false)
			if err != nil || len(names) != 1 || names[0] != "workbench" {
				t.Errorf("entries: %q, %v", names, err)
			}
		})
	}
}

// What every client gets in a file of its own, and that it can be taken out again.
func TestPutIntoNothing(t *testing.T) {
	for _, client := range All() {
		file := client.Files(fake("linux", linuxEnv))[0]
		data, err := client.Put(file, nil, bench)
		if err != nil {
			t.Errorf("%s: %v", client.ID, err)
			continue
		}
		if _, names, err := client.RemoveWorkbench(file, data, "", false); err != nil || len(names) != 1 {
			t.Errorf("%s: %q, %v in\n%s", client.ID, names, err, data)
		}
		left, err := client.RemoveServer(file, data, "workbench")
		if err != nil || strings.Contains(string(left), "mcp-workbench") {
			t.Errorf("%s: %v, left\n%s", client.ID, err, left)
		}
	}
}

func TestTake(t *testing.T) {
	for _, test := range []struct{ name, id, file, before, after string }{
		{"JSON", "cursor", "mcp.json", "{\"mcpServers\": {\n  \"workbench\": {},\n  \"a\": {} // mine\n}}\n", "{\"mcpServers\": {\n  \"a\": {} // mine\n}}\n"},
		{"not there", "cursor", "mcp.json", `{ "mcpServers":{} }`, `{ "mcpServers":{} }`},
		{"a table in the middle", "codex", "c.toml", "[a]\nx = 1\n\n[mcp_servers.workbench]\ncommand = \"x\"\n\n[mcp_servers.workbench.env]\nA = \"b\"\n\n# of z\n[z]\n", "[a]\nx = 1\n\n# of z\n[z]\n"},
		{"a table at the end", "codex", "c.toml", "[a]\nx = 1\n\n[mcp_servers.workbench]\ncommand = \"x\"\n", "[a]\nx = 1\n"},
		{"an inline table", "codex", "c.toml", "[mcp_servers]\na = { command = \"x\" }\nworkbench = { command = \"x\", args = [] } # here\nz = { command = \"z\" }\n", "[mcp_servers]\na = { command = \"x\" }\nz = { command = \"z\" }\n"},
		{"an inline table that is the only one", "codex", "c.toml", "a = 1\nmcp_servers = { workbench = { command = \"x\" } }\nb = 2\n", "a = 1\nb = 2\n"},
		{"dotted keys", "codex", "c.toml", "mcp_servers.workbench.command = \"x\"\nmcp_servers.a.command = \"mcp_servers.workbench\"\nmcp_servers.\"workbench\".args = [\n  \"[mcp_servers.workbench]\",\n]\nb = 2\n[z]\n", "mcp_servers.a.command = \"mcp_servers.workbench\"\nb = 2\n[z]\n"},
		{"dotted keys below a table", "codex", "c.toml", "[mcp_servers]\nworkbench.command = \"x\"\na.command = \"y\"\n[other]\nworkbench.command = \"o\"\n", "[mcp_servers]\na.command = \"y\"\n[other]\nworkbench.command = \"o\"\n"},
		{"no line of a longer text", "codex", "c.toml", "a = \"\"\"\nmcp_servers.workbench.command = 1\n\"\"\"\nmcp_servers.workbench.command = \"x\"\n", "a = \"\"\"\nmcp_servers.workbench.command = 1\n\"\"\"\n"},
		{"a quoted table", "codex", "c.toml", "[ mcp_servers . \"workbench\" ] # here\ncommand = \"x\"\n[z]\n", "[z]\n"},
		{"a mapping", "goose", "c.yaml", "extensions:\n  a:\n    cmd: x\n  workbench:\n    cmd: mcp-workbench\n\n    args: []\n  # of b\n  b: {cmd: y}\n", "extensions:\n  a:\n    cmd: x\n  # of b\n  b: {cmd: y}\n"},
		{"the last of a mapping", "goose", "c.yaml", "extensions: # all\n  workbench:\n    cmd: mcp-workbench\nz: 1\n", "extensions: {} # all\nz: 1\n"},
		{"of a list", "continue", "c.yaml", "mcpServers:\n- command: x\n  name: workbench\n- name: a\n", "mcpServers:\n- name: a\n"},
		{"the last of a list", "continue", "c.yaml", "mcpServers:\n  - name: workbench\n    args:\n      - x\n", "mcpServers: []\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := ByID(test.id).RemoveServer(test.file, []byte(test.before), "workbench")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.after, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestRefusesWhatItCannotEdit(t *testing.T) {
	for _, test := range []struct{ id, file, before, want string }{
		{"cursor", "mcp.json", `{"mcpServers": {"workbench": {"command": "other"}}}`, "already that is not the workbench"},
		{"cursor", "mcp.json", `{"mcpServers": `, "cannot be read"},
		{"cursor", "mcp.json", `{"mcpServers": []}`, "left as it is"},
		{"codex", "c.toml", `mcp_servers = { a = { command = "x" } }`, "left as it is"},
		{"codex", "c.toml", "mcp_servers = {}\n", "left as it is"},
		{"codex", "c.toml", "mcp_servers.workbench.command = \"mcp-workbench\"\n", "left as it is"},
		{"goose", "c.yaml", "extensions: {a: {cmd: x}}\n", "left as it is"},
		{"goose", "c.yaml", "{a: 1}\n", "left as it is"},
		{"goose", "c.yaml", "x: &e {a: {cmd: x}}\nextensions: *e\n", "left as it is"},
	} {
		got, err := ByID(test.id).Put(test.file, []byte(test.before), bench)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q; got\n%s", test.before, err, test.want, got)
		}
	}
}

// A line of a text may look like the beginning of a table.
func TestTakeRefusesToTouchOtherThings(t *testing.T) {
	before := "t = \"\"\"\n[mcp_servers.workbench]\n\"\"\"\n[mcp_servers.workbench]\ncommand = \"mcp-workbench\"\n"
	got, err := ByID("codex").RemoveServer("c.toml", []byte(before), "workbench")
	if err == nil || !strings.Contains(err.Error(), "left as it is") {
		t.Errorf("%v; got\n%s", err, got)
	}
}

// Whatever the file is like, a change is either exactly the one that was asked for, or
// refused.
func FuzzPutAndTake(f *testing.F) {
	f.Add("codex", "a = 1\n[mcp_servers.a]\ncommand = \"x\"\n[z]\nt = \"\"\"\n[mcp_servers.workbench]\n\"\"\"\n")
	f.Add("codex", "mcp_servers.workbench.command = \"mcp-workbench\"\nmcp_servers.a = { command = \"x\" }\n")
	f.Add("goose", "extensions:\n  a:\n    cmd: x # y\nz:\n- 1\n")
	f.Add("continue", "mcpServers:\n  - name: a\n    command: >\n      x\n")
	f.Add("cursor", "{\"mcpServers\": {\"a\": {}} /* c */}")
	f.Fuzz(func(t *testing.T, id, before string) {
		client := ByID(id)
		if client == nil {
			return
		}
		file := client.Files(fake("linux", linuxEnv))[0]
		was, err := parse(file, []byte(before))
		if err != nil {
			return
		}
		after, err := client.Put(file, []byte(before), bench)
		if err != nil {
			return
		}
		is, err := parse(file, after)
		if err != nil || canonical(without(was, client.servers, bench.Name)) != canonical(without(is, client.servers, bench.Name)) {
			t.Fatalf("%q became %q: %v", before, after, err)
		}
		left, err := client.RemoveServer(file, after, bench.Name)
		if err != nil {
			return
		}
		if _, names, err := client.RemoveWorkbench(file, left, "", false); err != nil || len(names) > len(named(was.at(client.servers))) {
			t.Fatalf("%q became %q: %q, %v", before, left, names, err)
		}
	})
}
