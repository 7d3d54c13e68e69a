package importer

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcp-workbench/mcp-workbench/internal/setup/clients"
)

func TestCommandNames(t *testing.T) {
	for line, want := range map[string]string{
		"npx -y @modelcontextprotocol/server-github":                      "github",
		"npx -y @playwright/mcp@latest":                                   "playwright",
		"npx --package some-mcp some-mcp":                                 "some",
		"cmd /c npx -y @upstash/context7-mcp":                             "context7",
		"uvx mcp-server-sqlite --db-path x.db":                            "sqlite",
		"uvx --from git-mcp[all]==1.2 git-mcp":                            "git",
		"uv --directory /home/me/weather run weather.py":                  "weather",
		"docker run -i --rm -e TOKEN ghcr.io/github/github-mcp-server:v1": "github",
		"python3.11 -m mcp_server_fetch":                                  "fetch",
		"node /home/me/my-tool/dist/index.js --stdio":                     "my-tool",
		`C:\tools\node.exe C:\work\notes\build\index.js`:                  "notes",
		"/usr/local/bin/My_Server.exe --stdio":                            "my",
		"mcp-server":                                                      "mcp-server",
		"npx":                                                             "npx",
		"./Ä":                                                             "server",
		"uv run --with mcp[cli] server.py":                                "server",
		"deno run -A jsr:@scope/thing":                                    "thing",
		"pipx run weather-mcp":                                            "weather",
		"bash -c x":                                                       "x",
	} {
		if got := Command(strings.Fields(line)).Name; got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}

func TestAddresses(t *testing.T) {
	for address, want := range map[string]string{
		"https://mcp.notion.com/mcp": "notion", "https://api.githubcopilot.com/mcp/": "githubcopilot", "http://localhost:3000": "local",
		"http://127.0.0.1:1": "local", "https://mcp.bank.co.uk": "bank", "https://box/mcp": "box",
	} {
		server, err := Address(address)
		if err != nil || server.Name != want || server.URL != address || Name(clients.Server{URL: address}) != want {
			t.Errorf("%s: %+v, %v; want %s", address, server, err, want)
		}
	}
	if _, err := Address("https://"); err == nil {
		t.Error("an address without a host passed")
	}
}

func TestPackages(t *testing.T) {
	for _, tt := range []struct {
		text string
		want clients.Server
	}{
		{"@modelcontextprotocol/server-memory", clients.Server{Name: "memory", Command: "npx", Args: []string{"-y", "@modelcontextprotocol/server-memory"}}},
		{"npm:tavily-mcp@1.2.3", clients.Server{Name: "tavily", Command: "npx", Args: []string{"-y", "tavily-mcp@1.2.3"}}},
		{"pypi:mcp-server-git", clients.Server{Name: "git", Command: "uvx", Args: []string{"mcp-server-git"}}},
		{"weather-mcp[all]", clients.Server{Name: "weather", Command: "uvx", Args: []string{"--from", "weather-mcp[all]", "weather-mcp"}}},
		{"weather-mcp==1.2", clients.Server{Name: "weather", Command: "uvx", Args: []string{"--from", "weather-mcp==1.2", "weather-mcp"}}},
		{"pypi:weather-mcp@1.2", clients.Server{Name: "weather", Command: "uvx", Args: []string{"weather-mcp@1.2"}}},
	} {
		name, from, ok := Package(tt.text)
		if !ok || from == Unclear {
			t.Errorf("%s: %s, %v, %v", tt.text, name, from, ok)
			continue
		}
		if diff := cmp.Diff(tt.want, FromPackage(name, from)); diff != "" {
			t.Errorf("%s: %s", tt.text, diff)
		}
	}
	for text, clear := range map[string]bool{"mcp-server-git": true, "two words": false, "../x": false, "npm:../x": false, "--flag": false, "": false, "pypi:a b": false} {
		if _, from, ok := Package(text); ok != clear || ok && from != Unclear {
			t.Errorf("%q: %v, %v", text, from, ok)
		}
	}
}

func TestVariablesOfCommandLines(t *testing.T) {
	got := Command([]string{"x", "${TOKEN}", "${lower}", "a${B:-c}"})
	if diff := cmp.Diff([]string{"${TOKEN}", "$${lower}", "a${B:-c}"}, got.Args); diff != "" {
		t.Error(diff)
	}
}

func TestUnique(t *testing.T) {
	if got := Unique("a", []string{"a", "a-2"}); got != "a-3" {
		t.Error(got)
	}
}

func TestBridgedAddress(t *testing.T) {
	for _, test := range []struct{ line, want string }{
		{"npx -y mcp-remote https://x.test/mcp", "https://x.test/mcp"},
		{"npx mcp-remote@latest https://x.test/sse 3334 --debug", "https://x.test/sse"},
		{"/opt/bin/mcp-remote https://x.test/mcp", "https://x.test/mcp"},
		{"npx -y mcp-remote https://x.test/mcp?key=a", "URL"},
		{"npx -y mcp-remote https://x.test/mcp --header Authorization:$A", ""},
		{"npx -y mcp-remote", ""},
		{"npx -y server https://x.test/mcp", ""},
	} {
		if got := bridgedAddress(Command(strings.Fields(test.line))); got != test.want {
			t.Errorf("%s: got %q, want %q", test.line, got, test.want)
		}
	}
}
