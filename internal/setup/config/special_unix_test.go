//go:build unix

package config

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// What is no file is refused at once; a test that waits for a pipe never ends.
func TestSpecialFiles(t *testing.T) {
	const why = "it is a device, a named pipe or a socket"
	for _, name := range []string{"c.json", EnvFileName, "workbench.lock"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "c.json")
			if err := os.WriteFile(path, []byte(`{"locked": true, "toolboxes": {}}`), 0o600); err != nil {
				t.Fatal(err)
			}
			_ = os.Remove(filepath.Join(dir, name))
			if err := syscall.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := Load(path, nil); err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), why) {
				t.Errorf("error %v", err)
			}
		})
	}
	if _, err := Load("/dev/zero", nil); err == nil || !strings.Contains(err.Error(), why) {
		t.Errorf("error of a device: %v", err)
	}
}

// Of a file that a person named, others are told; of one that was found, trust judges.
func TestExposed(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(dir, "folder")
	path := filepath.Join(folder, "c.json")
	for _, test := range []struct {
		name         string
		file, folder os.FileMode
		origin       Origin
		want         string
	}{
		{"nobody else", 0o644, 0o755, Named, ""},
		{"group of the file", 0o660, 0o755, Named, "c.json can be changed by its group"},
		{"all of the file", 0o602, 0o755, Named, "can be changed by every user"},
		{"group of the folder", 0o600, 0o775, Named, "folder can be changed by its group"},
		{"all of the folder", 0o600, 0o777, Named, "folder can be changed by every user"},
		{"sticky folder", 0o600, 0o777 | os.ModeSticky, Named, ""},
		{"found", 0o660, 0o777, Local, ""},
		{"the user's own", 0o660, 0o755, User, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if err := os.MkdirAll(folder, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(`{"toolboxes": {}}`), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, test.file); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(folder, test.folder); err != nil {
				t.Fatal(err)
			}
			source, err := ReadAt(Place{Path: path, Origin: test.origin})
			if err != nil {
				t.Fatal(err)
			}
			cfg, err := source.Load(nil)
			if err != nil {
				t.Fatal(err)
			}
			var said []string
			for _, warning := range cfg.Warnings {
				said = append(said, warning.String())
			}
			got := strings.Join(said, "\n")
			if (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
				t.Errorf("warnings %q, want %q", got, test.want)
			}
		})
	}
}
