package doctor

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcp-workbench/mcp-workbench/internal/app"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/clients"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/test/selfserver"
)

func TestMain(m *testing.M) { selfserver.Main(m) }

func parse(t *testing.T, text string) *config.Config {
	t.Helper()
	cfg, err := config.Parse("test.json", []byte(text), config.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func TestPlan(t *testing.T) {
	cfg := parse(t, `{"toolboxes": {
		"a": {"mcpServers": {"x": {"command": "x"}, "y": {"command": "y", "disabled": true}}},
		"a/b": {"mcpServers": {"z": {"command": "z"}, "twice": {"command": "t"}, "a": {"command": "a"}}},
		"c": {"mcpServers": {"twice": {"command": "t"}}},
		"empty": {"mcpServers": {}}}}`)
	tests := []struct {
		names string
		want  string
		fails string
	}{
		{"", "a/x a/y a/b/z a/b/twice a/b/a c/twice", ""},
		{"a", "a/x a/y", ""},
		{"a/b", "a/b/z a/b/twice a/b/a", ""},
		{"z y", "a/y a/b/z", ""}, // servers that one toolbox has
		{"twice", "", "Write one of these: a/b/twice, c/twice"},
		{"twicc", "", "Did you mean 'a/b/twice' or 'c/twice'?"},
		{"a/b/z a/x", "a/x a/b/z", ""},
		{"empty", "", ""},
		{"unknown", "", "The servers are: a/x, a/y, a/b/z, a/b/twice, a/b/a, c/twice"},
		{"a/xx", "", "Did you mean 'a/x'?"},
		{"emty", "", "Did you mean 'empty'?"},
	}
	for _, test := range tests {
		patients, err := Plan(cfg, strings.Fields(test.names))
		var got []string
		for i := range patients {
			got = append(got, patients[i].Name())
		}
		if strings.Join(got, " ") != test.want || (err != nil) != (test.fails != "") {
			t.Errorf("the plan of %q is %v with the error %v", test.names, got, err)
		}
		if err != nil && !strings.Contains(err.Error(), test.fails) {
			t.Errorf("the error of %q does not say %q: %v", test.names, test.fails, err)
		}
	}
}

func TestReport(t *testing.T) {
	tests := []struct {
		name    string
		checks  []Check
		servers []Server
		ok      bool
		want    Summary
	}{
		{name: "nothing", ok: true},
		{
			name:    "warnings do not fail",
			checks:  []Check{{Verdict: Warning}, {Verdict: Fine}},
			servers: []Server{{Verdict: Fine, Warnings: []string{"a", "b"}}, {Verdict: Skipped}},
			ok:      true, want: Summary{Fine: 1, Skipped: 1, Warnings: 3},
		},
		{name: "a check fails", checks: []Check{{Verdict: Failed}}},
		{name: "a server fails", servers: []Server{{Verdict: Failed}, {Verdict: Fine}}, want: Summary{Fine: 1, Failed: 1}},
	}
	for _, test := range tests {
		report := NewReport(test.checks, test.servers)
		if diff := cmp.Diff(test.want, report.Summary); diff != "" || report.OK != test.ok {
			t.Errorf("%s: ok is %v, and the summary (-want +got):\n%s", test.name, report.OK, diff)
		}
	}
}

func TestRecognise(t *testing.T) {
	tests := []struct{ line, want string }{
		{"npm error code E404", "does not exist under this name"},
		{"npm error 404  '@x/y@*' is not in this registry.", "does not exist under this name"},
		{"npm error errno ENOTFOUND", "network"},
		{"npm error code EACCES", "~/.npm"},
		{"env: node: No such file or directory", "PATH"},
		{"env: ‘node’: No such file or directory", "PATH"},
		{"npm warn EBADENGINE Unsupported engine {", "newer Node.js"},
		{"Error: Cannot find module '/x.js'", "is missing"},
		{"ModuleNotFoundError: No module named 'mcp'", "Python package is missing"},
		{"  × No solution found when resolving tool dependencies:", "Python package does not exist"},
		{"docker: Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?", "Start Docker"},
		{"Unable to find image 'mcp/x:latest' locally", "image"},
		{"Error: listen EADDRINUSE: address already in use :::3000", "port"},
		{"Error: GITHUB_TOKEN environment variable is required", "wants a secret"},
		{"Please set BRAVE_API_KEY", "wants a secret"},
		{"Usage: server <folder>", "'args'"},
		{"usage: x [-h]", "'args'"},
		{"server listens on stdio", ""},
		{"token bucket is ready", ""},
	}
	for _, test := range tests {
		if got := recognise([]string{"something else", test.line}); !strings.Contains(got, test.want) || (got == "") != (test.want == "") {
			t.Errorf("the advice on %q is %q, which does not say %q", test.line, got, test.want)
		}
	}
}

func TestRemoteServersThatRefuse(t *testing.T) {
	tests := []struct {
		status int
		header string
		error  string
		fix    string
	}{
		{http.StatusUnauthorized, `Bearer resource_metadata="https://x.test/.well-known/oauth-protected-resource"`, "login needed: the server asks for a login", "mcp-workbench login a/x"},
		{http.StatusForbidden, "", "403", "does not allow this"},
		{http.StatusNotFound, "", "404", "/mcp or /sse"},
		{http.StatusBadGateway, "", "502", "look at its log"},
		{http.StatusTooManyRequests, "", "429", "later"},
	}
	for _, test := range tests {
		t.Run(http.StatusText(test.status), func(t *testing.T) {
			web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if test.header != "" {
					w.Header().Set("Www-Authenticate", test.header)
				}
				w.WriteHeader(test.status)
			}))
			defer web.Close()
			cfg := parse(t, `{"toolboxes": {"a": {"mcpServers": {"x": {"url": "`+web.URL+`"}}}}}`)
			found := examineAll(t, cfg)
			got := found[0]
			if got.Verdict != Failed || !strings.Contains(got.Error, test.error) || !strings.Contains(got.Fix, test.fix) {
				t.Errorf("it was found: %+v", got)
			}
			last := got.Steps[len(got.Steps)-1]
			if last.Name != "handshake" || last.Verdict != Failed || got.Steps[0].Name != "connect" || got.Steps[0].Detail != web.Listener.Addr().String() {
				t.Errorf("the steps are %+v", got.Steps)
			}
		})
	}
}

