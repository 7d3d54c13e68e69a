package config

import (
	"fmt"
	"net/netip"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
)

// parse parses a file with some variables set.
func parse(t *testing.T, file string, environ ...string) *Config {
	t.Helper()
	cfg, err := Parse("test.json", []byte(file), options(environ...))
	if err != nil {
		t.Fatalf("Parse: %v", err)
	}
	return cfg
}

func options(environ ...string) ParseOptions {
	vars := map[string]string{}
	addEnviron(vars, environ)
	return ParseOptions{
		Dir:    filepath.FromSlash("/etc/workbench"),
		Home:   filepath.FromSlash("/home/me"),
		Lookup: func(name string) (string, bool) { value, ok := vars[name]; return value, ok },
	}
}

// compareFilters compares filters as a whole: their fields are private.
var compareFilters = cmp.Comparer(func(a, b toolbox.Filter) bool { return reflect.DeepEqual(a, b) })

// server wraps the text of one server into a file; the text starts at column 62.
func server(text string) string {
	return `{"toolboxes": {"T": {"description": "d", "mcpServers": {"S": ` + text + `}}}}`
}

const everything = `// every key
{
  "$schema": "https://example.com/schema.json",
  "toolMode": "dynamic",
  "logLevel": "debug",
  "maxMessageSize": "1MiB",
  "timeouts": {"connect": "10s", "call": "1m", "idle": "1h"},
  "inheritEnv": ["AWS_*"], "autoOpen": true, "openDetail": "brief",
  "shared": true, "sharedIdle": "10m", "history": {"keep": "7d12h"},
  "elicitation": {"page": true, "timeout": "90s"},
  "http": {
    "listen": ":8443", "allowedHosts": ["mcp.example.com", "::1"], "allowedOrigins": ["https://app.example.com"],
    "tls": {"cert": "tls/cert.pem", "key": "~/key.pem", "clientCa": "ca.pem", "clients": {"ci.example.com": ["dev", "abc"], "boss": ["*"]}}, "sessionIdle": "10m", "clientIdle": "2m",
    "trustedProxies": ["127.0.0.1", "10.0.0.0/8", "::1"], "limits": {"sessions": 50, "calls": 32, "memory": "4GiB"},
    "oauth": {
      "resource": "https://MCP.example.com/tools/", "issuer": "https://idp.example.com/realms/team", "audience": "workbench", "claim": "groups",
      "jwksUri": "http://127.0.0.1:9000/keys", "introspection": {"endpoint": "https://idp.example.com/ask", "clientId": "asker", "clientSecret": "secret-of-the-asker"},
      "toolboxes": {"group of dev": ["dev"], "admins": ["dev", "*"], "guests": []}, "scopes": ["openid", "offline_access"], "clientId": "pages", "clientSecret": "secret-of-the-pages",
    },
  },
  "toolboxes": {
    "dev": {
      "description": "Development ${WHAT}",
      "timeouts": {"call": "2m"},
      "mcpServers": {
        "10": {
          "command": "~/bin/npx", "args": ["-y", "", "${WHAT}"], "cwd": "sub",
          "env": {"Z": "1", "A": "${WHAT:-other}", "${WHAT}": "key"},
          "toolFilters": ["read", "write"], "transport": "stdio",
          "timeouts": {"idle": "0"}, "inheritEnv": true, "keepDetached": true,
        },
        "2": {
          "url": "https://example.com/mcp", "headers": {"B": "2", "A": "1"}, "type": "streamable-http",
          "inheritEnv": false, "disabled": true, "instances": "per-client", "oauth": {"accounts": "per-person"},
        },
        "own": {"builtin": "files", "args": ["--root", "docs"], "env": {"A": "b"}, "cwd": "${ABSOLUTE}", "toolFilters": []},
      },
    },
    /* the order is the file's */
    "abc": {"description": "second", "mcpServers": {"s": {"command": "./run", "cwd": "~"}}},
  },
} // no line end after this`

