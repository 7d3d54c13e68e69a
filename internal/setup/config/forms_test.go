package config

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseForm(t *testing.T) {
	for _, test := range []struct {
		in    string
		want  Form // without Text
		rest  string
		wrong string
	}{
		{"${keyring:a-b.c}x", Form{Kind: FormKeyring, Name: "a-b.c"}, "x", ""},
		{"${credential:token}", Form{Kind: FormCredential, Name: "token"}, "", ""},
		{"${file:/run/a b.txt}", Form{Kind: FormFile, Name: "/run/a b.txt"}, "", ""},
		{"${exec:op read op://v/i/f}!", Form{Kind: FormExec, Words: []string{"op", "read", "op://v/i/f"}}, "!", ""},
		{`${exec:a "b  }" 'c"' ""}`, Form{Kind: FormExec, Words: []string{"a", "b  }", `c"`, ""}}, "", ""},
		{`${exec: a;b $(c) | d }`, Form{Kind: FormExec, Words: []string{"a;b", "$(c)", "|", "d"}}, "", ""},
		{"${keyring:}", Form{}, "", "must be a name"},
		{"${keyring:a b}", Form{}, "", "must be a name"},
		{"${keyring:logins}", Form{}, "", "cannot be 'logins'"},
		{"${keyring:" + strings.Repeat("x", 129) + "}", Form{}, "", "must be a name"},
		{"${credential:../x}", Form{}, "", "no slash"},
		{"${credential:..}", Form{}, "", "no slash"},
		{"${file:}", Form{}, "", "must name a file"},
		{"${file: x}", Form{}, "", "must name a file"},
		{"${exec:}", Form{}, "", "must name a command"},
		{`${exec:""}`, Form{}, "", "must name a command"},
		{`${exec:a "b}`, Form{}, "", "open quote"},
		{"${exec:a ${B}}", Form{}, "", "nothing is expanded"},
		{"${file:${HOME}/x}", Form{}, "", "nothing is expanded"},
		{"${keyring:x", Form{}, "", ""},
		{"${Keyring:x}", Form{}, "", ""},
		{"${env:x}", Form{}, "", ""},
		{"${exec}", Form{}, "", ""},
	} {
		form, size, wrong := parseForm(test.in)
		if test.wrong != "" {
			if !strings.Contains(wrong, test.wrong) {
				t.Errorf("%s: wrong is %q", test.in, wrong)
			}
			continue
		}
		if test.want.Kind == "" {
			if size != 0 || wrong != "" {
				t.Errorf("%s: taken for a form: %+v, %q", test.in, form, wrong)
			}
			continue
		}
		test.want.Text = strings.TrimSuffix(test.in, test.rest)
		if form.Kind == FormExec {
			form.Name = ""
		}
		if diff := cmp.Diff(test.want, form); diff != "" || wrong != "" || test.in[size:] != test.rest {
			t.Errorf("%s: %q, rest %q\n%s", test.in, wrong, test.in[size:], diff)
		}
	}
}

