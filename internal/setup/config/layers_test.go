package config

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
)

// layered reads a project's file on top of a user's, each in a folder of its own.
func layered(t *testing.T, project, user string, environ ...string) (joined, own *Config) {
	t.Helper()
	dir := t.TempDir()
	users, err := Load(write(t, dir, filepath.Join("user", fileName), user, 0o600), environ)
	if err != nil {
		t.Fatal(err)
	}
	source, err := Read(write(t, dir, filepath.Join("project", fileName), project, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	own, err = source.LoadUnder(environ, users)
	if err != nil {
		t.Fatal(err)
	}
	return Join(own, users), own
}

// boxed is a file with toolboxes that have a server each, and settings before them.
func boxed(settings string, names ...string) string {
	var boxes []string
	for _, name := range names {
		boxes = append(boxes, `"`+name+`": {"description": "d", "mcpServers": {"s": {"command": "x"}}}`)
	}
	return "{" + settings + `"toolboxes": {` + strings.Join(boxes, ", ") + "}}"
}

func TestJoin(t *testing.T) {
	joined, own := layered(t, boxed("", "p", "both"), boxed(`"pinned": ["both/s/t", "u/s/t"], "toolMode": "dynamic", `, "u", "both", "v"))
	var names, files []string
	for _, box := range joined.Toolboxes {
		names = append(names, box.Name)
		files = append(files, filepath.Base(filepath.Dir(box.File)))
	}
	if diff := cmp.Diff([]string{"p", "both", "u", "v"}, names); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"project", "project", "user", "user"}, files); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"u", "both", "v"}, joined.Files[1].Toolboxes); diff != "" {
		t.Error(diff)
	}
	if joined.ToolMode != Dynamic || len(joined.Files) != 2 || joined.Path != joined.Files[1].Path {
		t.Errorf("mode %s, path %s, files %v", joined.ToolMode, joined.Path, joined.Files)
	}
	// What the user pinned of another toolbox must not lead to the project's.
	if diff := cmp.Diff([]toolbox.Ref{{Toolbox: "u", Server: "s", Name: "t"}}, joined.Discovery.Pinned); diff != "" {
		t.Error(diff)
	}
	if len(joined.Warnings) != 1 {
		t.Fatalf("warnings: %v", joined.Warnings)
	}
	want := own.Path + ":1:82: Toolbox 'both' takes the place of the one in " + joined.Path
	if got := joined.Warnings[0].String(); !strings.HasPrefix(got, want) {
		t.Errorf("the warning is %s, not %s", got, want)
	}
}