func TestParseEverything(t *testing.T) {
	absolute := t.TempDir()
	got := parse(t, everything, "WHAT=tools", "ABSOLUTE="+absolute)
	call := Timeouts{Connect: 10 * time.Second, Call: 2 * time.Minute, Idle: time.Hour}
	noIdle := Timeouts{Connect: 10 * time.Second, Call: 2 * time.Minute}
	aws := InheritEnv{Patterns: []string{"AWS_*"}}
	want := &Config{
		Policy: Policy{Ask: defaultAsk()}, Secrets: []string{"secret-of-the-asker", "secret-of-the-pages"},
		ToolMode: Dynamic, LogLevel: "debug", MaxMessageSize: 1 << 20, Discovery: Discovery{ReadTool: true, Search: true, AutoOpen: true, OpenBrief: true},
		Shared: Shared{On: true, Idle: 10 * time.Minute}, History: History{Keep: 180 * time.Hour}, Elicitation: Elicitation{Page: true, Timeout: 90 * time.Second}, Variables: []string{"ABSOLUTE", "WHAT"}, OuterVariables: []string{"WHAT"},
		Timeouts: Timeouts{Connect: 10 * time.Second, Call: time.Minute, Idle: time.Hour}, InheritEnv: aws,
		HTTP: HTTP{
			Listen: ":8443", AllowedHosts: []string{"mcp.example.com", "::1"}, AllowedOrigins: []string{"https://app.example.com"},
			TLS: TLS{
				Cert: filepath.FromSlash("/etc/workbench/tls/cert.pem"), Key: filepath.FromSlash("/home/me/key.pem"), ClientCA: filepath.FromSlash("/etc/workbench/ca.pem"),
				Clients: []ToolboxGrant{{Value: "ci.example.com", Toolboxes: []string{"dev", "abc"}}, {Value: "boss"}},
			},
			SessionIdle: 10 * time.Minute, ClientIdle: 2 * time.Minute, Drain: 30 * time.Second,
			TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32"), netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::1/128")},
			Limits:         PersonLimits{Sessions: 50, Calls: 32, Memory: 4 << 30},
			OAuth: &HTTPOAuth{
				Resource: "https://mcp.example.com/tools/mcp", Issuer: "https://idp.example.com/realms/team", Audience: []string{"workbench"}, Claim: "groups",
				JWKSURI:       "http://127.0.0.1:9000/keys",
				Introspection: &Introspection{Endpoint: "https://idp.example.com/ask", ClientID: "asker", ClientSecret: "secret-of-the-asker"},
				Toolboxes:     []ToolboxGrant{{Value: "group of dev", Toolboxes: []string{"dev"}}, {Value: "admins"}, {Value: "guests", Toolboxes: []string{}}},
				Scopes:        []string{"openid", "offline_access"},
				ClientID:      "pages", ClientSecret: "secret-of-the-pages",
			},
		},
		Toolboxes: []Toolbox{
			{Name: "dev", Description: "Development tools", Servers: []Server{
				{
					Name: "10", Command: filepath.FromSlash("/home/me/bin/npx"), Args: []string{"-y", "", "tools"},
					Dir: filepath.FromSlash("/etc/workbench/sub"), Env: []Variable{{"Z", "1"}, {"A", "tools"}, {"tools", "key"}},
					Filter: toolbox.NewFilter([]string{"read", "write"}), Transport: "stdio",
					Timeouts: noIdle, InheritEnv: InheritEnv{All: true}, KeepDetached: true,
				},
				{
					Name: "2", URL: "https://example.com/mcp", Headers: []Variable{{"B", "2"}, {"A", "1"}}, Transport: "http",
					Timeouts: call, Disabled: true, Instances: InstancesPerClient, OAuth: &OAuth{Accounts: AccountsPerPerson},
				},
				{
					Name: "own", Builtin: "files", Args: []string{"--root", "docs"}, Env: []Variable{{"A", "b"}},
					Dir: absolute, Filter: toolbox.NewFilter([]string{}), Timeouts: call, InheritEnv: aws,
				},
			}},
			{Name: "abc", Description: "second", Servers: []Server{{
				Name: "s", Command: "./run", Dir: filepath.FromSlash("/home/me"),
				Timeouts: Timeouts{Connect: 10 * time.Second, Call: time.Minute, Idle: time.Hour}, InheritEnv: aws,
			}}},
		},
	}
	if diff := cmp.Diff(want, got, compareFilters, cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })); diff != "" {
		t.Errorf("Parse (-want +got):\n%s", diff)
	}
}

