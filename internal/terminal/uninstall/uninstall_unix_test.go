//go:build unix

package uninstall

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// The socket of a workbench that goes on running stays, whatever else is removed.
func TestSocketsInUseStay(t *testing.T) {
	folder, err := os.MkdirTemp("/tmp", "wb") // a socket's name has to be short
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	used, stale := filepath.Join(folder, "control-1"), filepath.Join(folder, "control-2")
	for _, path := range []string{used, stale} {
		listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: path})
		if err != nil {
			t.Fatal(err)
		}
		listener.SetUnlinkOnClose(false)
		defer func() { _ = listener.Close() }()
		if path == stale {
			_ = listener.Close()
		}
	}
	machine := &Machine{Sockets: []string{folder}}
	groups, err := machine.Find()
	if err != nil || len(groups) != 1 || len(groups[0].Items) != 1 || groups[0].Items[0].Path != stale {
		t.Fatalf("found %+v, %v", groups, err)
	}
	if err := groups[0].Remove(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(used); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(stale); err == nil {
		t.Error("the socket of a killed program stays")
	}
	if left := machine.Left("/p"); !slices.Contains(left, Left{used, "a workbench that still runs listens on it"}) {
		t.Errorf("left is %v", left)
	}
}
