package clients

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// read writes a client's file and reads it as that client's.
func read(t *testing.T, id, name, content string) []Source {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	sources, err := ByID(id).ReadFile(fake("linux", linuxEnv), file)
	if err != nil {
		t.Fatal(err)
	}
	return sources
}

func TestRead(t *testing.T) {
	for _, test := range []struct {
		name, id, file, content string
		want                    []Server
		skipped                 []Skipped
	}{
		{
			name: "plain", id: "claude-desktop", file: "c.json",
			content: `{"mcpServers": {"b": {"command": "npx", "args": ["-y", "pkg", 7], "env": {"K": "v", "N": 1}}, "a": {"command": "x"}}}`,
			want: []Server{
				{Name: "b", Command: "npx", Args: []string{"-y", "pkg", "7"}, Env: []Setting{{"K", "v"}, {"N", "1"}}},
				{Name: "a", Command: "x"},
			},
		},
		{
			name: "text that only looks like a variable", id: "claude-desktop", file: "c.json",
			content: `{"mcpServers": {"a": {"command": "sh", "args": ["-c", "echo ${HOME} $X"]}}}`,
			want:    []Server{{Name: "a", Command: "sh", Args: []string{"-c", "echo $${HOME} $X"}}},
		},
		{
			name: "variables in braces", id: "claude-code", file: "c.json",
			content: `{"mcpServers": {"a": {"type": "http", "url": "https://h/${P:-x}", "headers": {"Authorization": "Bearer ${T}"}},
				"lower": {"command": "${low}"}, "old": {"type": "sse", "url": "http://h"}}}`,
			want: []Server{
				{Name: "a", URL: "https://h/${P:-x}", Headers: []Setting{{"Authorization", "Bearer ${T}"}}},
				{Name: "old", URL: "http://h", Transport: "sse"},
			},
			skipped: []Skipped{{"lower", "its variable 'low' is not in capitals, which the workbench needs"}},
		},
		{
			name: "editor", id: "vscode", file: "mcp.json",
			content: `{ // comment
				"servers": {"a": {"type": "stdio", "command": "${userHome}/x", "env": {"K": "${env:TOKEN}", "I": "${input:api-key}"}, "cwd": "/w"},
				"w": {"command": "x", "cwd": "${workspaceFolder}"}, "f": {"command": "x", "envFile": ".env"}, "u": {"url": "unix:///s"},},}`,
			want: []Server{{
				Name: "a", Command: "${HOME}/x", Dir: "/w", Wanted: []string{"API_KEY"},
				Env: []Setting{{"K", "${TOKEN}"}, {"I", "${API_KEY}"}},
			}},
			skipped: []Skipped{
				{"w", "it depends on the folder that is open in the client (${workspaceFolder})"},
				{"f", "it reads variables from a file (envFile)"},
				{"u", "its address does not begin with http:// or https://"},
			},
		},
		{
			name: "dollar", id: "gemini", file: "settings.json",
			content: `{"mcp": {"excluded": ["b"]}, "mcpServers": {"a": {"url": "https://h", "headers": {"X": "$TOKEN"}, "excludeTools": ["t"]},
				"b": {"httpUrl": "https://h", "includeTools": ["x"]}, "c": {"command": "$(which x)"}}}`,
			want: []Server{
				{Name: "a", URL: "https://h", Transport: "sse", Headers: []Setting{{"X", "${TOKEN}"}}, Notes: []string{"its list of excluded tools (excludeTools) is not imported"}},
				{Name: "b", URL: "https://h", Tools: []string{"x"}, Disabled: true},
			},
			skipped: []Skipped{{"c", "it takes a value from the command $(which x)"}},
		},
		{
			name: "opencode", id: "opencode", file: "opencode.json",
			content: `{"mcp": {"a": {"type": "local", "command": ["bun", "x", "{env:P}"], "environment": {"K": "{env:T}"}, "enabled": false}, "r": {"type": "remote", "url": "https://h"}, "f": {"command": ["{file:x}"]}}}`,
			want: []Server{
				{Name: "a", Command: "bun", Args: []string{"x", "${P}"}, Env: []Setting{{"K", "${T}"}}, Disabled: true},
				{Name: "r", URL: "https://h"},
			},
			skipped: []Skipped{{"f", "it takes a value from a file ({file:x})"}},
		},
		{
			name: "logins", id: "claude-code", file: ".claude.json",
			content: `{"mcpServers": {"a": {"type": "http", "url": "https://h", "oauth": {"clientId": "c", "callbackPort": 8080}},
				"b": {"url": "https://h", "auth": {"CLIENT_ID": "c", "CLIENT_SECRET": "${S}", "scopes": ["r", "w"]}},
				"c": {"url": "https://h", "oauth": {"scope": "r w", "enabled": true, "tokenUrl": "https://t", "authorizationUrl": "https://a"}},
				"d": {"url": "https://h", "oauth": false}, "e": {"url": "https://h", "oauth": {}, "headersHelper": "x"},
				"f": {"url": "https://h", "oauth": {"clientSecret": "s"}}, "g": {"command": "x", "oauth": {"clientId": "c"}}}}`,
			want: []Server{
				{Name: "a", URL: "https://h", Login: &Login{ClientID: "c", CallbackPort: 8080}, Notes: []string{"its client id is imported; the authorization server has to allow the redirect URI of the workbench for it: http://127.0.0.1:8080/callback"}},
				{Name: "b", URL: "https://h", Login: &Login{ClientID: "c", ClientSecret: "${S}", Scopes: []string{"r", "w"}}, Notes: []string{"its client id is imported; the authorization server has to allow the redirect URI of the workbench for it: http://127.0.0.1:PORT/callback"}},
				{Name: "c", URL: "https://h", Login: &Login{Scopes: []string{"r", "w"}}, Notes: []string{"of its login (oauth), authorizationUrl, tokenUrl is not imported"}},
				{Name: "d", URL: "https://h", Login: &Login{Off: true}},
				{Name: "e", URL: "https://h", Notes: []string{"its program for headers (headersHelper) is not imported"}},
				{Name: "f", URL: "https://h", Notes: []string{"of its login (oauth), the client's secret is not imported"}},
				{Name: "g", Command: "x"},
			},
		},
		{
			name: "zed, also as it was", id: "zed", file: "settings.json",
			content: `{"context_servers": {"a": {"command": "x", "args": []}, "b": {"source": "custom", "command": {"path": "y", "args": ["1"], "env": {"K": "v"}}}}}`,
			want:    []Server{{Name: "a", Command: "x"}, {Name: "b", Command: "y", Args: []string{"1"}, Env: []Setting{{"K", "v"}}}},
		},
		{
			name: "codex", id: "codex", file: "config.toml",
			content: "model = \"m\"\n[mcp_servers.z]\ncommand = \"npx\"\nargs = [\"a\"]\nenv_vars = [\"TOKEN\"]\n[mcp_servers.z.env]\nK = \"v\"\n" +
				"[mcp_servers.a]\nurl = \"https://h\"\nbearer_token_env_var = \"T\"\nenabled = false\nenabled_tools = [\"x\"]\n[mcp_servers.a.env_http_headers]\nX = \"V\"\n",
			want: []Server{
				{Name: "z", Command: "npx", Args: []string{"a"}, Env: []Setting{{"K", "v"}, {"TOKEN", "${TOKEN}"}}},
				{Name: "a", URL: "https://h", Headers: []Setting{{"Authorization", "Bearer ${T}"}, {"X", "${V}"}}, Disabled: true, Tools: []string{"x"}},
			},
		},
		{
			name: "continue", id: "continue", file: "config.yaml",
			content: "name: x\nmcpServers:\n  - name: a\n    command: npx\n    args: [-y, p]\n    env:\n      K: ${{ secrets.my-token }}\n  - name: r\n    type: sse\n    url: https://h\n    requestOptions:\n      headers:\n        X: y\n",
			want: []Server{
				{Name: "a", Command: "npx", Args: []string{"-y", "p"}, Env: []Setting{{"K", "${MY_TOKEN}"}}, Wanted: []string{"MY_TOKEN"}},
				{Name: "r", URL: "https://h", Transport: "sse", Headers: []Setting{{"X", "y"}}},
			},
		},
		{
			name: "goose", id: "goose", file: "config.yaml",
			content: "extensions:\n  developer:\n    type: builtin\n    enabled: true\n  gh:\n    type: stdio\n    cmd: npx\n    args: [gh]\n    envs: {A: b}\n    env_keys: [GH_TOKEN]\n    enabled: true\n  r:\n    type: streamable_http\n    uri: https://h\n",
			want: []Server{
				{Name: "gh", Command: "npx", Args: []string{"gh"}, Env: []Setting{{"A", "b"}, {"GH_TOKEN", "${GH_TOKEN}"}}, Wanted: []string{"GH_TOKEN"}},
				{Name: "r", URL: "https://h"},
			},
			skipped: []Skipped{{"developer", "it is part of the client itself (builtin)"}},
		},
		{
			name: "cline", id: "cline", file: "c.json",
			content: `{"mcpServers": {"n": {"transport": {"type": "streamableHttp", "url": "https://h"}, "disabled": true}, "s": {"url": "https://h"}, "e": {}}}`,
			want:    []Server{{Name: "n", URL: "https://h", Disabled: true}, {Name: "s", URL: "https://h", Transport: "sse"}},
			skipped: []Skipped{{"e", "it names neither a command nor a url"}},
		},
		{
			name: "the workbench itself", id: "cursor", file: "mcp.json",
			content: `{"mcpServers": {"w": {"command": "C:\\x\\mcp-workbench.exe"}, "old": {"command": "npx", "args": ["-y", "mcp-workbench@0.4"]},
				"about": {"command": "npx", "args": ["-y", "files", "/src/mcp-workbench"]}, "n": {"command": "mcp-workbench", "args": ["builtin", "notes"]}}}`,
			want: []Server{
				{Name: "about", Command: "npx", Args: []string{"-y", "files", "/src/mcp-workbench"}},
				{Name: "n", Command: "mcp-workbench", Args: []string{"builtin", "notes"}},
			},
		},
		{
			name: "amp's one key", id: "amp", file: "settings.json",
			content: `{"amp.mcpServers": {"a": {"command": "x"}}}`,
			want:    []Server{{Name: "a", Command: "x"}},
		},
		{name: "empty file", id: "cursor", file: "mcp.json", content: "\n"},
		{
			name: "script", id: "crush", file: "crushrc", content: "mcp add x --command y\n",
			skipped: []Skipped{{"mcp add", "the file is a script, which is not run to see what it adds"}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := read(t, test.id, test.file, test.content)[0]
			if diff := cmp.Diff(test.want, got.Servers, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("servers (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.skipped, got.Skipped); diff != "" {
				t.Errorf("skipped (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadProjectsOfClaudeCode(t *testing.T) {
	sources := read(t, "claude-code", ".claude.json", `{"mcpServers": {"a": {"command": "x"}}, "projects": {"/p": {"mcpServers": {"b": {"command": "y"}}}, "/q": {}}}`)
	var got []string
	for _, source := range sources {
		for _, server := range source.Servers {
			got = append(got, source.Project+":"+server.Name)
		}
	}
	if diff := cmp.Diff([]string{":a", "/p:b"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestReadUnknown(t *testing.T) {
	for _, test := range []struct{ name, content, want, wrong string }{
		{"x.json", `{"mcpServers": {"a": {"command": "x", "env": {"K": "${env:T}"}}}}`, "${T}", ""},
		{"x.json", `{"mcpServers": {"a": {"command": "x", "env": {"K": "${T}"}}}}`, "${T}", ""},
		{"x.json", `{"servers": {"a": {"command": "x", "env": {"K": "${input:t}"}}}}`, "${T}", ""},
		{"x.toml", "[mcp_servers.a]\ncommand = \"x\"\nenv = { K = \"${T}\" }\n", "$${T}", ""},
		{"x.json", `{"other": {}}`, "", "contains no servers"},
		{"x.json", `{"mcpServers": {`, "", "cannot be read"},
		{"x.json", strings.Repeat("[", 1000), "", "nested"},
		{"x.yaml", "a: 1\n---\nb: 2\n", "", "more than one document"},
	} {
		file := filepath.Join(t.TempDir(), test.name)
		if err := os.WriteFile(file, []byte(test.content), 0o600); err != nil {
			t.Fatal(err)
		}
		sources, err := ReadUnknown(fake("linux", linuxEnv), file)
		if test.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), test.wrong) {
				t.Errorf("%s: %v, want %q", test.content, err, test.wrong)
			}
			continue
		}
		if err != nil || sources[0].Servers[0].Env[0].Value != test.want {
			t.Errorf("%s: %+v, %v", test.content, sources, err)
		}
	}
}

func TestVariablesOnWindows(t *testing.T) {
	for _, test := range []struct {
		syntax     syntax
		text, want string
	}{
		{dollar, `%LOCAL%\x $A`, `${LOCAL}\x ${A}`},
		{editor, `${userHome}${pathSeparator}x`, `${USERPROFILE}\x`},
		{noVariables, `%LOCAL%`, `%LOCAL%`},
		{curly, `{env:A} {other}`, `${A} {other}`},
	} {
		translator := translator{syntax: test.syntax, windows: true}
		if got, err := translator.text(test.text); err != nil || got != test.want {
			t.Errorf("%q: %q, %v, want %q", test.text, got, err, test.want)
		}
	}
}

func TestVariableName(t *testing.T) {
	for words, want := range map[string]string{"api-key": "API_KEY", "x.y z": "X_Y_Z", "9lives": "LIVES", "": "VALUE", "--Ä": "VALUE", "A__B_": "A_B"} {
		if got := VariableName(words); got != want {
			t.Errorf("%q: %q, want %q", words, got, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("config.toml", []byte("[mcp_servers.a]\ncommand = \"x\"\n"))
	f.Add("config.yaml", []byte("extensions:\n  a: {cmd: x, args: [1]}\n"))
	f.Add("mcp.json", []byte(`{"mcpServers": {"a": {"command": {"path": "x"}, "env": {"K": "${X}"}}}}`))
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		root, err := parse(name, data)
		if err != nil {
			return
		}
		for _, client := range All() {
			source := client.source(fake("linux", linuxEnv), name, "", root, client.servers)
			for _, server := range source.Servers {
				if server.Name == "" || (server.Command == "") == (server.URL == "") {
					t.Errorf("%s: %+v", client.ID, server)
				}
			}
		}
		if encoded := encodeJSON(root); formatOf(name) == jsonFormat && !json.Valid(encoded) {
			t.Errorf("%q is no JSON", encoded)
		}
	})
}
