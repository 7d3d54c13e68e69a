package config

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
)

// write creates a file in dir and returns its path.
func write(t *testing.T, dir, name, content string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil { // whatever the umask is
		t.Fatal(err)
	}
	return path
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	path := write(t, dir, fileName, server(`{"command": "~/x", "cwd": "sub", "args": ["${FROM_FILE}", "${BOTH}", "${EMPTY}"]}`), 0o600)
	write(t, dir, EnvFileName, "FROM_FILE=file\nBOTH=file\nEMPTY=file\n", 0o600)
	home := filepath.Join(dir, "home")
	cfg, err := Load(path, []string{"BOTH=process", "EMPTY=", "HOME=" + home, "USERPROFILE=" + home, "=C:=odd", "nonsense"})
	if err != nil {
		t.Fatal(err)
	}
	s := cfg.Toolboxes[0].Servers[0]
	if diff := cmp.Diff([]string{"file", "process", ""}, s.Args); diff != "" {
		t.Errorf("args (-want +got):\n%s", diff)
	}
	if cfg.Path != path || s.Dir != filepath.Join(dir, "sub") || s.Command != filepath.Join(home, "x") || cfg.Warnings != nil {
		t.Errorf("path %q, dir %q, command %q, warnings %v", cfg.Path, s.Dir, s.Command, cfg.Warnings)
	}
}

func TestLoadRelativePath(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	write(t, dir, "c.json", server(`{"command": "x", "cwd": "."}`), 0o600)
	cfg, err := Load("c.json", nil)
	if err != nil {
		t.Fatal(err)
	}
	if s := cfg.Toolboxes[0].Servers[0]; !filepath.IsAbs(cfg.Path) || s.Dir != filepath.Dir(cfg.Path) {
		t.Errorf("path %q, dir %q", cfg.Path, s.Dir)
	}
}

