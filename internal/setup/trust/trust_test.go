package trust

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

const (
	configName = "workbench-config.json"
	envName    = "workbench.env"
)

// realTemp is a temporary folder by its real name that nobody else can change.
func realTemp(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func write(t *testing.T, path, content string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// read returns a file and what lies beside it, as the command line does.
func read(t *testing.T, path string) File {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	f := File{Path: path, Content: content, Info: info}
	beside := filepath.Join(filepath.Dir(path), envName)
	if info, err := os.Stat(beside); err == nil {
		f.EnvInfo = info
		if f.Env, err = os.ReadFile(beside); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

func TestDoubt(t *testing.T) {
	for _, test := range []struct {
		name    string
		prepare func(t *testing.T, dir string) // dir holds project/workbench-config.json
		unix    bool
		want    string
	}{
		{name: "nothing", prepare: func(*testing.T, string) {}},
		{name: "git", want: "version control", prepare: func(t *testing.T, dir string) { write(t, dir+"/project/.git/HEAD", "") }},
		{name: "a worktree has a file", want: "version control", prepare: func(t *testing.T, dir string) { write(t, dir+"/project/.git", "gitdir: x") }},
		{name: "in a parent", want: "version control", prepare: func(t *testing.T, dir string) { write(t, dir+"/.hg/x", "") }},
		{name: "jj", want: ".jj", prepare: func(t *testing.T, dir string) { write(t, dir+"/project/.jj/x", "") }},
		{name: "svn", want: ".svn", prepare: func(t *testing.T, dir string) { write(t, dir+"/project/.svn/x", "") }},
		{name: "beside the path", prepare: func(t *testing.T, dir string) { write(t, dir+"/other/.git/x", "") }},
		{name: "link into a repository", unix: true, want: "version control", prepare: func(t *testing.T, dir string) {
			write(t, dir+"/other/.git/x", "")
			target := write(t, dir+"/other/c.json", "{}")
			replace(t, target, dir+"/project/"+configName)
		}},
		{name: "group", unix: true, want: "the file can be changed by its group", prepare: func(t *testing.T, dir string) { chmod(t, dir+"/project/"+configName, 0o620) }},
		{name: "world", unix: true, want: "the file can be changed by every user", prepare: func(t *testing.T, dir string) { chmod(t, dir+"/project/"+configName, 0o602) }},
		{name: "readable", prepare: func(t *testing.T, dir string) { chmod(t, dir+"/project/"+configName, 0o644) }},
		{name: "folder", unix: true, want: "its folder can be changed by its group", prepare: func(t *testing.T, dir string) { chmod(t, dir+"/project", 0o770) }},
		{name: "sticky folder", unix: true, want: "its folder can be changed by every user", prepare: func(t *testing.T, dir string) { chmod(t, dir+"/project", 0o777|os.ModeSticky) }},
		{name: "variables", unix: true, want: "the workbench.env beside it can be changed", prepare: func(t *testing.T, dir string) {
			chmod(t, write(t, dir+"/project/"+envName, "A=b"), 0o660)
		}},
		{name: "link that others can replace", unix: true, want: "reached through the link", prepare: func(t *testing.T, dir string) {
			chain(t, dir, "b")
			chmod(t, dir+"/b", 0o777)
		}},
		{name: "link in the folder of a group", unix: true, want: "/b can be changed by its group", prepare: func(t *testing.T, dir string) {
			chain(t, dir, "b")
			chmod(t, dir+"/b", 0o770)
		}},
		{name: "link on the way in a repository", unix: true, want: "version control", prepare: func(t *testing.T, dir string) {
			chain(t, dir, "b")
			write(t, dir+"/b/.git/HEAD", "")
		}},
		{name: "folder of a link on the way", unix: true, want: "reached through the link", prepare: func(t *testing.T, dir string) {
			chain(t, dir, "open/b")
			// The way leads through the link open/through to the folder b.
			symlink(t, dir+"/open/b", dir+"/open/through")
			replace(t, dir+"/open/through/link.json", dir+"/project/"+configName)
			chmod(t, dir+"/open", 0o777)
		}},
		{name: "links that nobody else can replace", unix: true, prepare: func(t *testing.T, dir string) { chain(t, dir, "b") }},
		{name: "link of the user's in a sticky folder", unix: true, prepare: func(t *testing.T, dir string) {
			chain(t, dir, "b")
			chmod(t, dir+"/b", 0o777|os.ModeSticky)
		}},
		{name: "link of another user in a sticky folder", unix: true, want: "reached through the link", prepare: func(t *testing.T, dir string) {
			chain(t, dir, "b")
			chmod(t, dir+"/b", 0o777|os.ModeSticky)
			if err := os.Lchown(dir+"/b/link.json", 12345, -1); err != nil {
				t.Skip("only root can give files away")
			}
		}},
		{name: "variables through a link", unix: true, want: "reached through the link", prepare: func(t *testing.T, dir string) {
			write(t, dir+"/safe/vars", "A=b")
			write(t, dir+"/b/keep", "")
			symlink(t, dir+"/safe/vars", dir+"/b/vars")
			symlink(t, dir+"/b/vars", dir+"/project/"+envName)
			chmod(t, dir+"/b", 0o777)
		}},
		{name: "owner", unix: true, want: "the file belongs to another user", prepare: func(t *testing.T, dir string) {
			if err := os.Lchown(dir+"/project/"+configName, 12345, -1); err != nil {
				t.Skip("only root can give files away")
			}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.unix && runtime.GOOS == "windows" {
				t.Skip("this system does not tell")
			}
			dir := realTemp(t)
			path := write(t, filepath.Join(dir, "project", configName), "{}")
			test.prepare(t, dir)
			got := Doubt(read(t, path))
			if (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
				t.Errorf("doubt %q, want %q", got, test.want)
			}
		})
	}
}

// A folder that is reached through a link lies where it really is, and where the link is.
func TestDoubtSeesThroughLinks(t *testing.T) {
	for _, marked := range []string{"real", "named"} {
		dir := realTemp(t)
		write(t, filepath.Join(dir, "real", "project", configName), "{}")
		write(t, filepath.Join(dir, "named", "keep"), "")
		write(t, filepath.Join(dir, marked, ".git", "HEAD"), "")
		link := filepath.Join(dir, "named", "link")
		if err := os.Symlink(filepath.Join(dir, "real", "project"), link); err != nil {
			t.Skip(err)
		}
		if got := Doubt(read(t, filepath.Join(link, configName))); !strings.Contains(got, "version control") {
			t.Errorf("marked %s: doubt %q", marked, got)
		}
	}
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// chain makes the configuration a link to dir/via/link.json, which is one to dir/safe/c.json.
func chain(t *testing.T, dir, via string) {
	t.Helper()
	target := write(t, dir+"/safe/c.json", "{}")
	write(t, dir+"/"+via+"/keep", "")
	symlink(t, target, dir+"/"+via+"/link.json")
	replace(t, dir+"/"+via+"/link.json", dir+"/project/"+configName)
}

func symlink(t *testing.T, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
}

// replace puts a link to target in the place of a file.
func replace(t *testing.T, target, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
}

func TestQuote(t *testing.T) {
	for _, test := range []struct{ goos, word, want string }{
		{"linux", "/usr/bin/mcp-workbench", "/usr/bin/mcp-workbench"},
		{"linux", "", "''"},
		{"linux", "my file", "'my file'"},
		{"linux", "it's", `'it'\''s'`},
		{"linux", "$(rm -rf ~)", "'$(rm -rf ~)'"},
		{"linux", "~/x", "'~/x'"},
		{"linux", `a\b`, `'a\b'`},
		{"linux", "größe", "'größe'"},
		{"linux", "a\nb", `$'a\012b'`},
		{"linux", "\x1b[2Jit's\\1", `$'\033[2Jit\'s\\1'`},
		{"linux", "\xff1", `$'\3771'`},
		{"linux", "a\u202eb", `$'a\342\200\256b'`},
		{"windows", `C:\bin\mcp-workbench.exe`, `C:\bin\mcp-workbench.exe`},
		{"windows", `C:\Program Files\x`, `"C:\Program Files\x"`},
	} {
		if got := quote(test.goos, test.word); got != test.want {
			t.Errorf("quote(%s, %q) = %s, want %s", test.goos, test.word, got, test.want)
		}
	}
	if got := Quote("a", "b c"); !strings.HasPrefix(got, "a ") {
		t.Errorf("Quote = %s", got)
	}
}
