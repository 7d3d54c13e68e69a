package safefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	const limit = 2 << 10
	dir := t.TempDir()
	for name, size := range map[string]int{"empty": 0, "full": limit, "larger": limit + 1} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.Repeat("x", size)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		path string
		size int
		want string // of the error
	}{
		{"empty", 0, ""},
		{"full", limit, ""},
		{"larger", 0, "it is larger than 2 KiB"},
		{".", 0, "it is not a file"},
	} {
		t.Run(test.path, func(t *testing.T) {
			data, info, err := Read(filepath.Join(dir, test.path), limit)
			if len(data) != test.size || info == nil {
				t.Errorf("%d bytes, info %v", len(data), info)
			}
			if test.want == "" && err == nil {
				return
			}
			if wrong, ok := errors.AsType[*fs.PathError](err); !ok || wrong.Err.Error() != test.want {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
	if _, info, err := Read(filepath.Join(dir, "none"), limit); info != nil || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("info %v, error %v of a file that is not there", info, err)
	}
}