func TestDefaults(t *testing.T) {
	cfg := parse(t, server(`{"command": "x"}`))
	if cfg.Path != "" || cfg.ToolMode != Proxy || cfg.LogLevel != "" || cfg.MaxMessageSize != 64<<20 || cfg.Warnings != nil || cfg.Secrets != nil {
		t.Errorf("unexpected defaults: %+v", cfg)
	}
	for _, cfg := range []*Config{cfg, Default(), Empty(), parse(t, `{"toolboxes": {}, "http": {}}`)} {
		if diff := cmp.Diff(HTTP{Listen: "127.0.0.1:7420", SessionIdle: time.Hour, ClientIdle: 10 * time.Minute, Drain: 2 * time.Second}, cfg.HTTP); diff != "" {
			t.Errorf("unexpected defaults:\n%s", diff)
		}
	}
	s := cfg.Toolboxes[0].Servers[0]
	want := Timeouts{Connect: 30 * time.Second, Call: 5 * time.Minute, Idle: IdleUnset}
	if s.Timeouts != want || s.Dir != "" || s.Transport != "" || !s.Filter.Allows("anything") || s.InheritEnv.All || s.InheritEnv.Patterns != nil {
		t.Errorf("unexpected defaults: %+v", s)
	}
}

func TestFilters(t *testing.T) {
	for _, test := range []struct {
		filters     string
		read, write bool
	}{
		{`["*"]`, true, true},
		{`["read", "*"]`, true, true},
		{`[]`, false, false},
		{`["read"]`, true, false},
		{`["READ"]`, false, false},
	} {
		filter := parse(t, server(`{"command": "x", "toolFilters": `+test.filters+`}`)).Toolboxes[0].Servers[0].Filter
		if filter.Allows("read") != test.read || filter.Allows("write") != test.write {
			t.Errorf("%s: read %v, write %v", test.filters, filter.Allows("read"), filter.Allows("write"))
		}
	}
}

func TestTransports(t *testing.T) {
	for text, want := range map[string]string{
		`{"command": "x", "transport": "stdio"}`:                              "stdio",
		`{"command": "x", "type": "stdio", "transport": "stdio"}`:             "stdio",
		`{"url": "http://x", "type": "http"}`:                                 "http",
		`{"url": "http://x", "type": "streamable-http", "transport": "http"}`: "http",
		`{"url": "http://x", "transport": "sse"}`:                             "sse",
		`{"builtin": "clock", "transport": "stdio"}`:                          "stdio",
		`{"builtin": "clock"}`:                                                "",
	} {
		if got := parse(t, server(text)).Toolboxes[0].Servers[0].Transport; got != want {
			t.Errorf("%s: transport %q, want %q", text, got, want)
		}
	}
}

func TestMessageSizes(t *testing.T) {
	for text, want := range map[string]int{
		"1024": 1024, `"2048"`: 2048, `"4KB"`: 4000, `"4 KiB"`: 4096, `"1mib"`: 1 << 20, `"1MB"`: 1e6, `"1GiB"`: 1 << 30, `"1g"`: 1e9,
		`"${SIZE}"`: 3 << 20,
	} {
		cfg := parse(t, `{"toolboxes": {}, "maxMessageSize": `+text+`}`, "SIZE=3MiB")
		if cfg.MaxMessageSize != want {
			t.Errorf("%s: %d bytes, want %d", text, cfg.MaxMessageSize, want)
		}
	}
}

