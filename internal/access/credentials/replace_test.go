package credentials

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
)

func TestRemoveUnusable(t *testing.T) {
	s := newStore(t)
	broken, whole, other := testKey, testKey, testKey
	broken.Issuer, other.Account = "https://broken.example.com", "home"
	for _, key := range []Key{broken, whole, other} {
		save(t, s, full(key))
	}
	for _, key := range []Key{broken, other} {
		if err := os.WriteFile(pathOf(s, key), []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	removed, err := s.RemoveUnusable(t.Context(), testKey.Server, testKey.Account)
	if err != nil || len(removed) != 1 || removed[0] != pathOf(s, broken) {
		t.Errorf("removed %v, %v", removed, err)
	}
	if found, err := s.Find(testKey.Server, testKey.Account); err != nil || len(found) != 1 || found[0].Key != whole {
		t.Errorf("left: %v, %v", found, err)
	}
	if _, err := os.Stat(pathOf(s, other)); err != nil {
		t.Errorf("the file of another account: %v", err)
	}
	if removed, err := Open("", Options{}).RemoveUnusable(t.Context(), "a", "b"); removed != nil || err != nil {
		t.Errorf("without a folder: %v, %v", removed, err)
	}
}

func TestCheckWritable(t *testing.T) {
	s := newStore(t)
	if err := s.CheckWritable(); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(s.folder); err != nil || len(entries) > 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
	if err := Open("", Options{}).CheckWritable(); !errors.Is(err, ErrNoFolder) {
		t.Errorf("without a folder: %v", err)
	}
	occupied := newStore(t)
	if err := os.WriteFile(occupied.folder, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, ok := errors.AsType[*BrokenError](occupied.CheckWritable()); !ok {
		t.Error("a file passed for the folder")
	}
	sealed := Open(s.folder, Options{Seal: SealOptions{Seal: "file", KeyFile: filepath.Join(t.TempDir(), "no.key")}})
	err := sealed.CheckWritable()
	shown, ok := errors.AsType[*toolbox.Error](err)
	if !ok || shown.Code != toolbox.LoginsSealed || !strings.HasPrefix(shown.Message, "Logins cannot be encrypted, and so cannot be stored: the key file ") {
		t.Errorf("without a key: %v", err)
	}
}
