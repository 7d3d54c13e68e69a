package config

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPreviewShowsWhatIsWritten(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, EnvFileName, "SECRET=topsecretvalue\n", 0o600)
	path := write(t, dir, fileName, `{"inheritEnv": ["A_*"], "sandbox": {"write": ["${W}"], "network": false, "memory": "536870912"}, "toolboxes": {"dev": {"description": "for ${WHAT}", "inheritEnv": ["B_*"], "mcpServers": {
		"a": {"command": "${SHELL:-./evil}", "args": ["--token", "${SECRET}", "${UNSET}"], "env": {"NODE_OPTIONS": "literal-secret"}, "cwd": "sub", "limits": {"memory": "128MiB"}, "instances": "per-client"},
		"b": {"url": "https://me:password@example.org:8080/path?key=topsecret${QUERY}", "headers": {"Authorization": "Bearer ${HEADER}"}, "type": "sse", "inheritEnv": true},
		"c": {"builtin": "files", "disabled": true},
		"d": {"${NOT_SET:-command}": "hidden", "args": 5, "sandbox": false}}}}}`, 0o600)
	source, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	got, err := source.Preview([]string{"SHELL=/bin/sh"})
	if err != nil {
		t.Fatal(err)
	}
	want := &Preview{
		Toolboxes: []PreviewToolbox{{Name: "dev", Description: "for ${WHAT}"}},
		Servers: []PreviewServer{
			{
				Toolbox: "dev", Name: "a", Command: "${SHELL:-./evil}", Args: []string{"--token", "${SECRET}", "${UNSET}"},
				Sandbox: &ShownSandbox{ReadAll: true, Write: []string{"${W}"}, Memory: "512 MiB"}, Limits: &ShownLimits{"128 MiB"}, Instances: "per-client",
				Env: []Variable{{"NODE_OPTIONS", "literal-secret"}}, Dir: filepath.Join(dir, "sub"), InheritEnv: InheritEnv{Patterns: []string{"B_*"}},
				Launch: &PreviewLaunch{Command: "/bin/sh", Dir: filepath.Join(dir, "sub"), Env: []string{"NODE_OPTIONS=literal-secret"}},
			},
			{
				Toolbox: "dev", Name: "b", URL: "https://me:password@example.org:8080/path?key=topsecret${QUERY}", Host: "example.org:8080", Transport: "sse",
				Headers: []Variable{{"Authorization", "Bearer ${HEADER}"}}, Sent: []string{"HEADER", "QUERY"}, InheritEnv: InheritEnv{All: true},
			},
			{Toolbox: "dev", Name: "c", Builtin: "files", Disabled: true, InheritEnv: InheritEnv{Patterns: []string{"B_*"}}},
			{Toolbox: "dev", Name: "d", Command: "hidden", Sandbox: &ShownSandbox{Off: true}, InheritEnv: InheritEnv{Patterns: []string{"B_*"}}, Launch: &PreviewLaunch{Command: "hidden", Dir: dir}},
		},
		Variables: []Variable{{"SECRET", "topsecretvalue"}},
		Unclear:   []string{"${NOT_SET:-command}"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("preview (-want +got):\n%s", diff)
	}
}

func TestPreviewOfBrokenSyntax(t *testing.T) {
	source, err := Read(write(t, t.TempDir(), fileName, `{"toolboxes"`, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := source.Preview(nil); err == nil || !strings.Contains(err.Error(), "Invalid JSON in config file") {
		t.Errorf("error %v", err)
	}
}

func TestHost(t *testing.T) {
	for address, want := range map[string]string{
		"":                          "",
		"https://example.org":       "example.org",
		"https://u:p@h:1/x?y#z":     "h:1",
		"https://h?token=a@b":       "h",
		"${URL}":                    "${URL}",
		"${URL:-https://evil.org/}": "evil.org",
		"https://${T}@${H:-h.org}":  "${H:-h.org}",
	} {
		if got := host(address); got != want {
			t.Errorf("host(%q) = %q, want %q", address, got, want)
		}
	}
}

// What was read is what is parsed, whatever happens to the file in between.
func TestSourceIsReadOnce(t *testing.T) {
	dir := t.TempDir()
	path := write(t, dir, fileName, server(`{"command": "old", "args": ["${X}"]}`), 0o600)
	write(t, dir, EnvFileName, "X=old", 0o600)
	source, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, fileName, server(`{"command": "new"}`), 0o600)
	write(t, dir, EnvFileName, "X=new", 0o600)
	cfg, err := source.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	if s := cfg.Toolboxes[0].Servers[0]; s.Command != "old" || s.Args[0] != "old" {
		t.Errorf("command %q, args %q", s.Command, s.Args)
	}
}
