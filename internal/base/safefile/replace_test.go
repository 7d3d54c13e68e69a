package safefile

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

func TestReplace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	for _, want := range []string{"first", "second, which is longer", ""} {
		if err := Replace(path, ".new-*", []byte(want)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("the file holds %q, %v; want %q", got, err, want)
		}
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the file's mode is %v, %v", info.Mode(), err)
	}
	assertAlone(t, path)
}

func TestReplaceDurably(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	modified := time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)
	for i, want := range []string{"first", "other"} {
		modified = modified.Add(time.Microsecond)
		if err := ReplaceDurably(path, ".new-*", []byte(want), modified); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil || !info.ModTime().Equal(modified) {
			t.Errorf("version %d: time %v, %v", i, info.ModTime(), err)
		}
		expect(t, path, want, 0o600)
	}
	assertAlone(t, path)
	if err := ReplaceDurably(filepath.Join(path, "no", "file"), ".new-*", nil, modified); err == nil {
		t.Error("a file was made in a folder that does not exist")
	}
}

func TestReplaceFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "folder")
	if err := os.MkdirAll(filepath.Join(path, "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Replace(path, ".new-*", []byte("x")); err == nil {
		t.Error("a folder was replaced by a file")
	}
	assertAlone(t, path)
	if err := Replace(filepath.Join(path, "no", "file"), ".new-*", nil); err == nil {
		t.Error("a file was made in a folder that does not exist")
	}
}

// assertAlone checks that no temporary file is left beside the path.
func assertAlone(t *testing.T, path string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("the folder holds %v, %v", entries, err)
	}
}
