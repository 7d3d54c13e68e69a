package config

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// people is a file whose http.oauth has what it needs, with more members, and servers.
func people(more, servers string) string {
	return `{"toolboxes": {"T": {"description": "d", "mcpServers": {` + servers + `}}}, "http": {"oauth": {` + more +
		`"resource": "https://r.example/mcp", "issuer": "https://i.example", "toolboxes": {"a": ["T"]}}}}`
}

func TestHTTPOAuthMistakes(t *testing.T) {
	const of = "Configuration: 'http.oauth."
	for _, test := range []struct {
		name, oauth string
		want        []string // with the path, without config.http.oauth
		hint        string   // the beginning of the first
	}{
		{"nothing", `{}`, []string{
			": Configuration must have 'http.oauth.resource', the address of /mcp as clients know it",
			": Configuration must have 'http.oauth.issuer', the issuer of the tokens",
			": Configuration must have 'http.oauth.toolboxes', the toolboxes by scope or group",
		}, `for example: "resource": "https://mcp.example.com/mcp"`},
		{
			"a mistyped key", `{"resource": "https://r.example", "issuer": "https://i.example", "toolboxes": {"a": []}, "audiance": "x"}`,
			[]string{".audiance: Configuration: unknown key 'http.oauth.audiance'"},
			"did you mean 'audience'?",
		},
		{"addresses", `{"resource": "http://r.example", "issuer": "https://i.example?x", "jwksUri": "https://me@i.example/", "toolboxes": {"a": []},
			"introspection": {"endpoint": "ftp://i.example", "clientId": "", "clientSecret": 1}}`, []string{
			".resource: " + of + "resource' must start with https://; http:// is for loopback addresses only",
			".issuer: " + of + "issuer' must not have a query or a fragment",
			".jwksUri: " + of + "jwksUri' must not have a user or a password",
			".introspection.endpoint: " + of + "introspection.endpoint' must start with http:// or https://",
			".introspection.clientId: " + of + "introspection.clientId' must not be empty",
			".introspection.clientSecret: Configuration must have 'http.oauth.introspection.clientSecret' (found a number)",
		}, "for example:"},
		{"nothing in lists", `{"resource": "https://r.example", "issuer": "https://i.example", "audience": [], "toolboxes": {}}`, []string{
			".audience: " + of + "audience' must not be empty", ".toolboxes: " + of + "toolboxes' must not be empty",
		}, "for example:"},
		{"a group without a claim", `{"resource": "https://r.example", "issuer": "https://i.example", "toolboxes": {"the team": ["x"], "b": {}}}`, []string{
			`.toolboxes["the team"]: ` + of + `toolboxes["the team"]' holds a blank or a character that a scope cannot have; write each scope as one element`,
			".toolboxes.b: " + of + "toolboxes.b' must be an array (found an object)",
		}, "for groups or roles, set 'http.oauth.claim'"},
		{"scopes in one", `{"resource": "https://r.example", "issuer": "https://i.example", "toolboxes": {"a": []}, "scopes": ["openid offline_access", ""]}`, []string{
			".scopes[0]: " + of + "scopes[0]' holds a blank or a character that a scope cannot have; write each scope as one element",
			".scopes[1]: " + of + "scopes[1]' must not be empty",
		}, ""},
		{"a secret of nobody", `{"resource": "https://r.example", "issuer": "https://i.example", "toolboxes": {"a": []}, "clientSecret": "x"}`, []string{
			".clientId: " + of + "clientId' must be set, because 'http.oauth.clientSecret' belongs to a client",
		}, "for example:"},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := problems(t, `{"toolboxes": {}, "http": {"oauth": `+test.oauth+`}}`)
			var got []string
			for _, problem := range e.Problems {
				if problem.Line == 0 || problem.Column == 0 {
					t.Errorf("no position: %s", problem)
				}
				got = append(got, strings.TrimPrefix(problem.Path, "config.http.oauth")+": "+problem.Message)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
			if !strings.HasPrefix(e.Problems[0].Hint, test.hint) {
				t.Errorf("the hint is %q", e.Problems[0].Hint)
			}
		})
	}
}