// examineAll examines all servers of a configuration.
func examineAll(t *testing.T, cfg *config.Config) []Server {
	t.Helper()
	workbench, err := app.New(app.Options{Config: cfg})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := workbench.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	patients, err := Plan(cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	done := make([]bool, len(patients))
	found := NewExaminer(workbench, cfg, os.Environ()).Examine(t.Context(), patients, func(i int, _ Server, last bool) { done[i] = last })
	for i, last := range done {
		if !last {
			t.Errorf("nobody was told that %s is done", patients[i].Name())
		}
	}
	return found
}

func TestInterruptedExamination(t *testing.T) {
	cfg := parse(t, `{"toolboxes": {"a": {"mcpServers": {"x": {"command": "x"}}}}}`)
	workbench, err := app.New(app.Options{Config: cfg})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	patients := []Patient{{"a", cfg.Toolboxes[0].Servers[0]}}
	found := NewExaminer(workbench, cfg, nil).Examine(ctx, patients, func(int, Server, bool) {})
	if found[0].Verdict != Skipped {
		t.Errorf("it was found: %+v", found[0])
	}
	if err := workbench.Stop(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestNoteOfFoldersOfShells(t *testing.T) {
	e := &Examiner{home: "/home/me"}
	steps := func(path string) []Step { return []Step{{Name: "command", Detail: path}} }
	tests := []struct {
		name    string
		server  config.Server
		path    string
		isNoted bool
	}{
		{"version manager", config.Server{Command: "npx"}, "/home/me/.nvm/bin/npx", true},
		{"of the system", config.Server{Command: "npx"}, "/usr/bin/npx", false},
		{"whole path", config.Server{Command: "/home/me/.nvm/bin/npx"}, "/home/me/.nvm/bin/npx", false},
		{"own PATH", config.Server{Command: "npx", Env: []config.Variable{{Name: "PATH", Value: "/home/me/.nvm/bin"}}}, "/home/me/.nvm/bin/npx", false},
		{"built in", config.Server{Builtin: "clock"}, "built in", false},
	}
	for _, test := range tests {
		if got := e.desktopNote(&Patient{"a", test.server}, steps(test.path)); (got != "") != test.isNoted {
			t.Errorf("%s: the note is %q", test.name, got)
		}
	}
}

func write(t *testing.T, path, content string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
}

// waitTime is long for a computer, and short for a test.
const waitTime = 20 * time.Second

func TestClientsAreNoFault(t *testing.T) {
	code, cursor := clients.ByID("claude-code"), clients.ByID("cursor")
	retired := &clients.Client{ID: "old", Title: "Old", Retired: "It is gone"}
	for _, test := range []struct {
		name  string
		found []clients.FileState
		want  Check
	}{
		{"nobody", nil, Check{Verdict: Skipped, Detail: "no MCP client was found on this machine", Fix: "To list the known clients: mcp-workbench connect"}},
		{
			"none connected",
			[]clients.FileState{{Client: cursor, Problem: errors.New("broken")}, {Client: retired}, {Client: code}, {Client: code}},
			Check{Verdict: Skipped, Detail: "none has the workbench yet, of Cursor (its file cannot be read), Claude Code", Fix: "To connect one: mcp-workbench connect claude-code"},
		},
		{
			"two connected",
			[]clients.FileState{{Client: code, Self: []string{"workbench"}}, {Client: cursor, Self: []string{"a", "b"}}, {Client: retired}},
			Check{Verdict: Fine, Detail: "the workbench is connected to Claude Code, Cursor"},
		},
	} {
		test.want.Name = checkClient
		if got := Clients(test.found); got != test.want {
			t.Errorf("%s: got %+v, want %+v", test.name, got, test.want)
		}
	}
}

// TestRemoteServerWithoutLogin: without OAuth, a token has to be configured.
func TestRemoteServerWithoutLogin(t *testing.T) {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Www-Authenticate", `Bearer resource_metadata="https://x.test/.well-known/oauth-protected-resource"`)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer web.Close()
	for settings, remedy := range map[string]string{
		`"oauth": false`: `remove "oauth": false and sign in: mcp-workbench login a/x`,
		`"headers": {"Authorization": "Bearer x"}`: "remove the header instead, and sign in: mcp-workbench login a/x",
	} {
		got := examineAll(t, parse(t, `{"toolboxes": {"a": {"mcpServers": {"x": {"url": "`+web.URL+`", `+settings+`}}}}}`))[0]
		if !strings.Contains(got.Error, "resource_metadata https://x.test/.well-known") || !strings.Contains(got.Fix, "wants a token") || !strings.Contains(got.Fix, remedy) {
			t.Errorf("%s: it was found: %+v", settings, got)
		}
	}
}
