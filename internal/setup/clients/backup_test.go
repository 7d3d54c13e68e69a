package clients

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

func TestBackups(t *testing.T) {
	store := Backups{Dir: filepath.Join(t.TempDir(), "a", "b")}
	if b, err := store.Last("cursor", ""); b != nil || err != nil {
		t.Errorf("an empty store has %v, %v", b, err)
	}
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	keep := func(client, file, before, after string, second int) {
		t.Helper()
		var was []byte
		if before != "" {
			was = []byte(before)
		}
		if _, err := store.Store(Backup{Client: client, File: file}, was, []byte(after), start.Add(time.Duration(second)*time.Second)); err != nil {
			t.Fatal(err)
		}
	}
	keep("vscode", "/a", "one", "two", 0)
	keep("vscode", "/b", "", "new", 1)
	keep("vscode-insiders", "/c", "x", "y", 2)

	b, err := store.Last("vscode", "")
	if err != nil || b.File != "/b" || b.Was {
		t.Errorf("the last is %+v, %v", b, err)
	}
	if written, err := b.Written(); string(written) != "new" || err != nil {
		t.Errorf("%q was written, %v", written, err)
	}
	if before, err := b.Before(); before != nil || err != nil {
		t.Errorf("a new file was %q, %v", before, err)
	}
	if err := store.Remove(b); err != nil {
		t.Fatal(err)
	}
	b, err = store.Last("vscode", "/a")
	if err != nil {
		t.Fatal(err)
	}
	if before, err := b.Before(); string(before) != "one" || err != nil {
		t.Errorf("before it was %q, %v", before, err)
	}
	if info, err := os.Stat(b.Path()); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if b, err := store.Last("vscode", "/b"); b != nil || err != nil {
		t.Errorf("what was forgotten is %v, %v", b, err)
	}
}

func TestBackupsAreBounded(t *testing.T) {
	store := Backups{Dir: t.TempDir()}
	for i := range keptBackups + 5 {
		if _, err := store.Store(Backup{Client: "zed", File: "/f"}, []byte(fmt.Sprint(i)), []byte("x"), time.Unix(int64(i), 0)); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(store.Dir)
	if err != nil || len(entries) != 3*keptBackups {
		t.Errorf("%d files, %v", len(entries), err)
	}
	b, err := store.Last("zed", "/f")
	if err != nil {
		t.Fatal(err)
	}
	if before, err := b.Before(); string(before) != fmt.Sprint(keptBackups+4) || err != nil {
		t.Errorf("%q, %v", before, err)
	}
}
