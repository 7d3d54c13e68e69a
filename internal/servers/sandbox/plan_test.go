package sandbox

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// layout makes files and links in a folder: a name that ends with / is a folder, NAME -> TARGET a link.
func layout(t *testing.T, entries ...string) (at func(string) string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("there are no sandboxes on Windows, and paths have another form")
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at = func(name string) string { return filepath.Join(root, name) }
	for _, entry := range entries {
		name, target, isLink := strings.Cut(entry, " -> ")
		err := os.MkdirAll(filepath.Dir(at(name)), 0o700)
		switch {
		case err != nil:
		case isLink:
			err = os.Symlink(at(target), at(name))
		case strings.HasSuffix(entry, "/"):
			err = os.MkdirAll(at(name), 0o700)
		default:
			err = os.WriteFile(at(name), nil, 0o700)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return at
}

func planFor(t *testing.T, at func(string) string, policy Policy, program Program) *Plan {
	t.Helper()
	program.Temp, program.Cache = at("temp"), at("cache")
	if program.Path == "" {
		program.Path = at("bin/program")
	}
	program.Args = append([]string{program.Path}, program.Args...)
	program.Env = append([]string{"HOME=" + at("home")}, program.Env...)
	plan, err := NewPlan(policy, program)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

var base = []string{"temp/", "cache/", "bin/program", "home/"}

func TestPlanOfPaths(t *testing.T) {
	at := layout(t, append(base, "project/out/", "project/docs -> secret", "secret/key", "here/", "named -> project")...)
	plan := planFor(t, at, Policy{
		Read: []string{at("named"), at("project/out")}, Write: []string{at("project/out"), at("named"), Cwd, at("project")},
	}, Program{Dir: at("here")})
	if want := []string{at("temp"), at("cache"), at("project"), at("here")}; !slices.Equal(plan.Write, want) {
		t.Errorf("it writes to %q, want %q", plan.Write, want)
	}
	for path, want := range map[string]bool{
		"project/x": true, "here": true, "secret/key": false, "home": false, "bin/program": true, "projects": false,
	} {
		if plan.Reads(at(path)) != want {
			t.Errorf("%s: read %v", path, !want)
		}
	}
	if all := planFor(t, at, Policy{ReadAll: true}, Program{Dir: at("here")}); !all.Reads(at("secret/key")) || all.Reads("/dev/sda") || all.Writes(at("here")) {
		t.Errorf("reading all: %+v", all)
	}
}

// The folder of a server that the configuration names can be read. Another one is the client's, and may be the home folder.
func TestPlanOfFolder(t *testing.T) {
	at := layout(t, append(base, "here/x")...)
	for _, own := range []bool{true, false} {
		if plan := planFor(t, at, Policy{}, Program{Dir: at("here"), Own: own}); plan.Reads(at("here/x")) != own {
			t.Errorf("own %v: %q", own, plan.Read)
		}
	}
}

// Of two policies, what both allow counts, by what paths lead to.
func TestPlanWithinBound(t *testing.T) {
	at := layout(t, append(base, "mine/a/", "mine/link -> secret", "secret/key", "mine/b/")...)
	for _, test := range []struct {
		name                 string
		policy               Policy
		write, reads, denied []string
	}{
		{"a link", Policy{ReadAll: true, Write: []string{at("mine/link"), at("mine/a")}, Bound: &Policy{ReadAll: true, Write: []string{at("mine")}}}, []string{"mine/a"}, []string{"secret/key"}, nil},
		{"wider", Policy{ReadAll: true, Write: []string{"/"}, Bound: &Policy{ReadAll: true, Write: []string{at("mine/b")}}}, []string{"mine/b"}, nil, nil},
		{"reads less", Policy{Read: []string{at("mine/a")}, Bound: &Policy{ReadAll: true}}, nil, []string{"mine/a"}, []string{"secret/key", "mine/b"}},
		{"may read less", Policy{ReadAll: true, Bound: &Policy{Read: []string{at("mine/a")}}}, nil, []string{"mine/a"}, []string{"secret/key", "mine/b"}},
		{"a link to read", Policy{Read: []string{at("mine/link"), at("mine/b")}, Bound: &Policy{Read: []string{at("mine")}}}, nil, []string{"mine/b"}, []string{"secret/key", "mine/a"}},
		{"nothing", Policy{ReadAll: true, Write: []string{at("mine")}, Bound: &Policy{}}, nil, nil, []string{"mine/a", "secret/key"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			plan := planFor(t, at, test.policy, Program{Dir: at("home")})
			want := []string{at("temp"), at("cache")}
			for _, path := range test.write {
				want = append(want, at(path))
			}
			if !slices.Equal(plan.Write, want) {
				t.Errorf("it writes to %q, want %q", plan.Write, want)
			}
			for _, path := range test.reads {
				if !plan.Reads(at(path)) {
					t.Errorf("%s cannot be read: %q", path, plan.Read)
				}
			}
			for _, path := range test.denied {
				if plan.Reads(at(path)) {
					t.Errorf("%s can be read: %q", path, plan.Read)
				}
			}
		})
	}
}

// What a program needs for itself can be read: its package, its interpreter, what is installed with it. No more of the home folder.
func TestPlanOfPrograms(t *testing.T) {
	at := layout(t, append(base,
		"home/.nvm/versions/node/v20/bin/npx -> home/.nvm/versions/node/v20/lib/node_modules/npm/bin/npx-cli.js",
		"home/.nvm/versions/node/v20/bin/node", "home/.nvm/alias",
		"home/.ssh/key", "home/package.json",
		"home/code/server/package.json", "home/code/server/dist/index.js", "home/code/server/node_modules/x", "home/code/other/x",
		"home/script.py", "home/.local/share/secret", "home/.local/bin/tool", "home/.local/lib/python3.11/x",
		"venv/bin/python", "venv/lib/x", "opt/py/bin/python3", "opt/py/lib/python3.12/os.py", "opt/secret",
	)...)
	if err := os.MkdirAll(at("home/.nvm/versions/node/v20/lib/node_modules/npm/bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"home/.nvm/versions/node/v20/lib/node_modules/npm/bin/npx-cli.js": "#!/usr/bin/env node\n",
		"home/.local/bin/tool": "#!" + at("venv/bin/python") + "\n",
		"venv/pyvenv.cfg":      "home = " + at("opt/py/bin") + "\nversion = 3.12\n",
	} {
		if err := os.WriteFile(at(name), []byte(content), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	bin := at("home/.nvm/versions/node/v20/bin")
	for _, test := range []struct {
		name          string
		program       Program
		reads, denied []string
	}{
		{"of a version manager", Program{Path: bin + "/npx", Env: []string{"PATH=" + bin}}, []string{"home/.nvm/alias", "home/.nvm/versions/node/v20/bin/node"}, []string{"home/.ssh/key", "home"}},
		{"a script in a package", Program{Path: bin + "/node", Args: []string{"--flag", "dist/index.js", "home/.ssh/key"}, Dir: at("home/code/server")}, []string{"home/code/server/node_modules/x"}, []string{"home/code/other/x", "home/.ssh/key", "home/package.json"}},
		{"data of a program", Program{Path: at("bin/program"), Args: []string{at("home/code/other/x")}}, nil, []string{"home/code/other/x"}},
		{"a script in the home folder", Program{Path: bin + "/node", Args: []string{at("home/script.py")}}, []string{"home/script.py"}, []string{"home/.ssh/key", "home/code/other/x"}},
		{"a script of a virtual environment", Program{Path: at("home/.local/bin/tool")}, []string{"venv/lib/x", "opt/py/lib/python3.12/os.py", "home/.local/lib/python3.11/x"}, []string{"home/.local/share/secret", "opt/secret"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			plan := planFor(t, at, Policy{}, test.program)
			for _, path := range test.reads {
				if !plan.Reads(at(path)) {
					t.Errorf("%s cannot be read: %q", path, plan.Read)
				}
			}
			for _, path := range test.denied {
				if plan.Reads(at(path)) {
					t.Errorf("%s can be read: %q", path, plan.Read)
				}
			}
		})
	}
}

// Those who run packages get a cache that no other program uses, unless they have one that they may write to.
func TestPlanOfCaches(t *testing.T) {
	at := layout(t, append(base, "own/")...)
	plan := planFor(t, at, Policy{ReadAll: true, Network: true, Write: []string{at("own")}}, Program{
		Env: []string{"UV_CACHE_DIR=" + at("home/.cache/uv"), "npm_config_cache=" + at("own/npm"), "TMPDIR=/tmp"},
	})
	for name, want := range map[string]string{
		"UV_CACHE_DIR": at("cache/uv"), "npm_config_cache": at("own/npm"), "TMPDIR": at("temp"), "XDG_CACHE_HOME": at("cache/cache"), "npm_config_offline": "",
	} {
		if got := newEnvironment(plan.Env, nil).get(name); got != want {
			t.Errorf("%s=%s, want %s", name, got, want)
		}
	}
	plan = planFor(t, at, Policy{ReadAll: true}, Program{})
	if !slices.Contains(plan.Env, "npm_config_offline=true") {
		t.Errorf("without a network, npm does not know: %q", plan.Env)
	}
}

// A program that replaces what it can change by links, or names others in it, can read and write no more at its next start.
func TestPlanBelievesNothingThatTheProgramCanChange(t *testing.T) {
	at := layout(t, append(base, "project/", "secret/key", "secret/package.json", "home/.ssh/bin/python3", "home/.ssh/key", "home/.local/share/uv/python/bin/python3",
		"project/script.js -> secret/key", "project/venv/bin/python3", "project/linked/bin -> secret", "project/out -> secret", "named -> project",
		"project/tool -> home/.ssh/key", "project/good/bin/python -> home/.local/share/uv/python/bin/python3")...)
	for name, content := range map[string]string{
		"project/venv/pyvenv.cfg": "home = " + at("project/linked/bin") + "\n",
		"project/start":           "#!" + at("home/.ssh/bin/python3") + "\n",
		"project/loop":            "#!" + at("loop") + "\n",
		"loop":                    "#!" + at("project/loop") + "\n",
	} {
		if err := os.WriteFile(at(name), []byte(content), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, program := range map[string]Program{
		"a script":              {Path: at("bin/node"), Args: []string{"script.js"}, Dir: at("project")},
		"a virtual environment": {Path: at("project/venv/bin/python3")},
		"a first line":          {Path: at("project/start")},
		"a link":                {Path: at("project/tool")},
		"a loop":                {Path: at("project/loop")},
		"a link to Python":      {Path: at("project/good/bin/python")},
	} {
		t.Run(name, func(t *testing.T) {
			plan := planFor(t, at, Policy{Write: []string{at("named")}}, program)
			for _, path := range []string{"secret/key", "home/.ssh/key", "home/.ssh/bin/python3"} {
				if plan.Reads(at(path)) {
					t.Errorf("%s can be read: %q", path, plan.Read)
				}
			}
			if name == "a link to Python" && !plan.Reads(at("home/.local/share/uv/python/bin/python3")) {
				t.Errorf("the program of a version manager cannot be read: %q", plan.Read)
			}
		})
	}
	for name, policy := range map[string]Policy{
		"write":  {ReadAll: true, Write: []string{at("project/out"), at("project")}},
		"read":   {Read: []string{at("named/out")}, Write: []string{at("project")}},
		"folder": {Read: []string{Cwd}, Write: []string{at("project")}},
		"bound":  {ReadAll: true, Write: []string{"/"}, Bound: &Policy{ReadAll: true, Write: []string{at("project"), at("project/out")}}},
		"own":    {Write: []string{at("project")}},
	} {
		t.Run("named/"+name, func(t *testing.T) {
			_, err := NewPlan(policy, Program{Path: at("bin/program"), Temp: at("temp"), Cache: at("cache"), Dir: at("project/out"), Own: true})
			if err == nil || !strings.Contains(err.Error(), "the server could let that link lead anywhere") {
				t.Errorf("error %v", err)
			}
		})
	}
}