func parseServer(t *testing.T, entry string) (*Config, *Server) {
	t.Helper()
	cfg, err := Parse("f", []byte(`{"toolboxes": {"T": {"description": "d", "mcpServers": {"S": `+entry+`}}}}`), ParseOptions{
		Dir: "/etc/box", Home: "/home/me", Lookup: func(name string) (string, bool) {
			value, ok := map[string]string{"A": "hunter2hunter2", "TRICK": "${exec:rm -rf x}"}[name]
			return value, ok
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return cfg, &cfg.Toolboxes[0].Servers[0]
}

func TestServerWithForms(t *testing.T) {
	cfg, server := parseServer(t, `{
		"command": "~/bin/${keyring:program}",
		"args": ["plain", "--token=${file:secret/t}", "$${keyring:x} ${TRICK}"],
		"env": {"ONE": "${A}:${exec:~/bin/get it}", "TWO": "${keyring:two}${keyring:two}", "C": "${credential:c}"}}`)
	if server.Fault != nil {
		t.Fatal(server.Fault)
	}
	// As it is stored, compared and shown.
	shown := []string{server.Command, server.Args[1], server.Args[2], server.Env[0].Value, server.Env[1].Value}
	want := []string{"/home/me/bin/${keyring:program}", "--token=${file:secret/t}", "${keyring:x} ${exec:rm -rf x}", "hunter2hunter2:${exec:~/bin/get it}", "${keyring:two}${keyring:two}"}
	if diff := cmp.Diff(want, shown); diff != "" {
		t.Error(diff)
	}
	var asked []string
	filled, err := server.Fill(func(form Form) (string, error) {
		asked = append(asked, string(form.Kind)+" "+form.Name+strings.Join(form.Words, ",")+" in "+form.Dir)
		return "<" + string(form.Kind) + ">", nil
	})
	if err != nil {
		t.Fatal(err)
	}
	got := []string{filled.Command, filled.Args[0], filled.Args[1], filled.Args[2], filled.Env[0].Value, filled.Env[1].Value, filled.Env[2].Value}
	want = []string{"/home/me/bin/<keyring>", "plain", "--token=<file>", "${keyring:x} ${exec:rm -rf x}", "hunter2hunter2:<exec>", "<keyring><keyring>", "<credential>"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	wantAsked := []string{"keyring program in ", "file " + filepath.FromSlash("/etc/box/secret/t") + " in ", "exec /home/me/bin/get,it in /etc/box", "keyring two in ", "keyring two in ", "credential c in "}
	if diff := cmp.Diff(wantAsked, asked); diff != "" {
		t.Error(diff)
	}
	if server.Args[1] != "--token=${file:secret/t}" || server.Env[1].Value != "${keyring:two}${keyring:two}" {
		t.Error("the definition was changed")
	}
	if len(server.Forms()) != 5 {
		t.Errorf("forms are %v", server.Forms())
	}
	if slices.ContainsFunc(cfg.Secrets, func(s string) bool { return strings.Contains(s, "${keyring:two}") || strings.Contains(s, "get it") }) {
		t.Errorf("a form is taken for a secret: %q", cfg.Secrets)
	}
	if !slices.ContainsFunc(cfg.Warnings, func(p Problem) bool { return strings.Contains(p.Message, "can see arguments") }) {
		t.Errorf("warnings are %v", cfg.Warnings)
	}
}

func TestRemoteServerWithForms(t *testing.T) {
	_, server := parseServer(t, `{"url": "https://example.com/mcp?key=${keyring:k}", "headers": {"Authorization": "Bearer ${exec:token}"}}`)
	if server.Fault != nil || server.SignsIn() {
		t.Fatal(server.Fault, server.SignsIn())
	}
	values := map[FormKind]string{FormKeyring: "kkk", FormExec: "eee"}
	filled, err := server.Fill(func(f Form) (string, error) { return values[f.Kind], nil })
	if err != nil || filled.URL != "https://example.com/mcp?key=kkk" || filled.Headers[0].Value != "Bearer eee" {
		t.Error(err, filled.URL, filled.Headers)
	}
	for kind, value := range map[FormKind]string{FormKeyring: "a\x7fb", FormExec: "a\nb"} {
		_, err := server.Fill(func(f Form) (string, error) {
			if f.Kind == kind {
				return value, nil
			}
			return "x", nil
		})
		if err == nil || strings.Contains(err.Error(), value) {
			t.Errorf("%s: %v", kind, err)
		}
	}
	missing := errors.New("missing")
	if _, err := server.Fill(func(Form) (string, error) { return "", missing }); !errors.Is(err, missing) {
		t.Error(err)
	}
}

func TestOAuthWithForms(t *testing.T) {
	_, server := parseServer(t, `{"url": "https://example.com/mcp", "oauth": {"clientId": "me", "clientSecret": "${keyring:k}", "grant": "id-jag",
		"identityProvider": {"issuer": "https://idp.example", "clientId": "us", "clientSecret": "${file:/k}", "idTokenFile": "t"}}}`)
	if server.Fault != nil {
		t.Fatal(server.Fault)
	}
	filled, err := server.FillOAuth(func(f Form) (string, error) { return string(f.Kind), nil })
	if err != nil || filled.ClientSecret != "keyring" || filled.IdentityProvider.ClientSecret != "file" {
		t.Error(err, filled)
	}
	if server.OAuth.ClientSecret != "${keyring:k}" || server.OAuth.IdentityProvider.ClientSecret != "${file:/k}" {
		t.Error("the definition was changed")
	}
	if _, err := server.Fill(func(Form) (string, error) { t.Error("asked at the start"); return "", nil }); err != nil {
		t.Error(err)
	}
}

func TestWhereFormsCannotBe(t *testing.T) {
	for entry, want := range map[string]string{
		`{"command": "x", "cwd": "${file:/x}"}`:                                            "Location: config.toolboxes.T.mcpServers.S.cwd",
		`{"command": "x", "toolFilters": ["${keyring:x}"]}`:                                "secrets can be named in 'command'",
		`{"command": "x", "env": {"${keyring:x}": "y"}}`:                                   "is not known before a server starts",
		`{"url": "https://x/${keyring:x}", "oauth": {"clientId": "y"}}`:                    "needs an address that is known",
		`{"url": "https://x", "oauth": {"clientId": "${keyring:x}"}}`:                      "is not known before a server starts",
		`{"builtin": "files", "args": ["${keyring:x}"]}`:                                   "since the server is a built-in one",
		`{"command": "x", "timeouts": {"call": "${exec:x}"}}`:                              "is not known before a server starts",
		`{"command": "x", "env": {"A": "${keyring:a b}"}}`:                                 "must be a name of at most",
		`{"command": "x", "env": {"A": "${exec:a 'b}"}}`:                                   "has an open quote",
		`{"command": "x", "env": {"A": "${keyring:a"}}`:                                    "unclosed brace",
		`{"url": "ftp://${keyring:x}"}`:                                                    "must start with http",
		`{"url": "https://x", "headers": {"A": "\n${keyring:x}"}}`:                         "line break",
		`{"command": "x", "env": {"A": "${keyring:x}"}, "inheritEnv": ["${keyring:yyy}"]}`: "is not known before a server starts",
	} {
		_, server := parseServer(t, entry)
		if server.Fault == nil || !strings.Contains(server.Fault.Error(), want) {
			t.Errorf("%s: %v", entry, server.Fault)
		}
		if len(server.Deferred) > 0 {
			t.Errorf("%s: a faulty server keeps its forms", entry)
		}
	}
	for _, text := range []string{`{"toolboxes": {"T": {"description": "${exec:x}", "mcpServers": {}}}}`, `{"logLevel": "${keyring:x}", "toolboxes": {}}`} {
		if _, err := Parse("f", []byte(text), ParseOptions{}); err == nil || !strings.Contains(err.Error(), "is not known before a server starts") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// A client's file means something else by such a text, if anything.
func TestNoFormsInAPlainFile(t *testing.T) {
	cfg, err := Parse("mcp.json", []byte(`{"mcpServers": {"S": {"command": "x", "env": {"A": "${exec:rm x}"}}}}`), ParseOptions{Plain: true})
	if err != nil {
		t.Fatal(err)
	}
	server := cfg.Toolboxes[0].Servers[0]
	if len(server.Deferred) != 0 || server.Env[0].Value != "${exec:rm x}" {
		t.Errorf("%+v", server)
	}
}

func TestFormsOfAFile(t *testing.T) {
	for text, want := range map[string]int{
		`{"toolboxes": {"T": {"mcpServers": {"S": {"command": "x", "env": {"A": "${exec:y} \u0024{keyring:x} ${exec:y}"}}}}}}`: 2,
		`{"toolboxes": {"T": {"mcpServers": {"S": {"command": "x", "env": {"A": "$${exec:y} ${B}"}}}}}}`:                       0,
		`{"toolboxes": {"T": {"mcpServers": {"S": {"command": "x", "disabled": true, "args": ["${file:~/y}"]}}}}}`:             1,
		`{"mcpServers": {"S": {"command": "x", "env": {"A": "${exec:y}"}}}}`:                                                   0,
		`{broken`: 0,
	} {
		if got := (&Source{Path: "/x/workbench-config.json", Data: []byte(text)}).Forms(); len(got) != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

func TestSecretsIn(t *testing.T) {
	got := SecretsIn("Bearer abcdefghijk")
	if diff := cmp.Diff([]string{"Bearer abcdefghijk", "abcdefghijk"}, got); diff != "" {
		t.Error(diff)
	}
	for value, want := range map[string]int{"12345678": 1, "/a/path/of/some/length": 1, "short": 0, "line one 1\nline two 2": 2} {
		if got := SecretsIn(value); len(got) < want || want == 0 && len(got) > 0 {
			t.Errorf("%q: %q", value, got)
		}
	}
}

func TestCutForm(t *testing.T) {
	before, form, after, ok := CutForm("$${keyring:a} ${B} ${keyring:c}${keyring:d}")
	if !ok || before != "$${keyring:a} ${B} " || form.Name != "c" || after != "${keyring:d}" {
		t.Error(before, form, after, ok)
	}
	if _, _, _, ok := CutForm("${keyring:a b} ${B}"); ok {
		t.Error("found one")
	}
}