// What a variable holds is text: it cannot add structure to the file.
func TestExpansionCannotInject(t *testing.T) {
	evil := `x", "args": ["--evil"], "y": "${OTHER}`
	cfg := parse(t, server(`{"command": "${CMD}", "env": {"A": "${CMD}"}}`), "CMD="+evil)
	s := cfg.Toolboxes[0].Servers[0]
	if s.Command != evil || s.Args != nil || s.Env[0].Value != evil {
		t.Errorf("the variable's text was not kept: %+v", s)
	}
}

// A person can switch off a server whose token is missing.
func TestDisabledServerNeedsNoVariables(t *testing.T) {
	for _, text := range []string{
		`{"url": "http://${HOST}:${PORT}/", "headers": {"Authorization": "Bearer ${TOKEN}"}, "timeouts": {"call": "${CALL}"}, "disabled": true}`,
		`{"disabled": true, "command": "${COMMAND}", "transport": "${TRANSPORT}", "env": {"${KEY}": "${TOKEN}"}, "cwd": "${DIR}"}`,
	} {
		cfg := parse(t, server(text))
		if s := cfg.Toolboxes[0].Servers[0]; !s.Disabled || len(cfg.Secrets) > 0 {
			t.Errorf("disabled %v, secrets %q", s.Disabled, cfg.Secrets)
		}
	}
}

func TestByteOrderMark(t *testing.T) {
	_, err := Parse("test.json", []byte("\uFEFF{\"toolboxes\": 1}"), ParseOptions{})
	if want := "test.json:1:15: Configuration must have a 'toolboxes' object"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error %v, want %s", err, want)
	}
	parse(t, "\uFEFF"+server(`{"command": "x"}`))
}

func TestDefaultConfiguration(t *testing.T) {
	cfg := Default()
	if len(cfg.Toolboxes) != 1 || cfg.Toolboxes[0].Name != "starter" || cfg.Toolboxes[0].Description == "" || cfg.Warnings != nil {
		t.Fatalf("unexpected default: %+v", cfg)
	}
	var builtins []string
	for _, s := range cfg.Toolboxes[0].Servers {
		builtins = append(builtins, s.Builtin)
	}
	if diff := cmp.Diff([]string{"files", "notes", "clock"}, builtins); diff != "" {
		t.Error(diff)
	}
}

// large is a file of toolboxes with five servers each.
func large(toolboxes int) []byte {
	var b strings.Builder
	b.WriteString("{\"toolboxes\": {\n")
	for i := range toolboxes {
		fmt.Fprintf(&b, "  \"box%d\": {\"description\": \"d\", \"mcpServers\": {\n", i)
		for j := range 5 {
			fmt.Fprintf(&b, "    \"s%d\": {\"command\": \"npx\", \"args\": [\"-y\", \"x\"], \"env\": {\"TOKEN\": \"${TOKEN:-none}\"}},\n", j)
		}
		b.WriteString("  }},\n")
	}
	b.WriteString("}}\n")
	return []byte(b.String())
}

func TestLargeFile(t *testing.T) {
	cfg, err := Parse("large.json", large(2000), ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(cfg.Toolboxes) != 2000 || cfg.Toolboxes[1999].Name != "box1999" || len(cfg.Toolboxes[1999].Servers) != 5 {
		t.Errorf("%d toolboxes", len(cfg.Toolboxes))
	}
}

// A file that is one long line must not cost its length for each problem in it:
// this takes milliseconds, or minutes if it did.
func TestManyProblemsInOneLine(t *testing.T) {
	const count, apart = 100_000, 100
	r := newReport([]byte(strings.Repeat("é", count*apart)))
	for i := range count {
		r.fail(i*apart*len("é"), nil, "wrong", "")
	}
	start := time.Now()
	for i, p := range r.failure(toolbox.ConfigInvalid, "long.json").Problems {
		if p.Line != 1 || p.Column != 1+i*apart {
			t.Fatalf("problem %d at %d:%d", i, p.Line, p.Column)
		}
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("took %v", took)
	}
}

func BenchmarkParse(b *testing.B) {
	data := large(2000)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := Parse("large.json", data, ParseOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}
