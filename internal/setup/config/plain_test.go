package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func parsePlain(t *testing.T, file, text string) *Config {
	t.Helper()
	vars := map[string]string{"HOME": "/home/me", "KEY": "value", "MY_INPUT": "typed"}
	cfg, err := Parse(file, []byte(text), ParseOptions{
		Dir: "/", Home: "/home/me", Plain: true,
		Lookup: func(name string) (string, bool) { value, ok := vars[name]; return value, ok },
	})
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func TestPlainFile(t *testing.T) {
	cfg := parsePlain(t, "/home/me/.cursor/mcp.json", `{
  // of a client
  "numStartups": 3, "search": "all", "mcpServers": {
    "fs": {"command": "npx", "args": ["${userHome}/x"], "env": {"A": "${env:KEY}", "B": "${input:my-input}"}, "alwaysAllow": [], "cwd": null},
    "remote": {"serverUrl": "https://x.example/mcp", "type": "streamableHttp", "excludeTools": ["a"], "timeout": 60},
    "old": {"url": "https://y.example/sse", "type": "sse", "enabled": false},
    "local": {"type": "local", "command": "x", "includeTools": ["one"]},
    "wb": {"command": "npx", "args": ["-y", "mcp-workbench@latest", "--shared"]},
    "far": {"url": "http://127.0.0.1:7420/mcp", "headers": {"x-mcp-workbench": "cursor"}},
    "clock": {"command": "/usr/bin/mcp-workbench", "args": ["builtin", "clock"]},
    "bad": {"command": 5}
  }}`)
	if cfg.Plain == nil || cfg.Plain.Name != "cursor" || cfg.Plain.Key != "mcpServers" || len(cfg.Toolboxes) != 1 {
		t.Fatalf("%+v", cfg)
	}
	box := cfg.Toolboxes[0]
	if box.Name != "cursor" || box.Description != "Tools of fs, remote, local, clock, bad" {
		t.Errorf("%s: %s", box.Name, box.Description)
	}
	var names []string
	for _, server := range box.Servers {
		names = append(names, server.Name)
	}
	if diff := cmp.Diff([]string{"fs", "remote", "old", "local", "clock", "bad"}, names); diff != "" {
		t.Error(diff)
	}
	fs, remote, old, local := box.Servers[0], box.Servers[1], box.Servers[2], box.Servers[3]
	if fs.Args[0] != "/home/me/x" || fs.Env[0].Value != "value" || fs.Env[1].Value != "typed" {
		t.Errorf("%+v", fs)
	}
	if remote.URL != "https://x.example/mcp" || remote.Transport != "http" || old.Transport != "sse" || !old.Disabled {
		t.Errorf("%+v, %+v", remote, old)
	}
	if local.Fault != nil || local.Filter.Allows("two") || !local.Filter.Allows("one") {
		t.Errorf("%+v", local)
	}
	if fault := box.Servers[5].Fault; fault == nil || fault.Problems[0].Line != 11 || fault.Problems[0].Column != 24 {
		t.Errorf("%+v", fault)
	}
	var warnings []string
	for _, warning := range cfg.Warnings {
		warnings = append(warnings, warning.String())
	}
	text := strings.Join(warnings, "\n")
	if len(warnings) != 3 || !strings.Contains(text, "'wb' is the workbench itself") || !strings.Contains(text, "'far' is the workbench itself") || !strings.Contains(text, "'excludeTools' of the client is not applied") {
		t.Error(text)
	}
}

func TestPlainShapes(t *testing.T) {
	for text, want := range map[string]bool{
		`{"mcpServers": {}}`: true,
		`{"servers": {"a": {"command": "x"}}, "inputs": []}`:       true,
		`{"context_servers": {"a": {"command": "x"}}}`:             true,
		`{"mcpServers": {"a": {"command": "x"}}, "toolboxes": {}}`: false,
		`{"mcpServers": {"a": {"command": "x"}}, "locked": true}`:  false,
		`{"mcpServers": {"a": {"command": "x"}}, "policy": {}}`:    false,
		`{"mcpServers": {"a": "x"}}`:                               true, // its server is wrong
		`{"servers": {"a": "x"}}`:                                  false,
		`{"mcpServers": {"a": {}}, "mcpServers": {}}`:              false, // the client uses the last one
		`{"mcpServers": []}`:                                       false,
		`{"servers": 5}`:                                           false,
		`{}`:                                                       false,
		`[]`:                                                       false,
	} {
		cfg, err := Parse("x.json", []byte(text), ParseOptions{Plain: true})
		if got := err == nil && cfg.Plain != nil; got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
		if cfg, err := Parse("x.json", []byte(text), ParseOptions{}); err == nil && cfg.Plain != nil {
			t.Errorf("%s was read as a client's", text)
		}
	}
}

func TestPlainName(t *testing.T) {
	for file, want := range map[string]string{
		"/home/me/.cursor/mcp.json":                          "cursor",
		"/home/me/project/.mcp.json":                         "project",
		"/home/me/.claude.json":                              "claude",
		"/home/me/.config/Claude/claude_desktop_config.json": "claude-desktop",
		"/p/.vscode/mcp.json":                                "vscode",
		"/home/me/.gemini/settings.json":                     "gemini",
		"/x/My Servers.json":                                 "my-servers",
		"/mcp.json":                                          "servers",
		"/x/team__a.json":                                    "team-a",
	} {
		if got := plainName(file); got != want {
			t.Errorf("%s: %s, want %s", file, got, want)
		}
	}
}