func TestResource(t *testing.T) {
	for text, want := range map[string]string{
		"https://mcp.example.com":             "https://mcp.example.com/mcp",
		"https://mcp.example.com/":            "https://mcp.example.com/mcp",
		"https://mcp.example.com/mcp":         "https://mcp.example.com/mcp",
		"https://mcp.example.com/mcp/":        "https://mcp.example.com/mcp",
		"HTTPS://MCP.Example.com/Tools/mcp":   "https://mcp.example.com/Tools/mcp",
		"https://mcp.example.com/tools":       "https://mcp.example.com/tools/mcp",
		"https://mcp.example.com/xmcp":        "https://mcp.example.com/xmcp/mcp",
		"https://mcp.example.com:8443/a%20b/": "https://mcp.example.com:8443/a%20b/mcp",
		"http://127.0.0.1:7420":               "http://127.0.0.1:7420/mcp",
		"http://[::1]:7420/mcp":               "http://[::1]:7420/mcp",
		"http://localhost:7420/mcp":           "http://localhost:7420/mcp",
	} {
		if wrong := checkResource(text); wrong != "" {
			t.Errorf("%s: %s", text, wrong)
		}
		if got := normalResource(text); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
	for _, text := range []string{
		"", "mcp.example.com", "http://mcp.example.com", "http://127.0.0.1.example.com/", "http://10.0.0.1/", "https://me:pw@mcp.example.com/", "https://mcp.example.com/?x=1", "https://mcp.example.com/#x",
		"https://mcp.example.com/#", "https://mcp.example.com/?", "https://mcp.example.com:443/mcp", "http://localhost:80/mcp", "https://mcp.example.com:/mcp", "https://mcp.example.com/a//mcp", "https://mcp.example.com//mcp", "https://mcp.example.com/../mcp",
	} {
		if checkResource(text) == "" {
			t.Errorf("%q passes", text)
		}
	}
}

func TestAccountsPerPerson(t *testing.T) {
	const ready = `"clientId": "pages", `
	for _, test := range []struct {
		name, people, server string
		want                 []string
	}{
		{"fine", ready, `"oauth": {"accounts": "per-person"}`, nil},
		{"with instances", ready, `"oauth": {"accounts": "per-person"}, "instances": "per-client"`, nil},
		{"no client", ``, `"oauth": {"accounts": "per-person"}`, []string{`'oauth.accounts' is "per-person", which needs 'http.oauth.clientId': people sign in there first`}},
		{"another word", ready, `"oauth": {"accounts": "mine"}`, []string{"unknown accounts 'mine'"}},
		{"an account", ready, `"oauth": {"accounts": "per-person", "account": "work"}`, []string{"'oauth.accounts' and 'oauth.account' cannot be given together"}},
		{"a machine", ready, `"oauth": {"grant": "client_credentials", "clientId": "a", "clientSecret": "b", "accounts": "per-person"}`, []string{"'oauth.accounts' and 'oauth.grant' cannot be given together"}},
		{"shared", ready, `"instances": "shared", "oauth": {"accounts": "per-person"}`, []string{`'instances' cannot be "shared" with "accounts": "per-person"`}},
		{"unknown instances", ready, `"instances": "mine"`, []string{"unknown instances 'mine'"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			cfg := parse(t, people(test.people, `"S": {"url": "https://x.example", `+test.server+`}, "other": {"command": "x"}`))
			checkFault(t, &cfg.Toolboxes[0].Servers[0], test.want)
			if cfg.Toolboxes[0].Servers[1].Fault != nil {
				t.Error("another server is affected")
			}
		})
	}
	t.Run("no people", func(t *testing.T) {
		cfg := parse(t, server(`{"url": "https://x.example", "oauth": {"accounts": "per-person"}}`))
		checkFault(t, &cfg.Toolboxes[0].Servers[0], []string{`'oauth.accounts' is "per-person", which needs 'http.oauth' with a 'clientId': people sign in there first`})
	})
}

func checkFault(t *testing.T, s *Server, want []string) {
	t.Helper()
	var got []string
	if s.Fault != nil {
		for _, problem := range s.Fault.Problems {
			if problem.Line == 0 || problem.Hint == "" {
				t.Errorf("no position or hint: %s", problem)
			}
			got = append(got, strings.TrimPrefix(problem.Message, "Server 'S' in toolbox 'T': "))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

// A table with a name that is no toolbox gives nothing; the file is used.
func TestTablesNameToolboxes(t *testing.T) {
	cfg := parse(t, `{"toolboxes": {"build": {"description": "d", "mcpServers": {"s": {"command": "x"}}}}, "http": {
		"tls": {"cert": "c", "key": "k", "clientCa": "ca", "clients": {"ci": ["biuld", "*"]}},
		"oauth": {"resource": "https://r.example", "issuer": "https://i.example", "toolboxes": {"mcp:dev": ["build", "other"]}}}}`)
	want := []string{
		"2:73 Configuration: 'http.tls.clients.ci[0]' is 'biuld', which is no toolbox that is configured; did you mean 'build'?",
		`3:112 Configuration: 'http.oauth.toolboxes["mcp:dev"][1]' is 'other', which is no toolbox that is configured; it gives nothing until there is such a toolbox`,
	}
	var got []string
	for _, warning := range cfg.Warnings {
		got = append(got, fmt.Sprintf("%d:%d %s; %s", warning.Line, warning.Column, warning.Message, warning.Hint))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	idle := parse(t, `{"toolboxes": {}, "http": {"tls": {"cert": "c", "key": "k", "clientCa": "ca"}}}`)
	if len(idle.Warnings) != 1 || !strings.Contains(idle.Warnings[0].Message, "lets nobody in") {
		t.Errorf("warnings: %v", idle.Warnings)
	}
}

// Who is let in is the user's alone, whatever a project says; its servers may ask for accounts of the user's people.
func TestProjectCannotChangePeople(t *testing.T) {
	const users = `"http": {"oauth": {"resource": "https://r.example", "issuer": "https://i.example", "toolboxes": {"a": ["p", "gone"]}, "clientId": "pages"}, "trustedProxies": ["10.0.0.1"]}, `
	project := `{"http": {"oauth": {"resource": "https://evil.example", "issuer": "https://evil.example", "toolboxes": {"x": ["*"]}},
		"tls": {"cert": "c", "key": "k", "clientCa": "evil.pem", "clients": {"evil": ["*"]}}, "trustedProxies": ["10.0.0.2"], "drain": "1h", "limits": {"calls": 9}},
		"toolboxes": {"p": {"description": "d", "mcpServers": {"s": {"url": "https://x.example", "oauth": {"accounts": "per-person"}}}}}}`
	joined, _ := layered(t, project, boxed(users, "u"))
	if joined.HTTP.OAuth.Issuer != "https://i.example" || joined.HTTP.TLS.ClientCA != "" || joined.HTTP.Limits != (PersonLimits{}) || joined.HTTP.Drain != DefaultTeamDrain {
		t.Errorf("the project's settings count: %+v", joined.HTTP)
	}
	if len(joined.HTTP.TrustedProxies) != 1 || joined.HTTP.TrustedProxies[0].String() != "10.0.0.1/32" {
		t.Errorf("proxies: %v", joined.HTTP.TrustedProxies)
	}
	if fault := joined.Toolboxes[0].Servers[0].Fault; fault != nil {
		t.Error(fault)
	}
	var ignored, missing int
	for _, warning := range joined.Warnings {
		if strings.Contains(warning.Message, "of a project's file does not count") {
			ignored++
		}
		if strings.HasSuffix(warning.Message, missingToolbox) {
			missing++
			if !strings.Contains(warning.Message, "'gone'") {
				t.Errorf("a toolbox of the project counts as missing: %s", warning)
			}
		}
	}
	if ignored != 5 || missing != 1 {
		t.Errorf("%d settings are warned of, and %d toolboxes: %v", ignored, missing, joined.Warnings)
	}
	if slices.ContainsFunc(joined.Files, func(f File) bool { return f.Path == "" }) {
		t.Error("a file has no path")
	}
}

// A found file shows whom it would let in before it is trusted.
func TestPreviewShowsPeople(t *testing.T) {
	source := &Source{Path: "/x/" + fileName, Data: []byte(`{"http": {"oauth": {"issuer": "https://i.example", "toolboxes": {"a": ["*"]}},
		"tls": {"clients": {"ci": ["dev"]}}, "trustedProxies": ["10.0.0.1"]}, "toolboxes": {}}`)}
	preview, err := source.Preview(nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []Variable{{"oauth.issuer", "https://i.example"}, {"oauth.toolboxes.a", `["*"]`}, {"tls.clients.ci", `["dev"]`}, {"trustedProxies", `["10.0.0.1"]`}}
	if diff := cmp.Diff(want, preview.HTTP.People); diff != "" {
		t.Error(diff)
	}
}
