package safefile

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestFollow(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(path string) string { return filepath.Join(dir, filepath.FromSlash(path)) }
	for _, folder := range []string{"a/deep", "b"} {
		if err := os.MkdirAll(at(folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(at("b/file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{
		"a/up": "../b", "a/absolute": at("b/file"), "a/deep/chain": "../up/../a/absolute", "a/loop": "loop", "a/nowhere": "none",
	} {
		if err := os.Symlink(filepath.FromSlash(target), at(link)); err != nil {
			t.Skip(err)
		}
	}
	for _, test := range []struct {
		path  string
		links []string
	}{
		{"b/file", nil},
		{"a/../b/./file", nil},
		{"a/up/file", []string{"a/up"}},
		{"a/absolute", []string{"a/absolute"}},
		{"a/deep/chain", []string{"a/deep/chain", "a/up", "a/absolute"}},
	} {
		links, target, err := Follow(dir + "/" + test.path)
		for i := range test.links {
			test.links[i] = at(test.links[i])
		}
		if err != nil || target != at("b/file") || !slices.Equal(links, test.links) {
			t.Errorf("%s leads to %s through %v, %v", test.path, target, links, err)
		}
	}
	for _, path := range []string{"a/loop", "a/nowhere", "a/none", "b/file/x"} {
		if _, _, err := Follow(at(path)); err == nil {
			t.Errorf("%s leads somewhere", path)
		}
	}
}
