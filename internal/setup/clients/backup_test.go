package clients

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
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
		if _, err := store.Store(Backup{Client: "zed", File: "/f"}, []byte(fmt.Sprintf(`{"n": %d}`, i)), []byte("{}"), time.Unix(int64(i), 0)); err != nil {
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
	if before, err := b.Before(); string(before) != fmt.Sprintf(`{"n": %d}`, keptBackups+4) || err != nil {
		t.Errorf("%q, %v", before, err)
	}
}

// A change is kept for good while it is the only one that has a server which was taken out.
func TestBackupsKeepOnlyCopies(t *testing.T) {
	store := Backups{Dir: t.TempDir()}
	file := filepath.Join(t.TempDir(), "mcp.json")
	second := 0
	add := func(before, after string) {
		second++
		if _, err := store.Store(Backup{Client: "cursor", File: file}, []byte(before), []byte(after), time.Unix(int64(second), 0)); err != nil {
			t.Fatal(err)
		}
	}
	entry := `"workbench": {"command": "mcp-workbench"}`
	add(`{"mcpServers": {"a": {"command": "old"}}}`, `{"mcpServers": {`+entry+`}}`)
	add(`{"mcpServers": {"a": {"command": "x"}}}`, `{"mcpServers": {`+entry+`}}`)
	add(`{"mcpServers": {"a": {"command": "x"}}}`, `{"mcpServers": {`+entry+`}}`) // the same once more
	for range keptBackups + 5 {
		add(`{"mcpServers": {`+entry+`}}`, `{"mcpServers": {}}`)
	}
	all, err := store.all("cursor")
	if err != nil || len(all) != keptBackups {
		t.Fatalf("%d, %v", len(all), err)
	}
	for i, want := range []string{"old", "x"} {
		if before, err := (&Backup{path: all[i], Was: true}).Before(); err != nil || !strings.Contains(string(before), want) {
			t.Errorf("%s, %v", before, err)
		}
	}
	taken, err := ByID("cursor").TakenOut(store, file)
	if err != nil || len(taken) != 1 || taken[0].Name != "a" {
		t.Errorf("%v, %v", taken, err)
	}
	only, err := store.OnlyCopies()
	if err != nil || len(only) != 1 || only[all[1]] == "" {
		t.Errorf("%v, %v", only, err)
	}
}
