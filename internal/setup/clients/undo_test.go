package clients

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// Files as real clients wrote them anew after the workbench was connected: with other spaces,
// with keys of their own, and without a line end.
func TestUndoAfterTheClientWroteItsFile(t *testing.T) {
	captures, err := filepath.Glob("testdata/undo/*.txtar")
	if err != nil || len(captures) == 0 {
		t.Fatalf("no captures: %v", err)
	}
	for _, capture := range captures {
		t.Run(strings.TrimSuffix(filepath.Base(capture), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(capture)
			if err != nil {
				t.Fatal(err)
			}
			texts := make(map[string][]byte)
			for _, file := range archive.Files {
				name, noEnd := strings.CutSuffix(file.Name, " (no line end)")
				if texts[name] = file.Data; noEnd {
					texts[name] = file.Data[:len(file.Data)-1]
				}
			}
			setting := func(name string) string {
				_, rest, _ := strings.Cut(string(archive.Comment), name+": ")
				value, _, _ := strings.Cut(rest, "\n")
				return value
			}
			got, err := ByID(setting("client")).Undo(setting("file"), texts["before"], texts["written"], texts["now"])
			if err != nil || len(got.Kept) > 0 {
				t.Fatalf("%v, kept: %q", err, got.Kept)
			}
			if diff := cmp.Diff(string(texts["want"]), string(got.Data)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got, err := ByID(setting("client")).Undo(setting("file"), texts["before"], texts["written"], texts["written"]); err != nil || !cmp.Equal(got.Data, texts["before"]) {
				t.Errorf("what was not written anew is not restored exactly: %v\n%s", err, got.Data)
			}
		})
	}
}

// gone stands for a file that is not there.
const gone = "\x00"

// What was changed in an entry that is taken out all the same stands after "+" in told.
type undoCase struct{ name, id, file, before, written, now, want, told string }

func (c undoCase) run(t *testing.T) {
	bytesOf := func(text string) []byte {
		if text == gone {
			return nil
		}
		return []byte(text)
	}
	got, err := ByID(c.id).Undo(c.file, bytesOf(c.before), bytesOf(c.written), bytesOf(c.now))
	if err != nil {
		t.Fatal(err)
	}
	if (got.Data == nil) != (c.want == gone) {
		t.Fatalf("got %q", got.Data)
	}
	if got.Data != nil {
		if diff := cmp.Diff(c.want, string(got.Data)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	told := strings.Join(got.Kept, "; ")
	if len(got.Edited) > 0 {
		told += "+" + strings.Join(got.Edited, "; ")
	}
	if told != c.told {
		t.Errorf("told: %q, want %q", told, c.told)
	}
	if wantStays := strings.Contains(told, "leads to another program"); got.Stays != wantStays {
		t.Errorf("an entry of ours stays: %t", got.Stays)
	}
}

func TestUndoComparesThreeWays(t *testing.T) {
	for _, test := range []undoCase{
		{
			"an entry in another order, with keys of the client's", "cursor", "mcp.json",
			`{"mcpServers": {"a": {"command": "x"}}}`,
			`{"mcpServers": {"a": {"command": "x"}, "workbench": {"command": "/w", "args": []}}}`,
			`{"z": 1.0, "mcpServers": {"workbench": {"env": {}, "args": [], "type": "stdio", "command": "/w"}, "a": {"command": "x"}}}`,
			`{"z": 1.0, "mcpServers": {"a": {"command": "x"}}}`, "",
		},
		{
			"an entry without keys that say nothing or are not known", "claude-code", ".claude.json",
			`{}`,
			`{"mcpServers": {"workbench": {"type": "stdio", "command": "/w", "args": [], "env": {}, "alwaysLoad": true}}}`,
			`{"mcpServers": {"workbench": {"command": "/w"}, "b": {}}}`,
			`{"mcpServers": {"b": {}}}`, "",
		},
		{
			"a number that is written otherwise", "crush", "crush.json",
			`{"mcp": {}}`, `{"mcp": {"workbench": {"command": "/w", "timeout": 30}}}`,
			`{"mcp": {"workbench": {"command": "/w", "timeout": 3e1}, "b": {}}}`, `{"mcp": {"b": {}}}`, "",
		},
		{
			"an entry that the user changed goes with the change", "cursor", "mcp.json",
			`{"mcpServers": {"a": {"command": "x"}}}`, `{"mcpServers": {"workbench": {"command": "/w", "args": []}}}`,
			`{"mcpServers": {"workbench": {"command": "/w", "args": ["--shared"]}}}`,
			`{"mcpServers": {"a": {"command": "x"}}}`,
			"+'workbench' was changed since (args), and is removed all the same",
		},
		{
			"an entry with its arguments in the command goes", "opencode", "opencode.json",
			`{}`, `{"mcp": {"workbench": {"type": "local", "command": ["/w"], "enabled": true}}}`,
			`{"mcp": {"workbench": {"type": "local", "command": ["/w", "--shared"], "enabled": true}}}`, `{}`,
			"+'workbench' was changed since (command), and is removed all the same",
		},
		{
			"an entry that starts another program now stays", "opencode", "opencode.json",
			`{}`, `{"mcp": {"workbench": {"type": "local", "command": ["/w"]}}}`,
			`{"mcp": {"workbench": {"type": "local", "command": ["/x", "/w"]}}}`, `{"mcp": {"workbench": {"type": "local", "command": ["/x", "/w"]}}}`,
			"'workbench' was changed since (command): it leads to another program now, and stays",
		},
		{
			"an entry that leads elsewhere now stays", "cursor", "mcp.json",
			`{}`, `{"mcpServers": {"workbench": {"command": "/w", "args": ["--config", "/c"]}}}`,
			`{"mcpServers": {"workbench": {"url": "http://x"}}}`, `{"mcpServers": {"workbench": {"url": "http://x"}}}`,
			"'workbench' was changed since (command, args): it leads to another program now, and stays",
		},
		{
			"an entry that is gone already", "cursor", "mcp.json",
			`{"a": 1}`, `{"a": 1, "mcpServers": {"workbench": {"command": "/w"}}}`, `{"a": 2}`, `{"a": 2}`, "",
		},
		{
			"what was taken out comes back where it was", "cursor", "mcp.json",
			`{"mcpServers": {"a": {}, "b": {"command": "b"}, "c": {"command": "c"}, "d": {}}}`,
			`{"mcpServers": {"a": {}, "d": {}, "workbench": {"command": "/w"}}}`,
			`{"mcpServers": {"n": {}, "a": {}, "d": {}, "workbench": {"command": "/w"}}, "s": 1}`,
			`{"mcpServers": {"n": {}, "a": {}, "b": {"command": "b"}, "c": {"command": "c"}, "d": {}}, "s": 1}`, "",
		},
		{
			"before the one that followed it, where none is left before it", "cursor", "mcp.json",
			"{\"mcpServers\": {\n  // of b\n  \"b\": {}, // mine\n  \"d\": {}\n}}",
			"{\"mcpServers\": {\n  \"d\": {},\n  \"workbench\": {\"command\": \"/w\"}\n}}",
			"{\n  \"mcpServers\": {\n    \"n\": 1,\n    \"d\": {},\n    \"workbench\": {\"command\": \"/w\"}\n  }\n}",
			"{\n  \"mcpServers\": {\n    \"n\": 1,\n    // of b\n    \"b\": {}, // mine\n    \"d\": {}\n  }\n}", "",
		},
		{
			"into a place that the client removed", "claude-code", ".claude.json",
			`{"projects": {"/p": {"mcpServers": {"b": {"command": "b"}}}}}`, `{"projects": {"/p": {"mcpServers": {}}}}`,
			`{"projects": {"/p": {"x": 1}}}`, `{"projects": {"/p": {"x": 1, "mcpServers": {"b": {"command": "b"}}}}}`, "",
		},
		{
			"what is there again stays", "cursor", "mcp.json",
			`{"mcpServers": {"b": {"command": "b"}, "c": {"command": "c"}}}`, `{"mcpServers": {}}`,
			`{"mcpServers": {"b": {"command": "other"}, "c": {"args": [], "command": "c"}}}`,
			`{"mcpServers": {"b": {"command": "other"}, "c": {"args": [], "command": "c"}}}`,
			"'b' is there again with other settings, and stays as it is; 'c' is there again with other settings, and stays as it is",
		},
		{
			"an entry that was there before gets its values back", "cursor", "mcp.json",
			`{"mcpServers": {"workbench": {"command": "/old", "env": {"A": "b"}}}}`,
			`{"mcpServers": {"workbench": {"command": "/w", "env": {"A": "b"}, "args": ["x"]}}}`,
			"{\n  \"mcpServers\": {\n    \"workbench\": {\n      // mine\n      \"type\": \"stdio\",\n      \"command\": \"/w\",\n      \"env\": {},\n      \"args\": [\"x\"]\n    }\n  }\n}",
			"{\n  \"mcpServers\": {\n    \"workbench\": {\n      // mine\n      \"type\": \"stdio\",\n      \"command\": \"/old\",\n      \"env\": {}\n    }\n  }\n}", "",
		},
		{
			"but for those that were changed since", "cursor", "mcp.json",
			`{"mcpServers": {"workbench": {"command": "/old", "args": []}}}`,
			`{"mcpServers": {"workbench": {"command": "/w", "args": ["x"]}}}`,
			`{"mcpServers": {"workbench": {"command": "/w", "args": ["y"]}}}`,
			`{"mcpServers": {"workbench": {"command": "/old", "args": ["y"]}}}`,
			"'workbench' was changed since (args); that stays",
		},
		{
			"a new file with nothing else in it", "cursor", "mcp.json", gone,
			`{"mcpServers": {"workbench": {"command": "/w"}}}`, "{\n \"mcpServers\": { \"workbench\": {\"command\": \"/w\", \"type\": \"stdio\"} }\n}", gone, "",
		},
		{
			"a new file with something else in it", "cursor", "mcp.json", gone,
			`{"mcpServers": {"workbench": {"command": "/w"}}}`, `{"mcpServers": {"workbench": {"command": "/w"}}, "v": 1}`, `{"v": 1}`, "",
		},
		{
			"a new file with a comment", "zed", "settings.json", gone,
			`{"context_servers": {"workbench": {"command": "/w"}}}`, "{\n  // mine\n  \"context_servers\": {\"workbench\": {\"command\": \"/w\"}}\n  // rest\n}", "{\n  // rest\n}", "",
		},
		{
			"no place for servers before, and an empty one", "cursor", "mcp.json", `{"mcpServers": {}}`,
			`{"mcpServers": {"workbench": {"command": "/w"}}}`, `{"mcpServers": {"workbench": {"command": "/w"}}, "v": 1}`, `{"mcpServers": {}, "v": 1}`, "",
		},
	} {
		t.Run(test.name, test.run)
	}
}

func TestUndoInOtherFormats(t *testing.T) {
	for _, test := range []undoCase{
		{
			"a table", "codex", "config.toml",
			"# mine\nmodel = \"m\"\n",
			"# mine\nmodel = \"m\"\n\n[mcp_servers.workbench]\ncommand = \"/w\"\nargs = []\n",
			"# mine\nmodel = \"n\"\n\n[projects.\"/p\"]\ntrust = true\n\n[mcp_servers.workbench]\nargs = []\ncommand = \"/w\"\n\n[tui]\nx = 1\n",
			"# mine\nmodel = \"n\"\n\n[projects.\"/p\"]\ntrust = true\n\n[tui]\nx = 1\n", "",
		},
		{
			"tables that were taken out", "codex", "config.toml",
			"[mcp_servers.a]\ncommand = \"a\"\n\n[mcp_servers.b]\ncommand = \"b\" # why\n\n[mcp_servers.b.env]\nK = \"v\"\n\n[mcp_servers.c]\ncommand = \"c\"\n",
			"[mcp_servers.a]\ncommand = \"a\"\n\n[mcp_servers.c]\ncommand = \"c\"\n\n[mcp_servers.workbench]\ncommand = \"/w\"\n",
			"[mcp_servers.a]\ncommand = 'a'\n\n[mcp_servers.c]\ncommand = 'c'\n\n[mcp_servers.workbench]\ncommand = '/w'\n",
			"[mcp_servers.a]\ncommand = 'a'\n\n[mcp_servers.b]\ncommand = \"b\" # why\n[mcp_servers.b.env]\nK = \"v\"\n\n[mcp_servers.c]\ncommand = 'c'\n", "",
		},
		{
			"a table that was changed", "codex", "config.toml", "",
			"[mcp_servers.workbench]\ncommand = \"/w\"\nstartup_timeout_sec = 30\n",
			"[mcp_servers.workbench]\ncommand = \"/w\"\nstartup_timeout_sec = 60\n",
			"",
			"+'workbench' was changed since (startup_timeout_sec), and is removed all the same",
		},
		{
			"a mapping", "goose", "config.yaml",
			"# mine\nGOOSE_MODE: auto\n",
			"# mine\nGOOSE_MODE: auto\n\nextensions:\n  workbench:\n    enabled: true\n    cmd: /w\n    args: []\n    timeout: 300\n",
			"GOOSE_MODE: auto\nextensions:\n  developer:\n    enabled: true\n  workbench:\n    args: []\n    cmd: /w\n    enabled: true\n    timeout: 300\n    bundled: null\nz: 1\n",
			"GOOSE_MODE: auto\nextensions:\n  developer:\n    enabled: true\nz: 1\n", "",
		},
		{
			"a mapping that was not there", "goose", "config.yaml",
			"z: 1\n", "z: 1\n\nextensions:\n  workbench:\n    cmd: /w\n    enabled: true\n",
			"extensions:\n  workbench:\n    enabled: true\n    cmd: /w\nz: 2\n", "z: 2\n", "",
		},
		{
			"entries that were taken out, further in", "goose", "config.yaml",
			"extensions:\n  a:\n    cmd: a\n  b: # why\n    cmd: b\n    args:\n      - x\n  c:\n    cmd: c\n",
			"extensions:\n  workbench:\n    cmd: /w\n    enabled: true\n  a:\n    cmd: a\n  c:\n    cmd: c\n",
			"extensions:\n    workbench:\n        cmd: /w\n        enabled: true\n    a:\n        cmd: a\n    c:\n        cmd: c\n",
			"extensions:\n    a:\n        cmd: a\n    b: # why\n      cmd: b\n      args:\n        - x\n    c:\n        cmd: c\n", "",
		},
		{
			"items of a list", "continue", "config.yaml",
			"name: c\nmcpServers:\n  - name: a\n    command: a\n  - name: b\n    command: b\n",
			"name: c\nmcpServers:\n  - name: workbench\n    command: /w\n  - name: b\n    command: b\n",
			"name: d\nmcpServers:\n- name: workbench\n  command: /w\n- name: b\n  command: b\n",
			"name: d\nmcpServers:\n- name: a\n  command: a\n- name: b\n  command: b\n", "",
		},
		{
			"the only item of a list", "continue", "config.yaml",
			"name: c\nmcpServers:\n  - name: a\n    command: a\n",
			"name: c\nmcpServers:\n  - name: workbench\n    command: /w\n",
			"name: d\nmcpServers:\n- command: /w\n  name: workbench\n",
			"name: d\nmcpServers:\n  - name: a\n    command: a\n", "",
		},
		{
			"a script", "crush", "crushrc", "option a\n",
			"option a\n\n# mcp-workbench begin: workbench\nmcp add workbench --command /w\n# mcp-workbench end: workbench\n",
			"# new\noption a\n\n# mcp-workbench begin: workbench\nmcp add workbench --command /w\n# mcp-workbench end: workbench\noption b\n",
			"# new\noption a\n\noption b\n", "",
		},
		{
			"a script whose arguments were changed", "crush", "crushrc", "option a\n",
			"option a\n\n# mcp-workbench begin: workbench\nmcp add workbench --command '/w w'\n# mcp-workbench end: workbench\n",
			"option a\n\n# mcp-workbench begin: workbench\nmcp add workbench --command '/w w' --args --shared\n# mcp-workbench end: workbench\n",
			"option a\n", "+'workbench' was changed since (all of it), and is removed all the same",
		},
		{
			"a script that was changed", "crush", "crushrc", "",
			"# mcp-workbench begin: workbench\nmcp add workbench --command /w\n# mcp-workbench end: workbench\n",
			"# mcp-workbench begin: workbench\nmcp add workbench --command /x\n# mcp-workbench end: workbench\n",
			"# mcp-workbench begin: workbench\nmcp add workbench --command /x\n# mcp-workbench end: workbench\n",
			"'workbench' was changed since (all of it): it leads to another program now, and stays",
		},
		{
			"a block of a script that was taken out", "crush", "crushrc",
			"# mcp-workbench begin: workbench\nmcp add workbench --command /w\n# mcp-workbench end: workbench\n", "", "option b\n",
			"option b\n\n# mcp-workbench begin: workbench\nmcp add workbench --command /w\n# mcp-workbench end: workbench\n", "",
		},
	} {
		t.Run(test.name, test.run)
	}
}

// A file that cannot be read any more is left as it is.
func TestUndoOfADamagedFile(t *testing.T) {
	_, err := ByID("cursor").Undo("mcp.json", []byte(`{}`), []byte(`{"mcpServers": {"workbench": {}}}`), []byte(`{"mcpServers": sesame}`))
	if err == nil || !strings.Contains(err.Error(), "cannot be read") || strings.Contains(err.Error(), "sesame") {
		t.Errorf("%v", err)
	}
}

// Several changes in a row are taken back one by one, whatever the client did in between.
func TestUndoEachOfSeveral(t *testing.T) {
	client, file := ByID("cursor"), filepath.Join(t.TempDir(), "mcp.json")
	first := []byte(`{"mcpServers": {"a": {"command": "a"}}}`)
	second, err := client.Put(file, first, Entry{Name: "workbench", Command: "/mcp-workbench"})
	if err != nil {
		t.Fatal(err)
	}
	second = append([]byte("\n"), second...) // the client writes it
	third, err := client.Put(file, second, Entry{Name: "bench", Command: "/mcp-workbench", Args: []string{"--toolbox", "x"}})
	if err != nil {
		t.Fatal(err)
	}
	fourth, err := client.RemoveServer(file, third, "a")
	if err != nil {
		t.Fatal(err)
	}
	now := append([]byte("\n"), fourth...)
	written := [][]byte{second[1:], third, fourth}
	for i, before := range [][]byte{third, second, first} {
		undone, err := client.Undo(file, before, written[2-i], now)
		if err != nil || len(undone.Kept) > 0 {
			t.Fatalf("%v, %q", err, undone.Kept)
		}
		now = undone.Data
	}
	if got := strings.TrimSpace(string(now)); got != string(first) {
		t.Errorf("left: %s", got)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("a file was written")
	}
}

// Whatever became of a file, nothing is touched but the entries of servers.
func FuzzUndo(f *testing.F) {
	f.Add("cursor", `{"mcpServers": {"a": {}}}`, `{"a": 1, "mcpServers": {"workbench": {"command": "/opt/mcp-workbench"}}}`)
	f.Add("codex", "a = 1\n[mcp_servers.a]\ncommand = \"x\"\n", "[mcp_servers.workbench]\ncommand = \"x\"\n[z]\nx = 1\n")
	f.Add("goose", "extensions:\n  a:\n    cmd: x # y\nz:\n- 1\n", "extensions:\n  workbench:\n    cmd: x\n")
	f.Add("continue", "mcpServers:\n  - name: a\n    command: x\n", "mcpServers:\n- name: b\n  command: x\n")
	f.Fuzz(func(t *testing.T, id, before, now string) {
		client := ByID(id)
		if client == nil {
			return
		}
		file := client.Files(fake("linux", linuxEnv))[0]
		written, err := client.Put(file, []byte(before), bench)
		if err != nil {
			return
		}
		undone, err := client.Undo(file, []byte(before), written, []byte(now))
		if err != nil {
			return
		}
		rest := func(data []byte) string {
			tree, err := parse(file, data)
			if err != nil {
				t.Fatalf("%q, %q became unreadable: %q", before, now, data)
			}
			return canonical(tree.with(client.servers[0], value{}, false))
		}
		if string(written) != now && rest([]byte(now)) != rest(undone.Data) {
			t.Fatalf("%q, %q became %q", before, now, undone.Data)
		}
	})
}
