//go:build unix

package runtimedir

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func environment(runtimeDir string) func(string) string {
	return func(name string) string {
		if name == "XDG_RUNTIME_DIR" {
			return runtimeDir
		}
		return ""
	}
}

func TestOpen(t *testing.T) {
	base := shortDir(t)
	long := filepath.Join(base, strings.Repeat("x", 100))
	open := filepath.Join(base, "open")
	linked := filepath.Join(base, "linked")
	for _, dir := range []string{filepath.Join(base, "run"), filepath.Join(open, "mcp-workbench"), linked} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(open, "mcp-workbench"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(base, "run"), filepath.Join(linked, "mcp-workbench")); err != nil {
		t.Fatal(err)
	}
	state := filepath.Join(base, "state")
	tests := []struct{ name, runtimeDir, state, want string }{
		{"the system's", filepath.Join(base, "run"), state, filepath.Join(base, "run", "mcp-workbench")},
		{"none", "", state, filepath.Join(state, "run")},
		{"relative", "run", state, filepath.Join(state, "run")},
		{"one that is not there", filepath.Join(base, "gone"), state, filepath.Join(state, "run")},
		{"open to others", open, state, filepath.Join(state, "run")},
		{"a link", linked, state, filepath.Join(state, "run")},
		{"too long", "", long, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir, err := Open(environment(test.runtimeDir), test.state)
			if err != nil {
				t.Fatal(err)
			}
			if test.want == "" {
				if !strings.HasPrefix(dir.path, "/tmp/mcp-workbench-") {
					t.Errorf("it is %s", dir.path)
				}
				return
			}
			if info, err := os.Lstat(dir.path); err != nil || dir.path != test.want || info.Mode().Perm() != 0o700 {
				t.Errorf("it is %s (%v, %v), want %s", dir.path, info, err, test.want)
			}
		})
	}
}

// shortDir is a temporary folder whose name a socket can hold.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "rd")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func TestListen(t *testing.T) {
	dir, err := Open(environment(shortDir(t)), "")
	if err != nil {
		t.Fatal(err)
	}
	path := dir.Path("s")
	if _, err := Dial(t.Context(), path); !IsAbsent(err) {
		t.Errorf("without a socket: %v", err)
	}
	stale, err := net.ListenUnix("unix", &net.UnixAddr{Name: path})
	if err != nil {
		t.Fatal(err)
	}
	stale.SetUnlinkOnClose(false)
	stale.Close()
	if _, err := Dial(t.Context(), path); !IsAbsent(err) {
		t.Errorf("with a socket that nobody listens on: %v", err)
	}
	listener, err := dir.Listen("s")
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket is %v, %v", info, err)
	}
	if _, err := dir.Listen("s"); !errors.Is(err, ErrInUse) {
		t.Errorf("a second one listens: %v", err)
	}
	conn, err := Dial(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	listener.Close()
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket stays: %v", err)
	}
}

func TestCheckPeerNeedsASocket(t *testing.T) {
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	if err := CheckPeer(a); err == nil {
		t.Error("a pipe has no peer that is known")
	}
}
