package audit

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestProbe(t *testing.T) {
	folder := t.TempDir()
	missing := filepath.Join(folder, "a", "b")
	for _, path := range []string{folder, missing} {
		if err := Probe(path); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	if left, _ := os.ReadDir(folder); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
	if err := os.WriteFile(filepath.Join(folder, "a"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{missing, filepath.Dir(missing)} {
		if err := Probe(path); !errors.Is(err, syscall.ENOTDIR) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