// Each file has its own variables; the environment is that of both.
func TestJoinKeepsVariablesApart(t *testing.T) {
	dir := t.TempDir()
	const file = `{"toolboxes": {"NAME": {"description": "d", "mcpServers": {"s": {"command": "x", "env": {
		"MINE": "${MINE:-none}", "THEIRS": "${THEIRS:-none}", "BOTH": "${BOTH}", "SHELL": "${OVER}"}}}}}}`
	write(t, dir, filepath.Join("user", EnvFileName), "MINE=secret-of-the-user\nBOTH=both-of-the-user\nOVER=x\n", 0o600)
	write(t, dir, filepath.Join("project", EnvFileName), "THEIRS=secret-of-the-project\nBOTH=both-of-the-project\nOVER=y\n", 0o600)
	environ := []string{"OVER=over-of-the-environment"}
	users, err := Load(write(t, dir, filepath.Join("user", fileName), strings.Replace(file, "NAME", "u", 1), 0o600), environ)
	if err != nil {
		t.Fatal(err)
	}
	source, err := Read(write(t, dir, filepath.Join("project", fileName), strings.Replace(file, "NAME", "p", 1), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	own, err := source.LoadUnder(environ, users)
	if err != nil {
		t.Fatal(err)
	}
	joined := Join(own, users)
	for i, want := range [][]string{
		{"none", "secret-of-the-project", "both-of-the-project", "over-of-the-environment"},
		{"secret-of-the-user", "none", "both-of-the-user", "over-of-the-environment"},
	} {
		var got []string
		for _, variable := range joined.Toolboxes[i].Servers[0].Env {
			got = append(got, variable.Value)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("toolbox %s: %s", joined.Toolboxes[i].Name, diff)
		}
	}
	for _, value := range []string{"secret-of-the-user", "secret-of-the-project", "over-of-the-environment"} {
		if !slices.Contains(joined.Secrets, value) {
			t.Errorf("%s is no secret", value)
		}
	}
	if diff := cmp.Diff([]string{"BOTH", "MINE", "OVER", "THEIRS"}, joined.Variables); diff != "" {
		t.Error(diff)
	}
}

// A name in one file is no secret because the other one has it as a value.
func TestJoinedSecretsAreNoNames(t *testing.T) {
	joined, _ := layered(t,
		`{"toolboxes": {"p": {"description": "d", "mcpServers": {"s": {"command": "x", "env": {"A": "user-toolbox", "B": "hunter2hunter2"}}}}}}`,
		boxed("", "user-toolbox"))
	if diff := cmp.Diff([]string{"hunter2hunter2"}, joined.Secrets); diff != "" {
		t.Error(diff)
	}
}

func TestProjectTightens(t *testing.T) {
	for _, test := range []struct {
		name, project, user string
		get                 func(joined *Config) any
		want                any
		warned              string // "" : not
	}{
		{
			"smaller messages", `"maxMessageSize": "1MiB", `, "",
			func(c *Config) any { return c.MaxMessageSize }, 1 << 20, "",
		},
		{
			"larger messages", `"maxMessageSize": "65MiB", `, "",
			func(c *Config) any { return c.MaxMessageSize }, 64 << 20, "'maxMessageSize'",
		},
		{
			"a limit of results", `"results": {"maxBytes": "8KiB"}, `, "",
			func(c *Config) any { return c.Discovery.MaxResultBytes }, 8 << 10, "",
		},
		{
			"a smaller limit of results", `"results": {"maxBytes": "8KiB"}, `, `"results": {"maxBytes": "16KiB"}, `,
			func(c *Config) any { return c.Discovery.MaxResultBytes }, 8 << 10, "",
		},
		{
			"a larger limit of results", `"results": {"maxBytes": "32KiB"}, `, `"results": {"maxBytes": "16KiB"}, `,
			func(c *Config) any { return c.Discovery.MaxResultBytes }, 16 << 10, "'results.maxBytes'",
		},
		{
			"shorter times, for its own", `"timeouts": {"call": "1m", "connect": "1s", "idle": "1h"}, `, `"timeouts": {"call": "2m"}, `,
			func(c *Config) any {
				return []Timeouts{c.Toolboxes[0].Servers[0].Timeouts, c.Toolboxes[1].Servers[0].Timeouts}
			},
			[]Timeouts{{time.Second, time.Minute, time.Hour}, {DefaultConnectTimeout, 2 * time.Minute, IdleUnset}},
			"",
		},
		{
			"longer times", `"timeouts": {"call": "3m"}, `, `"timeouts": {"call": "2m"}, `,
			func(c *Config) any { return c.Toolboxes[0].Servers[0].Timeouts.Call }, 2 * time.Minute, "'timeouts.call'",
		},
		{
			"never idle", `"timeouts": {"idle": "0"}, `, `"timeouts": {"idle": "2m"}, `,
			func(c *Config) any { return c.Toolboxes[0].Servers[0].Timeouts.Idle }, 2 * time.Minute, "'timeouts.idle'",
		},
		{
			"the user's times", "", `"timeouts": {"call": "2m"}, `,
			func(c *Config) any { return c.Toolboxes[0].Servers[0].Timeouts.Call }, 2 * time.Minute, "",
		},
		{
			"fewer variables, for its own", `"inheritEnv": ["A_*"], `, `"inheritEnv": ["A_*", "B_*"], `,
			func(c *Config) any {
				return []InheritEnv{c.Toolboxes[0].Servers[0].InheritEnv, c.Toolboxes[1].Servers[0].InheritEnv}
			},
			[]InheritEnv{{Patterns: []string{"A_*"}}, {Patterns: []string{"A_*", "B_*"}}},
			"",
		},
		{
			"no variables", `"inheritEnv": false, `, `"inheritEnv": true, `,
			func(c *Config) any { return c.Toolboxes[0].Servers[0].InheritEnv.All }, false, "",
		},
		{
			"more variables", `"inheritEnv": ["A_*", "B_*"], `, `"inheritEnv": ["A_*"], `,
			func(c *Config) any { return len(c.Toolboxes[0].Servers[0].InheritEnv.Patterns) }, 1, "'inheritEnv'",
		},
		{
			"all variables", `"inheritEnv": true, `, "",
			func(c *Config) any { return c.Toolboxes[0].Servers[0].InheritEnv.All }, false, "'inheritEnv'",
		},
		{
			"a lock, for its own", `"locked": true, `, "",
			func(c *Config) any { return []bool{c.Files[0].Locked, c.Files[1].Locked} },
			[]bool{true, false},
			"",
		},
		{
			"no lock", `"locked": false, `, `"locked": true, `,
			func(c *Config) any { return []bool{c.Files[0].Locked, c.Files[1].Locked} },
			[]bool{true, true},
			"'locked'",
		},
		{
			"the same", `"locked": true, "timeouts": {"call": "5m"}, "inheritEnv": false, `, `"locked": true, `,
			func(c *Config) any { return c.Timeouts.Call }, DefaultCallTimeout, "",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			joined, _ := layered(t, boxed(test.project, "p"), boxed(test.user, "u"))
			if diff := cmp.Diff(test.want, test.get(joined)); diff != "" {
				t.Error(diff)
			}
			checkWarned(t, joined, test.warned)
		})
	}
}

func checkWarned(t *testing.T, joined *Config, key string) {
	t.Helper()
	switch {
	case key == "" && len(joined.Warnings) > 0:
		t.Errorf("warnings: %v", joined.Warnings)
	case key != "" && (len(joined.Warnings) != 1 || !strings.Contains(joined.Warnings[0].Message, key+" of a project's file does not count")):
		t.Errorf("warnings about %s: %v", key, joined.Warnings)
	case key != "" && (joined.Warnings[0].Line != 1 || joined.Warnings[0].File != joined.Files[0].Path || !strings.Contains(joined.Warnings[0].Hint, joined.Path)):
		t.Errorf("the warning does not say where: %+v", joined.Warnings[0])
	}
}

// Every key at the top that is not in the table is the user's alone.
func TestOtherKeysAreTheUsers(t *testing.T) {
	values := map[string]string{
		"toolMode": `"direct"`, "logLevel": `"debug"`, "search": "false", "pinned": `["p/s/t"]`, "prefetch": "true",
		"shared": "true", "sharedIdle": `"1h"`, "credentials": `{"seal": "keyring"}`, "history": `{"keep": "7d"}`, "elicitation": `{"page": true}`, "audit": `{"required": true}`,
		"http": `{"listen": "127.0.0.1:1", "allowedHosts": ["a.example"], "allowedOrigins": ["https://a.example"], "sessionIdle": "1s", "tls": {"cert": "c", "key": "k"}}`,
	}
	for _, k := range rootObject.keys {
		tightens := slices.ContainsFunc(projectRules, func(rule projectRule) bool { return strings.Split(rule.key, ".")[0] == k.name })
		if k.name == "$schema" || k.name == "toolboxes" || tightens {
			continue
		}
		value, ok := values[k.name]
		switch {
		case ok:
		case slices.Equal(k.kinds, []kind{kindBoolean}):
			value = map[string]string{"true": "false"}[k.fallback]
			if value == "" {
				value = "true"
			}
		case k.enum != nil:
			value = `"` + k.enum[len(k.enum)-1] + `"`
		default:
			t.Fatalf("the test has no value for %s", k.name)
		}
		t.Run(k.name, func(t *testing.T) {
			user := boxed("", "u")
			plain, _ := layered(t, boxed("", "p"), user)
			joined, _ := layered(t, boxed(`"`+k.name+`": `+value+`, `, "p"), user)
			if len(joined.Warnings) == 0 {
				t.Error("there is no warning")
			}
			for _, warning := range joined.Warnings {
				if !strings.Contains(warning.Message, "'"+k.name) || !strings.Contains(warning.Message, "of a project's file does not count") {
					t.Errorf("warning %v", warning)
				}
			}
			for _, cfg := range []*Config{plain, joined} { // which are in folders of their own
				cfg.Path, cfg.Files, cfg.Warnings = "", nil, nil
				for i := range cfg.Toolboxes {
					cfg.Toolboxes[i].File = ""
				}
			}
			if diff := cmp.Diff(plain, joined, compareFilters); diff != "" {
				t.Errorf("it changes something: %s", diff)
			}
		})
	}
}

// How names may be is a matter of the mode, which is the user's.
func TestModeOfAProject(t *testing.T) {
	dir := t.TempDir()
	path := write(t, dir, fileName, boxed(`"toolMode": "dynamic", `, "a__b"), 0o600)
	for _, test := range []struct {
		mode ToolMode
		want string
	}{{Proxy, ""}, {Dynamic, "a name cannot hold '__'"}} {
		source, err := Read(path)
		if err != nil {
			t.Fatal(err)
		}
		user := Empty()
		user.ToolMode = test.mode
		_, err = source.LoadUnder(nil, user)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v", test.mode, err)
		}
	}
}
