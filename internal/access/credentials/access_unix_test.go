//go:build unix

package credentials

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
)

func TestAsNobody(t *testing.T) {
	if err := mcptest.AsNobody(t.TempDir(), "TestModes|TestExposed|TestSealing|TestSaveAndLoad|TestFolderThatCannotBeWritten"); err != nil {
		t.Error(err)
	}
}

func TestModes(t *testing.T) {
	s := newStore(t)
	save(t, s, full(testKey))
	for path, want := range map[string]fs.FileMode{
		s.folder: fs.ModeDir | 0o700, pathOf(s, testKey): 0o600, strings.TrimSuffix(pathOf(s, testKey), suffix) + lockSuffix: 0o600,
	} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode() != want {
			t.Errorf("%s has mode %v, want %v", path, info.Mode(), want)
		}
	}
}

func TestExposed(t *testing.T) {
	s := newStore(t)
	c := full(testKey)
	save(t, s, c)
	path := pathOf(s, testKey)
	for _, test := range []struct {
		path          string
		mode          fs.FileMode
		message, hint string
	}{
		{path, 0o640, " can be read by other users", "chmod 600 " + path},
		{path, 0o604, " can be read by other users", "chmod 600 " + path},
		{path, 0o660, " can be changed by its group", "chmod 600 " + path},
		{path, 0o606, " can be changed by every user", "chmod 600 " + path},
		{s.folder, 0o770, " can be changed by its group", "chmod 700 " + s.folder},
		{s.folder, 0o707, " can be changed by every user", "chmod 700 " + s.folder},
	} {
		info, err := os.Stat(test.path)
		if err != nil {
			t.Fatal(err)
		}
		stamp := s.Stamp(testKey.Server, testKey.Account)
		if err := os.Chmod(test.path, test.mode); err != nil {
			t.Fatal(err)
		}
		if test.path == path && s.Stamp(testKey.Server, testKey.Account) == stamp {
			t.Error("another mode has the same stamp")
		}
		_, loading := s.Load(testKey)
		found, finding := s.Find(testKey.Server, testKey.Account)
		all, listing := s.All()
		for _, err := range []error{loading, finding, listing} {
			assertUnusable(t, err, test.path, test.message, test.hint)
		}
		if len(found)+len(all) > 0 {
			t.Errorf("found %v, %v", found, all)
		}
		if l, err := s.Lock(t.Context(), testKey); err != nil {
			assertUnusable(t, err, test.path, test.message, test.hint)
		} else {
			assertUnusable(t, l.Save(c), test.path, test.message, test.hint)
			l.Unlock()
		}
		if err := os.Chmod(test.path, info.Mode()); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Load(testKey); err != nil {
			t.Errorf("after it was repaired: %v", err)
		}
	}
}

// The command in the error creates a key that can be used.
func TestCommandThatCreatesAKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "it's a key")
	s := Open(Folder(t.TempDir()), Options{Seal: SealOptions{Seal: "file", KeyFile: path}})
	l := lock(t, s, testKey)
	shown, ok := errors.AsType[*toolbox.Error](l.Save(full(testKey)))
	if !ok {
		t.Fatal("a login was saved without a key")
	}
	command, ok := strings.CutPrefix(shown.Hint, "To create it: ")
	if !ok {
		t.Fatalf("no command in %q", shown.Hint)
	}
	if output, err := exec.Command("sh", "-c", command).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	if err := l.Save(full(testKey)); err != nil {
		t.Error(err)
	}
}

func TestFilesOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	s := newStore(t)
	save(t, s, full(testKey))
	for _, path := range []string{pathOf(s, testKey), s.folder} {
		if err := os.Chown(path, 1, -1); err != nil {
			t.Skip(err)
		}
		_, err := s.Load(testKey)
		assertUnusable(t, err, path, "belongs to another user", "ls -ld "+path)
	}
	if _, err := s.Lock(t.Context(), testKey); err == nil {
		t.Error("a lock was taken in the folder of another user")
	}
}

func TestFolderThatCannotBeWritten(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root can write everywhere")
	}
	s := newStore(t)
	c := full(testKey)
	save(t, s, c)
	l := lock(t, s, testKey)
	if err := os.Chmod(s.folder, 0o500); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.Chmod(s.folder, 0o700) }()
	before := c.Generation
	assertUnusable(t, l.Save(c), pathOf(s, testKey), "permission denied", "ls -ld "+s.folder)
	assertUnusable(t, l.Delete(), pathOf(s, testKey), "permission denied", "ls -ld "+s.folder)
	if got, err := s.Load(testKey); err != nil || got.Generation != before || c.Generation != before {
		t.Errorf("%v, %v", got, err)
	}
}
