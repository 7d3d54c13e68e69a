//go:build unix

package builtin

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"
)

// A file whose place a named pipe takes after it was looked at is not waited for.
func TestFileThatBecameAPipe(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := newFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.root.Close()
	if _, _, err := f.openNow("pipe"); !errors.Is(err, errSpecial) {
		t.Errorf("error %v", err)
	}
}
