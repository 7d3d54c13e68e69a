//go:build unix

package doctor

import (
	"path/filepath"
	"testing"
	"time"
)

func TestLoginShell(t *testing.T) {
	folder := t.TempDir()
	program := filepath.Join(folder, "tools", "program")
	write(t, program, "#!/bin/sh\n", 0o700)
	tests := []struct {
		name, script string
		patience     time.Duration
		want         string
	}{
		{"finds it", "echo PATH=/old\necho PATH=" + filepath.Dir(program) + "\n", waitTime, program},
		{"does not", "echo PATH=/nowhere\n", waitTime, ""},
		{"fails", "exit 1\n", waitTime, ""},
		{"waits for input", "read line\necho PATH=" + filepath.Dir(program) + "\n", waitTime, program},
		{"hangs", "sleep 600 &\nsleep 600\n", 100 * time.Millisecond, ""},
		{"is no program", "", waitTime, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "shell")
			if test.script != "" {
				write(t, name, "#!/bin/sh\n"+test.script, 0o700)
			}
			shell := newLoginShell([]string{"SHELL=" + name, "PATH=/usr/bin:/bin"})
			shell.patience = test.patience
			if got := shell.find(t.Context(), "program"); got != test.want {
				t.Errorf("it is found at %q, not %q", got, test.want)
			}
		})
	}
}

func TestRealLoginShell(t *testing.T) {
	shell := newLoginShell([]string{"SHELL=/bin/sh", "PATH=/usr/bin:/bin", "HOME=" + t.TempDir()})
	if got := shell.find(t.Context(), "env"); filepath.Base(got) != "env" {
		t.Errorf("env is found at %q", got)
	}
}

func TestFindUsual(t *testing.T) {
	home := t.TempDir()
	write(t, filepath.Join(home, ".nvm/versions/node/v20.1.0/bin/an-odd-name"), "", 0o700)
	newest := filepath.Join(home, ".nvm/versions/node/v22.1.0/bin/an-odd-name")
	write(t, newest, "", 0o700)
	local := filepath.Join(home, ".local/bin/another-odd-name")
	write(t, local, "", 0o700)
	write(t, filepath.Join(home, ".local/bin/no-program"), "", 0o600)
	for command, want := range map[string]string{
		"an-odd-name": newest, "another-odd-name": local, "no-program": "", "nowhere-at-all": "",
	} {
		if got := findUsual(home, command); got != want {
			t.Errorf("%s is found at %q, not %q", command, got, want)
		}
	}
}

func TestNeedsInterpreter(t *testing.T) {
	for content, want := range map[string]bool{
		"#!/usr/bin/env node\n": true, "#!/bin/sh\n": false, "\x7fELF": false, "": false,
	} {
		path := filepath.Join(t.TempDir(), "file")
		write(t, path, content, 0o700)
		if got := needsInterpreter(path); got != want {
			t.Errorf("of %q it is %v", content, got)
		}
	}
}
