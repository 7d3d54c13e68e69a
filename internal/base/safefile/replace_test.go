package safefile

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
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
