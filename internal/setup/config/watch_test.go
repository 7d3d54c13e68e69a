package config

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// watch watches a file, from now on, until the test ends; each change gives a token.
func watch(t *testing.T, path string) <-chan struct{} {
	t.Helper()
	began, changes := make(chan struct{}), make(chan struct{}, 100)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- Watch(ctx, path, func() { close(began) }, func() { changes <- struct{}{} }) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	select {
	case <-began:
	case err := <-ended:
		ended <- err
		t.FailNow()
	}
	return changes
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// notice fails if one change is not noticed.
func notice(t *testing.T, changes <-chan struct{}, change func()) {
	t.Helper()
	change()
	select {
	case <-changes:
	case <-time.After(20 * time.Second):
		t.Fatal("the change was not noticed")
	}
}

func TestWatch(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "workbench-config.json")
	put(t, path, "{}")
	changes := watch(t, path)
	for name, change := range map[string]func(){
		"written":  func() { put(t, path, "{} ") },
		"replaced": func() { put(t, path+".new", "{}  "); mustRename(t, path+".new", path) },
		"variables": func() {
			put(t, filepath.Join(folder, EnvFileName), "A=1\n")
		},
	} {
		t.Run(name, func(t *testing.T) { notice(t, changes, change) })
	}
}

func TestWatchThroughALink(t *testing.T) {
	folder, elsewhere := t.TempDir(), t.TempDir()
	target, path := filepath.Join(elsewhere, "real.json"), filepath.Join(folder, "workbench-config.json")
	put(t, target, "{}")
	if err := os.Symlink(target, path); err != nil {
		t.Skip("links cannot be made here: ", err)
	}
	changes := watch(t, path)
	notice(t, changes, func() { put(t, target, "{} ") })
}

// TestWatchMissingFolder checks that a file is noticed whose folder does not exist yet, or
// not any more.
func TestWatchMissingFolder(t *testing.T) {
	above := filepath.Join(t.TempDir(), "a")
	path := filepath.Join(above, "b", "file.json")
	changes := watch(t, path)
	until := func(want string) {
		t.Helper()
		for read := []byte("?"); string(read) != want; {
			notice(t, changes, func() {})
			read, _ = os.ReadFile(path) // "" if it is missing
		}
	}
	for _, text := range []string{"first", "second"} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		put(t, path, text)
		until(text)
		if err := os.RemoveAll(above); err != nil {
			t.Fatal(err)
		}
		until("")
	}
}

func TestConcerns(t *testing.T) {
	f := folders{path: filepath.FromSlash("/x/a/workbench-config.json"), target: filepath.FromSlash("/b")}
	for name, want := range map[string]bool{
		"/x/a/workbench-config.json": true, "/x/a/workbench.env": true, "/x/a/workbench.lock": true, "/x/a/other.json": false,
		"/b/anything": true, "/x/a": true, "/x": true, "/x/ab": false, "/x/other": false,
	} {
		if got := f.concerns(filepath.FromSlash(name)); got != want {
			t.Errorf("concerns(%s) = %t, want %t", name, got, want)
		}
	}
}

func mustRename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}
