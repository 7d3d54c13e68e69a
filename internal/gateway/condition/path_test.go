package condition

import (
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// tree is a folder with a root "in" and files outside of it; links lead from one to the other.
func within(value string, roots []string, folder string) string {
	p := places{roots: roots, folder: folder}
	return p.within(value)
}

func tree(t testing.TB) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the links and names are those of Unix")
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"in/sub/deep", "in/%2e%2e", "in/my dir", "in/~", "out/sub", "inside"} {
		if err := os.MkdirAll(filepath.Join(base, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"in/file", "in/sub/file", "out/file", "out/sub/file", "inside/file", "file"} {
		if err := os.WriteFile(filepath.Join(base, file), []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{
		"in/tofile": "../out/file", "in/toout": "../out", "in/toabsolute": filepath.Join(base, "out"), "in/todeep": "sub/deep", "in/dangling": "../out/new", "in/danglingin": "sub/new",
		"in/toroot": "/", "in/loop": "loop", "in/self": ".", "in/up": "..", "in/twice": "toout/sub", "in/proc": "/proc/self/cwd", "alias": "in", "out/back": "../in", "out/deep": "../in/sub/deep", "in/a b": "../out",
		"in/x.y": "../out/file", "in/sub/deep/l": "../../../out/sub", "in/updangling": "missing/../../out",
	} {
		if err := os.Symlink(target, filepath.Join(base, link)); err != nil {
			t.Fatal(err)
		}
	}
	return base
}

func TestWithin(t *testing.T) {
	base := tree(t)
	in := filepath.Join(base, "in")
	for _, test := range []struct {
		value string // BASE stands for the folder of all
		why   string // "" if it holds
	}{
		{"BASE/in", ""},
		{"BASE/in/", ""},
		{"BASE/in/.", ""},
		{"BASE/in/file", ""},
		{"BASE/in//sub/./file", ""},
		{"//BASE/in/file", ""},
		{"BASE/in/new", ""},
		{"BASE/in/new/deeper/file", ""},
		{"BASE/in/sub/../file", ""},
		{"BASE/in/../in/file", ""},
		{"BASE/out/../in/file", ""},
		{"BASE/in/sub/..", ""},
		{"BASE/in/todeep/x", ""},
		{"BASE/in/self/self/file", ""},
		{"BASE/in/danglingin", ""},
		{"BASE/alias/file", ""},
		{"BASE/out/back/file", ""},
		{"BASE/in/..file", ""},
		{"BASE/in/...", ""},
		{"BASE/in/a..b", ""},
		{"BASE/in/my dir/x", ""},
		{"BASE/in/naïve", ""},
		{"BASE/in/100%", ""},
		{"BASE/in/50%25", ""},
		{"BASE/in/a%2eb", ""},
		{"BASE/in/[...slug]/$id.tsx", ""},
		{"BASE/in/~/x", ""},
		{"BASE/in/a:b", ""},
		{"BASE/in/a:10", ""},
		{"#notes", ""},
		{"BASE/in/c#/why?", ""},
		{"file", ""},
		{"./file", ""},
		{"sub/file", ""},
		{"new", ""},
		{"sub/../file", ""},
		{".", ""},
		{"@scope/package", ""},
		{"a\u200cb", ""},
		{"file://BASE/in/file", ""},
		{"FILE://LOCALHOSTBASE/in/file", ""},
		{"file://BASE/in/my%20dir/x", ""},

		{"BASE", "is outside"},
		{"/", "is outside"},
		{"BASE/inside/file", "is outside"},
		{"BASE/out/file", "is outside"},
		{"BASE/i", "is outside"},
		{"BASE/in/..", "is outside"},
		{"BASE/in/../file", "is outside"},
		{"BASE/in/sub/../../out/file", "is outside"},
		{"BASE/in/../../../../../../../../etc/passwd", "is outside"},
		{"..", "is outside"},
		{"../out", "is outside"},
		{"sub/../../out", "is outside"},
		{"/etc/passwd", "is outside"},
		{"BASE/in/new/../file", "'..' after"},
		{"BASE/in/new/../../out", "'..' after"},
		{"BASE/in/tofile", "is outside"},
		{"BASE/in/toout", "is outside"},
		{"BASE/in/toout/file", "is outside"},
		{"BASE/in/toabsolute/new", "is outside"},
		{"BASE/in/dangling", "is outside"},
		{"BASE/in/twice/file", "is outside"},
		{"BASE/in/toroot/etc/passwd", "is outside"},
		{"BASE/in/up/out/file", "is outside"},
		{"BASE/in/self/up/file", "is outside"},
		{"BASE/in/updangling/x", "'..' after"},
		{"BASE/in/loop", "cannot be followed"},
		{"BASE/in/loop/x", "cannot be followed"},
		{"BASE/in/proc/x", "cannot be followed"},
		{"/proc/self/cwd/x", "cannot be followed"},
		{"BASE/in/file/x", "cannot be followed"},
		{"BASE/in/" + strings.Repeat("a", 300), "cannot be followed"},
		// Where the system goes, and where programs that shorten the path go.
		{"BASE/in/toout/../file", "is outside"},
		{"BASE/out/back/../file", "is outside"},
		{"BASE/in/todeep/../../../out/x", "is outside"},
		{"toout/../file", "is outside"},
		{"BASE/out/deep/../x", "is outside"},
		// Encodings.
		{"BASE/in/%2e%2e/file", "is outside"},
		{"BASE/in/%2E%2E/out/file", "is outside"},
		{"BASE/in/.%2e/out/file", "is outside"},
		{"BASE/in/..%2fout", "is outside"},
		{"BASE/in/%252e%252e/out", "is outside"},
		{"BASE/in/%25252e%25252e/out", "is outside"},
		{"%2fetc%2fpasswd", "is outside"},
		{"BASE/in/x%2ey", "is outside"},
		{"BASE/in/a%20b/file", "is outside"},
		{"BASE/in/tofile#L1", "is outside"},
		{"BASE/in/tofile?raw", "is outside"},
		{"BASE/in/tofile:10:2", "is outside"},
		{"BASE/in/tofile%23x", "is outside"},
		{"BASE/in/x%00", "control"},
		{"BASE/in/%c0%ae%c0%ae/out", "not valid text"},
		{"BASE/in/%u002e%u002e/out", "unusual"},
		{"BASE/in/%ff", "not valid text"},
		{"BASE/in/%" + strings.Repeat("25", maxReadings) + "2e", "encoded too often"},
		{`BASE/in/..\out\file`, "is outside"},
		{`BASE/in/sub\..\..\..\out`, "is outside"},
		{`..\out`, "is outside"},
		{`\etc\passwd`, "is outside"},
		{`BASE/in/.\./out`, "is outside"},
		{`\\host\share`, "is outside"},
		{`BASE/in/%5c..%5c..%5cout`, "is outside"},
		{"BASE/in/．．/out", "is outside"},
		{"BASE/in/‥/out", "is outside"},
		{"BASE/in/..／..／out", "is outside"},
		{"BASE/in/.\u200d./out", "is outside"},
		{"\ufeff/etc/passwd", "is outside"},
		{"BASE/in/%ef%bc%8e%ef%bc%8e/out", "is outside"},
		{"BASE/in/a\u0000", "control"},
		{"BASE/in/\u0000/../..", "control"},
		{"BASE/in/a\n", "control"},
		{"BASE/in/a\u0085", "control"},
		{"BASE/in/\u007f", "control"},
		{"BASE/in/\u2028", "control"},
		{"", "empty"},
		{" /etc/passwd", "space"},
		{"/etc/passwd ", "space"},
		{"\u00a0/etc/passwd", "space"},
		{"~", "begins with '~'"},
		{"~/x", "begins with '~'"},
		{"~root/x", "begins with '~'"},
		{"%7e/x", "begins with '~'"},
		{"～/x", "begins with '~'"},
		{"@~/x", "begins with '~'"},
		{"@/etc/passwd", "is outside"},
		{`"/etc/passwd"`, "begins with"},
		{"$HOME/x", "begins with '$'"},
		{"sub/${HOME}", "variable"},
		{"BASE/in/{..,x}/out", "pattern"},
		// Addresses.
		{"http://example.com/in", "address"},
		{"sftp://BASE/in", "address"},
		{"data:/x", "address"},
		{"file:BASE/in/file", "address"},
		{"file:x", "address"},
		{"C:/x", "address"},
		{`C:\x`, "address"},
		{"host:/x", "address"},
		{"user@host:/x", "address"},
		{"http%3a//example.com", "address"},
		{"file://hostBASE/in/file", "another machine"},
		{"file://..BASE/in/file", "another machine"},
		{"file://", "another machine"},
		{"file://x", "another machine"},
		{"file://BASE/out/file", "is outside"},
		{"file:///etc/passwd", "is outside"},
		{"file://BASE/in/../in/file", "'..'"},
		{"file://BASE/in/%2e%2e/in/file", "'..'"},
		{"file://BASE/in/%2e%2e%2fout", "'..'"},
		{"file://BASE/in/file?x", "more than a path"},
		{"file://BASE/in/file#x", "more than a path"},
		{"file://BASE/in/toout/file", "is outside"},
		{"file://BASE/in/%00", "control"},
		{"file://localhost@evilBASE/in/file", "another machine"},
		{"/" + strings.Repeat("a", maxPath), "too long"},
	} {
		value := strings.ReplaceAll(test.value, "BASE", base)
		why := within(value, []string{in}, in)
		if test.why == "" && why != "" || !strings.Contains(why, test.why) {
			t.Errorf("%s: %q, want %q", test.value, why, test.why)
		}
	}
}

func TestWithinFolders(t *testing.T) {
	base := tree(t)
	at := func(name string) string { return filepath.Join(base, name) }
	for _, test := range []struct {
		value  string
		roots  []string
		folder string
		holds  bool
	}{
		{at("out/file"), []string{at("in"), at("out")}, "", true},
		{at("file"), []string{at("in"), at("out")}, "", false},
		{at("in/file"), []string{at("alias")}, "", true}, // the root is a link
		{at("alias/file"), []string{at("alias")}, "", true},
		{at("in/toout/file"), []string{at("in/toout")}, "", true},
		{at("in/file"), []string{"/"}, "", true},
		{at("in/file"), []string{at("in/")}, "", true},
		{at("new/x"), []string{at("new")}, "", true}, // not made yet
		{at("newer/x"), []string{at("new")}, "", false},
		{at("in/file"), []string{at("in/file")}, "", true},
		{at("in/file"), []string{""}, "", false},
		{"file", []string{"."}, base, false},
		{"file", []string{at("in")}, "", false},
		{"file", []string{at("in")}, "in", false},
		{"file", []string{at("in")}, at("out"), false},
		{"../in/file", []string{at("in")}, at("out"), true},
		{"../in/file", []string{at("in")}, at("alias"), true},
		{"../x", []string{at("in/sub")}, at("out/deep"), false}, // in/sub/x, or out/x
		{"x", []string{at("in/sub")}, at("out/deep"), true},
		{"l/../../z", []string{at("out"), at("z")}, at("out/deep"), false}, // z, out/z, or in/sub/z
		{"l/../../z", []string{at("out"), at("z"), at("in/sub")}, at("out/deep"), true},
		{at("out/deep"), []string{at("in")}, "", false}, // a link that can be deleted
		{at("out/deep/"), []string{at("in")}, "", false},
		{at("out/deep/new"), []string{at("in")}, "", true},
		{at("alias"), []string{at("in")}, "", false},
		{at("alias"), []string{at("alias")}, "", true},
		{at("alias/"), []string{at("alias")}, "", true},
		{at("in/file"), []string{at("in/loop")}, "", false},
	} {
		if why := within(test.value, test.roots, test.folder); (why == "") != test.holds {
			t.Errorf("%s in %s from %s: %q", test.value, test.roots, test.folder, why)
		}
	}
	// As the file system has it.
	_, err := os.Stat(at("IN"))
	if why := within(at("IN/file"), []string{at("in")}, ""); (why == "") != (err == nil) {
		t.Errorf("another case: %q, %v", why, err)
	}
	// Judged at the moment of the check.
	if err := os.Remove(at("in/todeep")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(at("out"), at("in/todeep")); err != nil {
		t.Fatal(err)
	}
	if within(at("in/todeep/x"), []string{at("in")}, "") == "" {
		t.Error("a link that changed is not followed")
	}
}

func TestWindowsPaths(t *testing.T) {
	for path, isOdd := range map[string]bool{
		`C:\in\file`: false, `c:/in/file`: false, `in\file`: false, `in\..\file`: false, `.`: false, `C:\in\.hidden`: false, `C:\in\a~1`: false, `C:\in\COM`: false, `C:\in\console`: false,
		`C:file`: true, `C:`: true, `\file`: true, `/file`: true, `\\host\share`: true, `//host/share`: true, `\\?\C:\in`: true, `\\.\pipe\x`: true, `\??\C:\in`: true, `C:\\host`: true, `1:\x`: true,
		`C:\in\file::$DATA`: true, `C:\in\file:stream`: true, `in:stream`: true, `C:\in\.. \out`: true, `C:\in\...\out`: true, `C:\in\file.`: true, `C:\in\file `: true, `C:\in\NUL`: true, `C:\in\con.txt`: true, `C:\in\com1`: true, `C:\in\LPT¹.x`: true, `C:\in\*`: true, `C:\in\CONIN$`: true, `C:\in\nul .x`: true,
	} {
		if why := oddWindowsPath(path); (why != "") != isOdd {
			t.Errorf("%s: %q", path, why)
		}
	}
}

// What holds is inside for the system, and for programs that decode or shorten it first.
func FuzzWithin(f *testing.F) {
	base := tree(f)
	for _, seed := range []string{
		"in/file", "in/../out", "in/toout/file", "in/%2e%2e/file", `in/..\out`, "in/todeep/../../../out", "alias/file", "out/back/../file", "in/dangling", "in/x%2ey", "in/a%20b/file", "in/up/in/file", "out/deep/../../file",
	} {
		f.Add("/"+seed, true)
		f.Add(seed, false)
		f.Add(strings.TrimPrefix(seed, "in/"), false)
	}
	in := filepath.Join(base, "in")
	isInside := func(path string) bool { return path == in || strings.HasPrefix(path, in+"/") }
	f.Fuzz(func(t *testing.T, value string, isAbsolute bool) {
		if isAbsolute {
			value = base + value
		}
		if within(value, []string{in}, in) != "" {
			return
		}
		readings := []string{value, strings.ReplaceAll(value, `\`, "/"), strings.TrimSpace(value)}
		for _, reading := range readings[:2] {
			if decoded, err := url.PathUnescape(reading); err == nil {
				readings = append(readings, decoded)
				if again, err := url.PathUnescape(decoded); err == nil {
					readings = append(readings, again)
				}
			}
		}
		for _, reading := range readings {
			reading, _ = strings.CutPrefix(reading, "file://")
			if !filepath.IsAbs(reading) {
				reading = in + "/" + reading
			}
			for _, path := range []string{reading, filepath.Clean(reading)} {
				if opened, ok := openedPath(path); ok && !isInside(opened) {
					t.Errorf("%q holds, and opens %s", value, opened)
				}
				// A file that does not exist is made in its folder, which must be inside.
				if folder, ok := openedPath(filepath.Dir(path)); ok && filepath.Clean(path) != in && !isInside(folder) && !isInside(path) {
					t.Errorf("%q holds, and is in %s", value, folder)
				}
			}
		}
	})
}

// openedPath opens a file or folder, and returns its path as the system knows it.
func openedPath(path string) (string, bool) {
	file, err := os.Open(path)
	if err != nil {
		return "", false
	}
	defer file.Close()
	if name, err := os.Readlink("/proc/self/fd/" + strconv.FormatUint(uint64(file.Fd()), 10)); err == nil {
		return name, true
	}
	name, err := filepath.EvalSymlinks(path)
	return name, err == nil
}

func BenchmarkWithin(b *testing.B) {
	base := tree(b)
	in := filepath.Join(base, "in")
	for name, value := range map[string]string{
		"usual": in + "/sub/file", "absent": in + strings.Repeat("/a", 1900), "down": in + strings.Repeat("/sub/..", 500), "links": in + strings.Repeat("/self", 39),
		"encoded": in + `/@%40\％` + strings.Repeat("/sub/..", 500),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				within(value, []string{in}, in)
			}
		})
	}
}

// A relative path must hold wherever the server may start it.
func TestRelativePathOfSeveralFolders(t *testing.T) {
	root := t.TempDir()
	project := filepath.Join(root, "project")
	if err := os.Mkdir(project, 0o700); err != nil {
		t.Fatal(err)
	}
	r := Requirement{Argument: "path", Condition: Condition{Within: []string{project}}}
	for _, test := range []struct {
		path   string
		others []string
		holds  bool
	}{
		{"a", nil, true},
		{"a", []string{project}, true},
		{"a", []string{root}, false},
		{"project/a", []string{root}, true},
		{"../project/a", nil, true},
		{"../project/a", []string{root}, false},
		{filepath.Join(project, "a"), []string{root}, true},
	} {
		arguments := wire.Raw(append(wire.AppendMember([]byte("{"), "path", test.path), '}'))
		if unmet := r.Unmet(arguments, project, test.others...); (unmet == "") != test.holds {
			t.Errorf("%s with %v: %q", test.path, test.others, unmet)
		}
	}
}
