package safefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestEdit(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	for _, err := range []error{os.WriteFile(file, []byte("old"), 0o640), os.Chmod(file, 0o640), os.Symlink(file, link)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := Edit(link, ".x-*", []byte("older"), []byte("new"), 0o600); !errors.Is(err, ErrChanged) {
		t.Errorf("a file that is another one: %v", err)
	}
	if err := Edit(link, ".x-*", nil, []byte("new"), 0o600); !errors.Is(err, ErrChanged) {
		t.Errorf("a file that came meanwhile: %v", err)
	}
	if err := Edit(link, ".x-*", []byte("old"), []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	expect(t, file, "new", 0o640)
	if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v, %v", info, err)
	}
	if err := Edit(file+"-gone", ".x-*", []byte("old"), []byte("new"), 0o600); !errors.Is(err, ErrChanged) {
		t.Errorf("a file that went meanwhile: %v", err)
	}
}

func TestEditMakesFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a", "b", "file")
	if err := Edit(file, ".x-*", nil, []byte("new"), 0o644); err != nil {
		t.Fatal(err)
	}
	expect(t, file, "new", 0o644)
}

func expect(t *testing.T, path, content string, mode fs.FileMode) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || string(got) != content {
		t.Errorf("%q, %v", got, err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm() != mode {
		t.Errorf("mode %v, want %v", info.Mode().Perm(), mode)
	}
}

// A link to a file that does not exist yet is followed, and stays.
func TestEditThroughLinkToMissingFile(t *testing.T) {
	dir := t.TempDir()
	first, second := filepath.Join(dir, "first"), filepath.Join(dir, "second")
	for _, err := range []error{os.Symlink("second", first), os.Symlink(filepath.Join("folder", "file"), second)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := Edit(first, ".x-*", nil, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "folder", "file")); err != nil || string(data) != "new" {
		t.Errorf("%q, %v", data, err)
	}
	if _, err := os.Readlink(first); err != nil {
		t.Errorf("the link is gone: %v", err)
	}
	if err := errors.Join(os.Remove(second), os.Symlink("first", second)); err != nil {
		t.Fatal(err)
	}
	if err := Edit(first, ".x-*", nil, []byte("new"), 0o600); err == nil {
		t.Error("a circle of links is written")
	}
}
