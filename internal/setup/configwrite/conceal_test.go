package configwrite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

func TestEntry(t *testing.T) {
	const token = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2"
	for _, tt := range []struct {
		name, entry, want string
		given             []Variable
	}{
		{
			"a variable that is called a token",
			`{"command": "x", "env": {"GITHUB_TOKEN": "abc", "LOG": "debug", "MAX_TOKENS": "100", "TOKEN_FILE": "/x"}}`,
			`{"command": "x", "env": {"GITHUB_TOKEN": "${GITHUB_TOKEN}", "LOG": "debug", "MAX_TOKENS": "100", "TOKEN_FILE": "/x"}}`,
			[]Variable{{"GITHUB_TOKEN", "abc"}},
		},
		{
			"a token under any name, once",
			`{"env": {"a": "` + token + `"}, "args": ["` + token + `"]}`,
			`{"env": {"a": "${A}"}, "args": ["${GIT_HUB_TOKEN}"]}`,
			[]Variable{{"A", token}, {"GIT_HUB_TOKEN", token}},
		},
		{
			"an address with a password in a variable",
			`{"env": {"DB": "postgres://me:pw@host/db"}}`, `{"env": {"DB": "${DB}"}}`,
			[]Variable{{"DB", "postgres://me:pw@host/db"}},
		},
		{
			"headers",
			`{"url": "https://e.example/mcp", "headers": {"Authorization": "Bearer abc", "X-API-Key": "k", "Accept": "a/b"}}`,
			`{"url": "https://e.example/mcp", "headers": {"Authorization": "Bearer ${GIT_HUB_TOKEN}", "X-API-Key": "${GIT_HUB_API_KEY}", "Accept": "a/b"}}`,
			[]Variable{{"GIT_HUB_TOKEN", "abc"}, {"GIT_HUB_API_KEY", "k"}},
		},
		{
			"login",
			`{"url": "https://e.example/mcp", "oauth": {"clientId": "abc", "clientSecret": "k", "scopes": ["r"]}}`,
			`{"url": "https://e.example/mcp", "oauth": {"clientId": "abc", "clientSecret": "${GIT_HUB_CLIENT_SECRET}", "scopes": ["r"]}}`,
			[]Variable{{"GIT_HUB_CLIENT_SECRET", "k"}},
		},
		{
			"an address",
			`{"url": "https://u:pw@e.example/s/` + token + `/mcp?api_key=k&q=1#f"}`,
			`{"url": "https://u:${GIT_HUB_PASSWORD}@e.example/s/${GIT_HUB_TOKEN}/mcp?api_key=${GIT_HUB_API_KEY}&q=1#f"}`,
			[]Variable{{"GIT_HUB_PASSWORD", "pw"}, {"GIT_HUB_TOKEN", token}, {"GIT_HUB_API_KEY", "k"}},
		},
		{
			"arguments",
			`{"args": ["-y", "@scope/server-x@1.2.3", "--api-key", "k", "--token=t", "-e", "MY_SECRET=s", "--header", "Authorization: Bearer b", "/Users/Me/Files", "--key-file", "x"]}`,
			`{"args": ["-y", "@scope/server-x@1.2.3", "--api-key", "${GIT_HUB_API_KEY}", "--token=${GIT_HUB_TOKEN}", "-e", "MY_SECRET=${MY_SECRET}", "--header", "Authorization: Bearer ${GIT_HUB_TOKEN_2}", "/Users/Me/Files", "--key-file", "x"]}`,
			[]Variable{{"GIT_HUB_API_KEY", "k"}, {"GIT_HUB_TOKEN", "t"}, {"MY_SECRET", "s"}, {"GIT_HUB_TOKEN_2", "b"}},
		},
		{"references stay", `{"env": {"TOKEN": "${TOKEN}", "B_TOKEN": "Bearer ${X}"}}`, `{"env": {"TOKEN": "${TOKEN}", "B_TOKEN": "Bearer ${X}"}}`, nil},
		{"a name with another value", `{"env": {"TAKEN_KEY": "mine"}}`, `{"env": {"TAKEN_KEY": "${GIT_HUB_TAKEN_KEY}"}}`, []Variable{{"GIT_HUB_TAKEN_KEY", "mine"}}},
		{"a name with the same value", `{"env": {"TAKEN_KEY": "theirs"}}`, `{"env": {"TAKEN_KEY": "${TAKEN_KEY}"}}`, nil},
		{"comments and layout", "{ // c\n  \"env\": {\"KEY\":\"v\"} }", "{ // c\n  \"env\": {\"KEY\":\"${KEY}\"} }", []Variable{{"KEY", "v"}}},
		{"wrong types", `{"env": [], "args": [1], "headers": {"A": 1}, "url": null}`, `{"env": [], "args": [1], "headers": {"A": 1}, "url": null}`, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			names := &Names{Taken: func(name string) (string, bool) { return "theirs", name == "TAKEN_KEY" }}
			got, _, err := Conceal("git-hub", []byte(tt.entry), names)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tt.given, names.Added()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWhatNoLineHoldsStays(t *testing.T) {
	entry := `{"env": {"KEY": "-----BEGIN PRIVATE KEY-----\nabc"}}`
	names := &Names{}
	got, found, err := Conceal("s", []byte(entry), names)
	if err != nil || string(got) != entry || len(names.Added()) > 0 {
		t.Errorf("got %s, %v, %v", got, names.Added(), err)
	}
	if diff := cmp.Diff([]Finding{{Where: "env.KEY"}}, found); diff != "" {
		t.Error(diff)
	}
}

func TestRefusals(t *testing.T) {
	for _, entry := range []string{`{"TOKEN": hunter2`, `["hunter2"]`} {
		if _, _, err := Conceal("s", []byte(entry), &Names{}); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", entry, err)
		}
	}
}

// What is written is what a configuration reads.
func TestAppendVariables(t *testing.T) {
	values := []string{"plain", " spaces ", "a # b", `with "quotes"`, "it's", "a=b", "#", "", "Grüße", `\n`, "\u00a0x"}
	var variables []Variable
	var file strings.Builder
	for i, value := range values {
		name := "V_" + string(rune('A'+i))
		variables = append(variables, Variable{name, value})
		file.WriteString(`"` + name + `": "${` + name + `}",`)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "workbench-config.json")
	source := `{"toolboxes": {"t": {"mcpServers": {"s": {"command": "x", "env": {` + file.String() + `}}}}}}`
	env := AppendVariables([]byte("FIRST=1"), variables)
	for name, content := range map[string][]byte{path: []byte(source), filepath.Join(dir, "workbench.env"): env} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cfg, err := config.Load(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, variable := range cfg.Toolboxes[0].Servers[0].Env {
		if variable.Value != values[i] {
			t.Errorf("%q became %q", values[i], variable.Value)
		}
	}
}

func FuzzConceal(f *testing.F) {
	f.Add(`{"url": "https://u:p@h/?token=x", "args": ["--token", "a", "A=b"], "env": {"K": "v"}}`)
	f.Fuzz(func(t *testing.T, entry string) {
		result, _, err := Conceal("s", []byte(entry), &Names{})
		if err != nil {
			return
		}
		again, found, err := Conceal("s", result, &Names{})
		if err != nil {
			t.Fatalf("%q became %q: %v", entry, result, err)
		}
		for _, finding := range found {
			if finding.Name != "" && string(again) == string(result) {
				t.Fatalf("%q: a finding without a change", result)
			}
		}
	})
}