func TestLoadLock(t *testing.T) {
	dir := t.TempDir()
	path := write(t, dir, fileName, `{"prefetch": true, "toolboxes": {}}`, 0o600)
	write(t, dir, toolbox.LockFile, "", 0o600)
	cfg, err := Load(path, nil)
	if err != nil || cfg.Locked || cfg.Files[0].Lock != nil || !cfg.Prefetch {
		t.Errorf("without 'locked': %+v, %v", cfg, err)
	}
	write(t, dir, fileName, `{"locked": true, "toolboxes": {}}`, 0o600)
	if cfg, err = Load(path, nil); err != nil || !cfg.Files[0].Locked || cfg.Files[0].Lock == nil || cfg.Prefetch {
		t.Errorf("an empty lock has to be told from none: %+v, %v", cfg, err)
	}
	write(t, dir, toolbox.LockFile, "content", 0o600)
	if cfg, err = Load(path, nil); err != nil || string(cfg.Files[0].Lock) != "content" {
		t.Errorf("the lock holds %q, %v", cfg.Files[0].Lock, err)
	}
	if err := os.Remove(cfg.Files[0].LockPath()); err != nil {
		t.Fatal(err)
	}
	if cfg, err = Load(path, nil); err != nil || !cfg.Files[0].Locked || cfg.Files[0].Lock != nil {
		t.Errorf("without a lock: %+v, %v", cfg, err)
	}
	if err := os.Mkdir(cfg.Files[0].LockPath(), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err = Load(path, nil); err == nil || !strings.Contains(err.Error(), toolbox.LockFile) {
		t.Errorf("a folder in the place of the lock: %v", err)
	}
}

func TestLoadSymlink(t *testing.T) {
	dir := t.TempDir()
	target := write(t, dir, "real/c.json", server(`{"command": "x"}`), 0o600)
	link := filepath.Join(dir, fileName)
	if err := os.Symlink(target, link); err != nil {
		t.Skip(err)
	}
	if cfg, err := Load(link, nil); err != nil || cfg.Path != link {
		t.Errorf("config %+v, error %v", cfg, err)
	}
}

func TestLoadErrorsNameTheFile(t *testing.T) {
	dir := t.TempDir()
	for _, test := range []struct{ path, want string }{
		{filepath.Join(dir, "missing.json"), ": Cannot read the file: it does not exist\n    hint: "},
		{dir, ": Cannot read the file: it is a directory\n    hint: name the file in it"},
		{write(t, dir, "empty.json", "", 0o600), ":1:1: Invalid JSON in config file: the file is empty"},
		{write(t, dir, "array.json", "[]", 0o600), ":1:1: Configuration must have a 'toolboxes' object (found an array)"},
		{write(t, dir, "syntax.json", "{\n}}", 0o600), ":2:2: Invalid JSON in config file: "},
		{write(t, dir, "config.toml", "# mine\n[mcp_servers.a]\ncommand = \"x\"\n", 0o600), ":1:1: Invalid JSON in config file: invalid character '#' at start of value\n    hint: this looks like TOML; to import the servers of a client's file: mcp-workbench init --from FILE"},
		{write(t, dir, "large.json", strings.Repeat(" ", maxFileSize+1), 0o600), ": Cannot read the file: it is larger than 16 MiB"},
	} {
		_, err := Load(test.path, nil)
		if _, ok := errors.AsType[*Error](err); !ok || !strings.HasPrefix(err.Error(), test.path+test.want) {
			t.Errorf("Load(%s): %v\nwant %s", test.path, err, test.want)
		}
	}
}

func TestLoadUnreadable(t *testing.T) {
	if runtime.GOOS == "windows" || os.Getuid() == 0 {
		t.Skip("needs a file that this user cannot read")
	}
	path := write(t, t.TempDir(), fileName, "{}", 0)
	if _, err := Load(path, nil); err == nil || err.Error() != path+": Cannot read the file: permission denied" {
		t.Errorf("error %v", err)
	}
}

func TestLoadPermissionWarnings(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no such permissions")
	}
	for _, test := range []struct {
		file, env os.FileMode
		want      []string // hints
	}{
		{0o600, 0o600, nil},
		{0o664, 0o400, nil},
		{0o666, 0o600, []string{"chmod o-w "}},
		{0o600, 0o640, []string{"chmod 600 "}},
		{0o606, 0o604, []string{"chmod 600 ", "chmod o-w "}},
	} {
		dir := filepath.Join(t.TempDir(), "it's here")
		path := write(t, dir, fileName, server(`{"command": "x"}`), test.file)
		env := write(t, dir, EnvFileName, "A=b", test.env)
		cfg, err := Load(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		var hints []string
		for _, w := range cfg.Warnings {
			if !strings.HasPrefix(w.Message, path+" ") && !strings.HasPrefix(w.Message, env+" ") {
				t.Errorf("the file is not named: %s", w.Message)
			}
			command, quoted, _ := strings.Cut(w.Hint, "'")
			if !strings.Contains(quoted, `it'\''s here`) {
				t.Errorf("not one word for a shell: %s", w.Hint)
			}
			hints = append(hints, command)
		}
		if diff := cmp.Diff(test.want, hints); diff != "" {
			t.Errorf("%o %o (-want +got):\n%s", test.file, test.env, diff)
		}
	}
}

func TestEnvFile(t *testing.T) {
	got, problems := parseEnvFile([]byte("\uFEFF# comment\r\n" +
		"\r\n" +
		"PLAIN=value\r\n" +
		"  SPACED =no\n" +
		"  INDENTED=  a b  \n" +
		"export EXPORTED=x\n" +
		"export\tTABBED=x\n" +
		"exported=lower\n" +
		"SINGLE='a \"b\" # c'\n" +
		"DOUBLE=\"a 'b' \\n\" # comment\n" +
		"COMMENT=a#b # c\n" +
		"ONLY= # c\n" +
		"EQUALS=a=b==\n" +
		"EMPTY=\n" +
		"QUOTED_EMPTY=''\n" +
		"REF=${PLAIN}\n" +
		"TWICE=1\n" +
		"TWICE=2"))
	want := map[string]string{
		"PLAIN": "value", "INDENTED": "a b", "EXPORTED": "x", "TABBED": "x", "exported": "lower",
		"SINGLE": `a "b" # c`, "DOUBLE": `a 'b' \n`, "COMMENT": "a#b", "ONLY": "", "EQUALS": "a=b==", "EMPTY": "", "QUOTED_EMPTY": "",
		"REF": "${PLAIN}", "TWICE": "2",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("variables (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"4:3 : The text before '=' is not a variable name"}, summary(problems)); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func TestEnvFileErrors(t *testing.T) {
	dir := t.TempDir()
	path := write(t, dir, fileName, server(`{"command": "x"}`), 0o600)
	env := write(t, dir, EnvFileName, "GOOD=1\nhunter2hunter2\n9X=hunter2\n  A='hunter2\nB=\"hunter2\"hunter2\nC=\xff\nÄ=hunter2\n=hunter2\n", 0o600)
	_, err := Load(path, nil)
	e, ok := errors.AsType[*Error](err)
	if !ok || e.File != env {
		t.Fatalf("error %v", err)
	}
	want := []string{
		"2:1 : Line without '='",
		"3:1 : The text before '=' is not a variable name",
		"4:3 : The quotes around the value of A are not closed",
		"5:1 : There is text after the closing quote of B",
		"6:1 : The value of C is not valid UTF-8 text",
		"7:1 : The text before '=' is not a variable name",
		"8:1 : The text before '=' is not a variable name",
	}
	if diff := cmp.Diff(want, summary(e.Problems)); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	if strings.Contains(err.Error(), "hunter2") {
		t.Errorf("a value is shown: %v", err)
	}
}

func TestEnvFileIsADirectory(t *testing.T) {
	dir := t.TempDir()
	path := write(t, dir, fileName, server(`{"command": "x"}`), 0o600)
	if err := os.Mkdir(filepath.Join(dir, EnvFileName), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path, nil); err == nil || !strings.Contains(err.Error(), EnvFileName+": Cannot read the file: it is a directory") {
		t.Errorf("error %v", err)
	}
}

func TestFind(t *testing.T) {
	dir := t.TempDir()
	dir, err := filepath.EvalSymlinks(dir) // the current folder has its real name
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, filepath.Join("local", fileName), "{}", 0o600)
	write(t, dir, filepath.Join("xdg", "mcp-workbench", fileName), "{}", 0o600)
	write(t, dir, filepath.Join("home", ".config", "mcp-workbench", fileName), "{}", 0o600)
	write(t, dir, filepath.Join("empty", "keep"), "", 0o600)
	in := func(parts ...string) string { return filepath.Join(append([]string{dir}, parts...)...) }
	for _, test := range []struct {
		name, goos, explicit, cwd string
		env                       map[string]string
		want                      []Place
	}{
		{"explicit wins", "linux", "some.json", "local", map[string]string{"WORKBENCH_CONFIG": "other.json"}, []Place{{in("local", "some.json"), Named}}},
		{"variable", "linux", "", "local", map[string]string{"WORKBENCH_CONFIG": "other.json"}, []Place{{in("local", "other.json"), Named}}},
		{"empty variable counts as unset", "linux", "", "local", map[string]string{"WORKBENCH_CONFIG": "", "XDG_CONFIG_HOME": in("xdg")}, []Place{{in("local", fileName), Local}, {in("xdg", "mcp-workbench", fileName), User}}},
		{"the project's alone", "linux", "", "local", map[string]string{"XDG_CONFIG_HOME": in("empty")}, []Place{{in("local", fileName), Local}}},
		{"XDG", "linux", "", "empty", map[string]string{"XDG_CONFIG_HOME": in("xdg"), "HOME": in("home")}, []Place{{in("xdg", "mcp-workbench", fileName), User}}},
		{"home", "linux", "", "empty", map[string]string{"XDG_CONFIG_HOME": "", "HOME": in("home")}, []Place{{in("home", ".config", "mcp-workbench", fileName), User}}},
		{"relative XDG is ignored", "linux", "", "empty", map[string]string{"XDG_CONFIG_HOME": "../xdg", "HOME": in("home")}, []Place{{in("home", ".config", "mcp-workbench", fileName), User}}},
		{"macOS", "darwin", "", "empty", map[string]string{"HOME": in("home")}, []Place{{in("home", ".config", "mcp-workbench", fileName), User}}},
		{"Windows", "windows", "", "empty", map[string]string{"AppData": in("xdg"), "HOME": in("home")}, []Place{{in("xdg", "mcp-workbench", fileName), User}}},
		{"the user's folder is the current one", "linux", "", filepath.Join("xdg", "mcp-workbench"), map[string]string{"XDG_CONFIG_HOME": in("xdg")}, []Place{{in("xdg", "mcp-workbench", fileName), User}}},
		{"nothing", "linux", "", "empty", map[string]string{"XDG_CONFIG_HOME": in("empty")}, nil},
		{"nothing known", "linux", "", "empty", nil, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Chdir(in(test.cwd))
			got, err := find(test.goos, test.explicit, func(name string) string { return test.env[name] })
			if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
				t.Errorf("%s, error %v", diff, err)
			}
		})
	}
}

// One file in both places, by a link in either, is not its own project.
func TestFindOneFileTwice(t *testing.T) {
	dir := t.TempDir()
	users := write(t, dir, filepath.Join("xdg", "mcp-workbench", fileName), "{}", 0o600)
	link := filepath.Join(dir, fileName)
	if err := os.Symlink(users, link); err != nil {
		t.Skip(err)
	}
	got := Existing([]Place{{link, Local}, {users, User}})
	if diff := cmp.Diff([]Place{{users, User}}, got); diff != "" {
		t.Error(diff)
	}
}
