package builtin

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// tree makes files below a new folder, and returns the folder served.
func tree(t *testing.T, files map[string]string) *folder {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	f, err := newFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func link(t *testing.T, f *folder, target, name string) {
	t.Helper()
	if err := os.Symlink(target, filepath.Join(f.dir, name)); err != nil {
		t.Skip("links cannot be made here:", err)
	}
}

func paths(out listOutput) string {
	var all []string
	for _, e := range out.Entries {
		all = append(all, e.Path)
	}
	return strings.Join(all, " ")
}

func TestList(t *testing.T) {
	f := tree(t, map[string]string{
		"a.go": "package a", "b.md": "", "src/c.go": "", "src/deep/d.go": "", "src/deep/e.ts": "",
		".git/config": "", "node_modules/x/y.go": "", "grüße/日本.txt": "hi",
	})
	session := connect(t, f, nil)
	for _, test := range []struct {
		args args
		want string
		note string
	}{
		{args{}, "a.go b.md grüße src", "Skipped .git and node_modules; set all"},
		{args{"all": true}, ".git a.go b.md grüße node_modules src", ""},
		{args{"path": "src"}, "src/c.go src/deep", ""},
		{args{"path": "src/", "depth": 2}, "src/c.go src/deep src/deep/d.go src/deep/e.ts", ""},
		{args{"path": f.dir + "/src"}, "src/c.go src/deep", ""},
		{args{"path": "src/../grüße"}, "grüße/日本.txt", ""},
		{args{"path": "node_modules", "depth": 3}, "node_modules/x node_modules/x/y.go", ""},
		{args{"glob": "*.go"}, "a.go src/c.go src/deep/d.go", ""},
		{args{"glob": "*.go", "depth": 1}, "a.go", ""},
		{args{"path": "src", "glob": "deep/*.{go,ts}"}, "src/deep/d.go src/deep/e.ts", ""},
		{args{"glob": "日*"}, "grüße/日本.txt", ""},
		{args{"glob": "nothing"}, "", ""},
		{args{"limit": 2, "glob": "*.go", "all": true}, "a.go node_modules/x/y.go", "2 more were left out; raise limit"},
	} {
		out, text := call[listOutput](t, session, "list_files", test.args)
		if got := paths(out); got != test.want {
			t.Errorf("%v: got %s, want %s", test.args, got, test.want)
		}
		contains(t, out.Note, test.note)
		contains(t, text, test.note)
	}
	out, text := call[listOutput](t, session, "list_files", args{"path": "grüße"})
	if e := out.Entries[0]; e.Type != "file" || e.Size != 2 || e.Modified == "" {
		t.Errorf("entry is %+v", e)
	}
	contains(t, text, "grüße/日本.txt (2 bytes)")
}

func TestListBudget(t *testing.T) {
	f := tree(t, map[string]string{"a": "", "b": "", "c/d": "", "c/e": "", "c/f": ""})
	f.limits.entries = 4
	session := connect(t, f, nil)
	out, _ := call[listOutput](t, session, "list_files", args{"depth": 5})
	if len(out.Entries) != 4 {
		t.Errorf("listed %s", paths(out))
	}
	contains(t, out.Note, "Gave up after 4 entries")
}

func TestFilesRefuses(t *testing.T) {
	f := tree(t, map[string]string{"a.txt": "x\n", "bin": "ab\x00cd", "late": strings.Repeat("text\n", 4000) + "\x00"})
	session := connect(t, f, nil)
	for _, test := range []struct {
		tool string
		args args
		want []string
	}{
		{"list_files", args{"path": "a.txt"}, []string{"is a file", "read_file"}},
		{"list_files", args{"path": "none"}, []string{`no "none"`, "list_files"}},
		{"list_files", args{"limit": 99999}, []string{"limit cannot be 99999", "1 to 2000"}},
		{"list_files", args{"depth": -1}, []string{"depth cannot be -1"}},
		{"list_files", args{"glob": "[a"}, []string{"malformed"}},
		{"list_files", args{"glob": strings.Repeat("{a,b}", 7)}, []string{"more than 64"}},
		{"list_files", args{"glob": strings.Repeat("a", 300)}, []string{"300 bytes"}},
		{"read_file", args{"path": "."}, []string{"is a folder", "list_files"}},
		{"read_file", args{"path": "bin"}, []string{"binary file of 5 bytes", "text only"}},
		{"read_file", args{"path": "late", "offset": 3999}, []string{"binary"}},
		{"read_file", args{"path": "a.txt", "offset": 2}, []string{"only 1 line", "smaller offset"}},
		{"read_file", args{"path": "a.txt", "offset": -2}, []string{"offset cannot be -2"}},
		{"read_file", args{"path": "a.txt/b"}, []string{"a.txt/b"}},
		{"read_file", args{}, []string{"path"}},
		{"search_files", args{"query": ""}, []string{"empty"}},
		{"search_files", args{"query": "(", "regexp": true}, []string{"regular expression", "RE2"}},
		{"search_files", args{"query": strings.Repeat("x", 2000)}, []string{"2000 bytes"}},
		{"search_files", args{"query": "x", "path": "none"}, []string{`no "none"`}},
		{"search_files", args{"query": "x", "max_results": 5000}, []string{"max_results cannot be 5000"}},
	} {
		callError(t, session, test.tool, test.args, test.want...)
	}
}

func TestFilesStayInside(t *testing.T) {
	f := tree(t, map[string]string{"in/file.txt": "inside needle\n"})
	outside := filepath.Join(t.TempDir(), "secret.txt")
	if err := os.WriteFile(outside, []byte("outside needle\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	link(t, f, outside, "out-file")
	link(t, f, filepath.Dir(outside), "out-folder")
	link(t, f, "../..", "up")
	link(t, f, filepath.Join("in", "file.txt"), "in-file")
	link(t, f, filepath.Join(f.dir, "in"), "in-folder") // absolute, yet inside
	link(t, f, "loop", "loop")
	session := connect(t, f, nil)

	for _, path := range []string{
		"..", "../x", "in/../../x", "/", "/etc/passwd", outside, f.dir + "-sibling/x",
		"out-file", "out-folder/secret.txt", "up", "up/etc", "in-folder/../out-file",
	} {
		callError(t, session, "read_file", args{"path": path}, "leads outside the folder", "not followed")
		callError(t, session, "search_files", args{"path": path, "query": "x"}, "leads outside the folder")
	}
	callError(t, session, "list_files", args{"path": "out-folder"}, "leads outside the folder")
	callError(t, session, "read_file", args{"path": "loop"}, "loop")

	for _, path := range []string{"in-file", "in-folder/file.txt", "in/file.txt"} {
		if out, _ := call[readOutput](t, session, "read_file", args{"path": path}); out.Text != "inside needle\n" {
			t.Errorf("%s holds %q", path, out.Text)
		}
	}
	if out, _ := call[listOutput](t, session, "list_files", args{"path": "in-folder"}); paths(out) != "in-folder/file.txt" {
		t.Errorf("list of a link is %s", paths(out))
	}
	// Nothing is found twice through links, and nothing outside at all.
	found, text := call[searchOutput](t, session, "search_files", args{"query": "needle"})
	if len(found.Matches) != 1 || found.Matches[0].Path != "in/file.txt" {
		t.Errorf("found %s", text)
	}
	_, text = call[listOutput](t, session, "list_files", args{})
	contains(t, text, "in-file -> in/file.txt", "up -> ../..")
}

func TestUnreadable(t *testing.T) {
	if runtime.GOOS == "windows" || os.Getuid() == 0 {
		t.Skip("this user may read everything")
	}
	f := tree(t, map[string]string{"closed/a": "x", "file": "x", "open": "x"})
	for _, name := range []string{"closed", "file"} {
		path := filepath.Join(f.dir, name)
		if err := os.Chmod(path, 0); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.Chmod(path, 0o755) })
	}
	session := connect(t, f, nil)
	callError(t, session, "read_file", args{"path": "file"}, "permission denied")
	callError(t, session, "list_files", args{"path": "closed"}, "permission denied")
	out, _ := call[searchOutput](t, session, "search_files", args{"query": "x"})
	if out.Complete || len(out.Matches) != 1 {
		t.Errorf("found %+v", out)
	}
	contains(t, out.Note, "1 file could not be read", "1 folder could not be read")
}

func TestReadPages(t *testing.T) {
	var text strings.Builder
	for i := 1; i <= 5000; i++ {
		fmt.Fprintf(&text, "line %d äöü\n", i)
	}
	f := tree(t, map[string]string{"long": text.String(), "empty": "", "no-end": "a\r\nb", "latin": "gr\xfc\xdfe\n"})
	f.limits.readBytes = 20_000
	session := connect(t, f, nil)

	var whole strings.Builder
	pages := 0
	for offset := 1; offset != 0; pages++ {
		out, _ := call[readOutput](t, session, "read_file", args{"path": "long", "offset": offset})
		if out.FirstLine != offset || out.TotalLines != 5000 || len(out.Text) > 20_000 || out.Size != int64(text.Len()) {
			t.Fatalf("page at %d is lines %d to %d of %d, %d bytes", offset, out.FirstLine, out.LastLine, out.TotalLines, len(out.Text))
		}
		if out.NextOffset != 0 {
			contains(t, out.Note, fmt.Sprintf("read on with offset %d", out.NextOffset))
		}
		whole.WriteString(out.Text)
		offset = out.NextOffset
	}
	if whole.String() != text.String() {
		t.Errorf("%d pages do not add up to the file", pages)
	}

	out, _ := call[readOutput](t, session, "read_file", args{"path": "long", "offset": 7, "limit": 2})
	if out.Text != "line 7 äöü\nline 8 äöü\n" || out.NextOffset != 9 {
		t.Errorf("got %+v", out)
	}
	out, note := call[readOutput](t, session, "read_file", args{"path": "empty"})
	if out.Text != "" || out.FirstLine != 0 || !strings.Contains(note, "empty") {
		t.Errorf("got %+v, %s", out, note)
	}
	out, _ = call[readOutput](t, session, "read_file", args{"path": "no-end"})
	if out.Text != "a\r\nb" || out.TotalLines != 2 || out.Note != "" {
		t.Errorf("got %+v", out)
	}
	out, _ = call[readOutput](t, session, "read_file", args{"path": "latin"})
	if out.Text != "gr\uFFFDe\n" {
		t.Errorf("got %q", out.Text)
	}
	contains(t, out.Note, "not valid UTF-8")
}

func TestReadLongLines(t *testing.T) {
	f := tree(t, map[string]string{"wide": "short\n" + strings.Repeat("ä", 200_000) + "\nend\n"})
	session := connect(t, f, nil)
	out, _ := call[readOutput](t, session, "read_file", args{"path": "wide"})
	if out.Text != "short\n" || out.NextOffset != 2 {
		t.Errorf("got %d bytes, next is %d", len(out.Text), out.NextOffset)
	}
	out, _ = call[readOutput](t, session, "read_file", args{"path": "wide", "offset": 2})
	if out.Text != strings.Repeat("ä", 50_000) || out.NextOffset != 3 {
		t.Errorf("got %d bytes, next is %d", len(out.Text), out.NextOffset)
	}
	contains(t, out.Note, "Line 2 is too long", "first 100000 bytes")

	f.limits.readBytes = 1001 // in the middle of a character
	out, _ = call[readOutput](t, session, "read_file", args{"path": "wide", "offset": 2})
	if out.Text != strings.Repeat("ä", 500) {
		t.Errorf("got %d bytes", len(out.Text))
	}
}

func TestReadScanLimit(t *testing.T) {
	f := tree(t, map[string]string{"big": strings.Repeat("0123456789abcde\n", 10_000)})
	f.limits.scanBytes = 80_000
	session := connect(t, f, nil)
	out, _ := call[readOutput](t, session, "read_file", args{"path": "big", "offset": 4000, "limit": 10})
	if out.LastLine != 4009 || out.TotalLines != 0 || out.NextOffset != 4010 {
		t.Errorf("got %+v", out)
	}
	contains(t, out.Note, "of an unknown number")
	callError(t, session, "read_file", args{"path": "big", "offset": 9000}, "beyond its first 80000 bytes")
}

func TestReadNeverCutsSilentlyAtScanLimit(t *testing.T) {
	f := tree(t, map[string]string{"wide": "one\n" + strings.Repeat("x", 200_000)})
	f.limits.readBytes = 300_000
	f.limits.scanBytes = 70_000
	session := connect(t, f, nil)
	out, _ := call[readOutput](t, session, "read_file", args{"path": "wide"})
	if out.Text != "one\n" || out.NextOffset != 2 {
		t.Errorf("got lines %d to %d, %d bytes", out.FirstLine, out.LastLine, len(out.Text))
	}
	out, _ = call[readOutput](t, session, "read_file", args{"path": "wide", "offset": 2})
	contains(t, out.Note, "Line 2 is too long")
}

func TestSpecialFilesAreNotOpened(t *testing.T) {
	if _, err := os.Stat("/dev/null"); err != nil {
		t.Skip("no devices here")
	}
	f, err := newFolder("/dev")
	if err != nil {
		t.Skip(err)
	}
	session := connect(t, f, nil)
	callError(t, session, "read_file", args{"path": "null"}, "neither a file nor a folder")
}
