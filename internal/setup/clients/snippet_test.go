package clients

import (
	"strings"
	"testing"
)

func TestReadSnippet(t *testing.T) {
	for _, tt := range []struct{ name, snippet, want string }{
		{"of a client's file", `{"mcpServers": {"a": {"command": "npx", "args": ["-y", "x"], "env": {"K": "v"}}}}`, `a {"command": "npx", "args": ["-y","x"], "env": {"K": "v"}}`},
		{"of VS Code", `{"inputs": [], "servers": {"a": {"type": "http", "url": "https://e.example/mcp", "headers": {"A": "${input:my-key}"}}}}`, `a {"url": "https://e.example/mcp", "headers": {"A":"${MY_KEY}"}}`},
		{"of the settings of VS Code", `{"mcp": {"servers": {"a": {"command": "x"}}}}`, `a {"command": "x"}`},
		{"of Zed", `{"context_servers": {"a": {"command": {"path": "x", "args": ["1"]}}}}`, `a {"command": "x", "args": ["1"]}`},
		{"names and entries", `{"a": {"command": "x"}, "b": {"url": "https://e.example", "type": "sse", "disabled": true}}`, `a {"command": "x"} b {"url": "https://e.example", "transport": "sse", "disabled": true}`},
		{"without brackets, with a comma", "\"a\": {\"command\": \"x\",}, // mine\n", `a {"command": "x"}`},
		{"an entry by itself", `{"command": "x", "args": ["<&>"], "cwd": "/tmp"}`, ` {"command": "x", "args": ["<&>"], "cwd": "/tmp"}`},
		{"an entry without brackets", `"url": "https://e.example"`, ` {"url": "https://e.example"}`},
		{"a login", `{"url": "https://e.example", "oauth": {"callbackPort": 8080, "clientId": "c", "scope": "r w"}}`, ` {"url": "https://e.example", "oauth": {"clientId":"c","scopes":["r","w"],"callbackPort":8080}}`},
		{"no login", `{"url": "https://e.example", "oauth": false}`, ` {"url": "https://e.example", "oauth": false}`},
		{"a comment first", "// copy this\n{\"mcpServers\": {\"a\": {\"command\": \"x\"}}}", `a {"command": "x"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			source, err := ReadSnippet(fake("linux", linuxEnv), []byte(tt.snippet))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, server := range source.Servers {
				definition, err := server.Definition()
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, server.Name+" "+string(definition))
			}
			if joined := strings.Join(got, " "); strings.ReplaceAll(joined, `": "`, `":"`) != strings.ReplaceAll(tt.want, `": "`, `":"`) {
				t.Errorf("got %s\nwant %s", joined, tt.want)
			}
		})
	}
}

func TestReadSnippetRefuses(t *testing.T) {
	for snippet, want := range map[string]string{
		`{"a": {"b": 1}}`:         "holds no server",
		`{"command": sk-hunter2}`: "invalid JSON at line 1, column 13",
		`hunter2`:                 "cannot be read",
		``:                        "holds no server",
	} {
		_, err := ReadSnippet(fake("linux", linuxEnv), []byte(snippet))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", snippet, err)
		}
	}
}

func FuzzReadSnippet(f *testing.F) {
	f.Add(`{"mcpServers": {"a": {"command": "npx", "args": ["${env:X}"], "env": {"K": "v"}}}}`)
	f.Add(`"a": {"url": "https://e.example"},`)
	f.Fuzz(func(t *testing.T, snippet string) {
		source, err := ReadSnippet(fake("linux", linuxEnv), []byte(snippet))
		if err != nil {
			return
		}
		for _, server := range source.Servers {
			definition, err := server.Definition()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := parseJSON(definition); err != nil {
				t.Fatalf("%s: %v", definition, err)
			}
		}
	})
}
