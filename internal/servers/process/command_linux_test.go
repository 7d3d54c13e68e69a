package process

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestStartErrors(t *testing.T) {
	dir := t.TempDir()
	notExecutable := filepath.Join(dir, "data")
	if err := os.WriteFile(notExecutable, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		spec Spec
		is   error
		want []string
	}{
		{"no command", Spec{}, nil, []string{"no command"}},
		{"not in PATH", Spec{Command: "no-such", Env: []string{"PATH=/nowhere:/bin"}}, exec.ErrNotFound, []string{`"no-such"`, "not found", "/nowhere:/bin"}},
		{"relative PATH", Spec{Command: "data", Dir: dir, Env: []string{"PATH=."}}, exec.ErrNotFound, []string{"not found"}},
		{"missing file", Spec{Command: "/nowhere/server"}, fs.ErrNotExist, []string{"/nowhere/server", "not found"}},
		{"missing file in folder", Spec{Command: "./server", Dir: dir}, fs.ErrNotExist, []string{`"./server"`, dir, "not found"}},
		{"not executable", Spec{Command: notExecutable}, fs.ErrPermission, []string{notExecutable, "permission denied"}},
		{"not executable in PATH", Spec{Command: "data", Env: []string{"PATH=" + dir}}, fs.ErrPermission, []string{notExecutable, "permission denied"}},
		{"missing folder", Spec{Command: "true", Dir: "/nowhere/at/all"}, fs.ErrNotExist, []string{`"/nowhere/at/all"`, "does not exist"}},
		{"folder is a file", Spec{Command: "true", Dir: notExecutable}, nil, []string{notExecutable, "not a directory"}},
		{"missing interpreter", Spec{Command: script(t, "#!/nowhere/node\n")}, fs.ErrNotExist, []string{"interpreter", "not found"}},
		{"no program", Spec{Command: script(t, "plain text")}, nil, []string{"no program for this system"}},
	}
	h := newTestHost(t, HostOptions{})
	before := openFiles(t)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := h.Start(test.spec)
			if err == nil {
				t.Fatal("it was started")
			}
			if test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("error %q is not %q", err, test.is)
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
		})
	}
	closeHost(t, h)
	// The poller and the guard's null device may have come in between.
	if after := openFiles(t); after > before+4 {
		t.Errorf("%d files are open, before it were %d", after, before)
	}
}

func TestCommandIsFoundWhereTheChildLooks(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "server"), []byte("#!/bin/sh\necho \"$0 $PWD $HOME $1\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", "/our/home")
	h := newTestHost(t, HostOptions{})
	for _, spec := range []Spec{
		{Command: "server", Env: []string{"PATH=/nowhere", "PATH=" + dir}},
		{Command: "./server"},
		{Command: filepath.Join(dir, "server")},
	} {
		spec.Dir = dir
		spec.Args = []string{"$HOME"} // no shell, no expansion
		p := start(t, h, spec)
		out, err := io.ReadAll(p.Stdout())
		want := filepath.Join(dir, "server") + " " + dir + "  $HOME\n"
		if err != nil || string(out) != want {
			t.Errorf("%q: read %q, %v, want %q", spec.Command, out, err, want)
		}
		stop(t, p)
	}
}
