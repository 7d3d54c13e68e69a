//go:build unix

package safefile

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestReadDoesNotWaitForThePipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Read(path, 1<<10); err == nil || !strings.Contains(err.Error(), "it is not a file") {
		t.Errorf("error %v", err)
	}
}

func TestStrangers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		mode, forbidden fs.FileMode
		want            string
	}{
		{0o700, ReadOrChange, ""},
		{0o640, ReadOrChange, "can be read by other users"},
		{0o604, ReadOrChange, "can be read by other users"},
		{0o611, ReadOrChange, "can be read by other users"},
		{0o660, ReadOrChange, "can be changed by its group"},
		{0o666, ReadOrChange, "can be changed by every user of this machine"},
		{0o755, Change, ""},
		{0o620, Change, "can be changed by its group"},
		{0o602, Change, "can be changed by every user of this machine"},
	} {
		if err := os.Chmod(path, test.mode); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := AccessProblem(info, test.forbidden); got != test.want {
			t.Errorf("mode %o, forbidden %o: %q, want %q", test.mode, test.forbidden, got, test.want)
		}
		if got := StrangerProblem(info, test.forbidden); got != test.want || IsForeign(info) {
			t.Errorf("mode %o, forbidden %o: %q, want %q", test.mode, test.forbidden, got, test.want)
		}
	}
}

func TestIdentity(t *testing.T) {
	folder := t.TempDir()
	seen := make(map[[2]uint64]bool)
	for _, name := range []string{"a", "b", "a"} {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		device, file := Identity(info)
		seen[[2]uint64{device, file}] = true
	}
	if len(seen) != 2 {
		t.Errorf("two files have %d identities", len(seen))
	}
}

func TestStrangersOwn(t *testing.T) {
	path := "/"
	if os.Geteuid() == 0 { // that is our own
		path = t.TempDir()
		if err := os.Chown(path, 1, -1); err != nil {
			t.Skip(err)
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := AccessProblem(info, Change); got != "belongs to another user" || !IsForeign(info) {
		t.Errorf("the folder of another user %q", got)
	}
	want := "belongs to another user"
	if owner, _ := ownerOf(info); owner == 0 { // who may own everything
		want = ""
	}
	if got := StrangerProblem(info, Change); got != want {
		t.Errorf("the folder of another user %q, want %q", got, want)
	}
}
