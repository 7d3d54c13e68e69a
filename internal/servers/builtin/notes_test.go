package builtin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/safefile"
	"github.com/mcp-workbench/mcp-workbench/internal/base/stored"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
)

func testNotes(t *testing.T) *notes {
	return &notes{
		store: &store{
			path: filepath.Join(t.TempDir(), "data", "mcp-workbench", "notes.json"),
			most: 1 << 20,
			wait: lockWait,
		},
		now: at("2026-03-29T12:00:00+02:00"),
	}
}

func ids(out notesOutput) string {
	var all []string
	for _, k := range out.Notes {
		all = append(all, strconv.Itoa(k.ID))
	}
	return strings.Join(all, " ")
}

func TestNotes(t *testing.T) {
	n := testNotes(t)
	session := connect(t, n, nil)
	if out, text := call[notesOutput](t, session, "recall", args{}); len(out.Notes) != 0 || text != "No notes found." {
		t.Errorf("an empty notebook holds %s", text)
	}
	if _, err := os.Stat(filepath.Dir(n.store.path)); !errors.Is(err, os.ErrNotExist) {
		t.Error("reading made a folder")
	}
	for i, a := range []args{
		{"text": "The database is PostgreSQL 17.", "title": "Database", "tags": []string{"Project", "#db", "project "}},
		{"text": "Straße 5, Köln\n", "tags": []string{"address"}},
		{"text": "The test database is SQLite.", "tags": []string{"project"}},
	} {
		out, text := call[rememberOutput](t, session, "remember", a)
		if out.ID != i+1 || !out.Created.Equal(n.now()) {
			t.Errorf("remembered %+v", out)
		}
		contains(t, text, fmt.Sprintf("note %d", i+1))
	}
	for _, test := range []struct {
		tool string
		args args
		want string
		note string
	}{
		{"recall", args{}, "3 2 1", ""},
		{"recall", args{"latest": 2}, "3 2", "1 older note was left out"},
		{"recall", args{"tag": "#PROJECT"}, "3 1", ""},
		{"recall", args{"id": 2}, "2", ""},
		{"search_notes", args{"words": "DATABASE the"}, "3 1", ""},
		{"search_notes", args{"words": "database", "limit": 1}, "3", "1 older note was left out"},
		{"search_notes", args{"words": "db postgres"}, "1", ""},
		{"search_notes", args{"words": "KÖLN"}, "2", ""},
		{"search_notes", args{"words": "database köln"}, "", ""},
	} {
		out, _ := call[notesOutput](t, session, test.tool, test.args)
		if got := ids(out); got != test.want {
			t.Errorf("%s %v: got %s, want %s", test.tool, test.args, got, test.want)
		}
		contains(t, out.Note, test.note)
	}
	_, text := call[notesOutput](t, session, "recall", args{"id": 1})
	if want := "[1] Database (2026-03-29T10:00:00Z, tags: project, db)\nThe database is PostgreSQL 17.\n"; text != want {
		t.Errorf("got %s, want %s", text, want)
	}

	if out, _ := call[forgetOutput](t, session, "forget", args{"id": 3}); out.Left != 2 {
		t.Errorf("forgot %+v", out)
	}
	callError(t, session, "forget", args{"id": 3}, "no note 3", "recall")
	callError(t, session, "recall", args{"id": 3}, "no note 3")
	if out, _ := call[rememberOutput](t, session, "remember", args{"text": "new"}); out.ID != 4 {
		t.Errorf("id %d was used again", out.ID)
	}
}

func TestNotesBounds(t *testing.T) {
	n := testNotes(t)
	session := connect(t, n, nil)
	for _, test := range []struct {
		tool string
		args args
		want string
	}{
		{"remember", args{"text": " \n"}, "empty"},
		{"remember", args{"text": strings.Repeat("x", maxNoteBytes+1)}, "may be 16384"},
		{"remember", args{"text": "x", "title": strings.Repeat("ä", maxTitleLength+1)}, "title is 201 characters"},
		{"remember", args{"text": "x", "tags": make([]string, maxTags+1)}, "17 tags"},
		{"remember", args{"text": "x", "tags": []string{" # "}}, "cannot be used"},
		{"remember", args{"text": "x", "tags": []string{strings.Repeat("x", maxTagLength+1)}}, "cannot be used"},
		{"recall", args{"latest": maxRecall + 1}, "latest cannot be 101"},
		{"search_notes", args{"words": " "}, "no words"},
		{"search_notes", args{"words": strings.Repeat("x ", maxQuery)}, "Use fewer words"},
	} {
		callError(t, session, test.tool, test.args, test.want)
	}

	text := strings.Repeat("x", maxNoteBytes)
	fill := func(count int, text string) {
		err := n.store.update(t.Context(), func(book *notebook) error {
			*book = notebook{Version: stored.Notebook.Format, NextID: count + 1}
			for i := range count {
				book.Notes = append(book.Notes, note{ID: i + 1, Text: text})
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	fill(maxNotes, "x")
	callError(t, session, "remember", args{"text": "one too many"}, "5000 notes", "forget")
	fill(n.store.most/maxNoteBytes-1, text)
	callError(t, session, "remember", args{"text": text}, "1024 KiB together", "forget")
	out, _ := call[notesOutput](t, session, "recall", args{"latest": 100})
	if len(out.Notes) != maxAnswerBytes/maxNoteBytes {
		t.Errorf("%d notes in one answer", len(out.Notes))
	}
	contains(t, out.Note, "left out")
}

func TestNotesArePrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such permissions")
	}
	n := testNotes(t)
	dir := filepath.Dir(n.store.path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	call[rememberOutput](t, connect(t, n, nil), "remember", args{"text": "secret"})
	for path, want := range map[string]os.FileMode{
		dir: 0o700, n.store.path: 0o600, n.store.path + ".lock": 0o600,
	} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %o", path, got)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".notes-*")); len(left) != 0 {
		t.Errorf("left behind %v", left)
	}
}

func TestNotesOfANewerFormatAreKept(t *testing.T) {
	n := testNotes(t)
	const newer = `{"version":2,"next_id":1,"notes":[],"more":true}`
	if err := os.MkdirAll(filepath.Dir(n.store.path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(n.store.path, []byte(newer), 0o600); err != nil {
		t.Fatal(err)
	}
	session := connect(t, n, nil)
	callError(t, session, "remember", args{"text": "x"}, n.store.path, "written by a newer mcp-workbench (format 2, this one knows 1)")
	callError(t, session, "recall", args{}, n.store.path)
	if kept, err := os.ReadFile(n.store.path); err != nil || string(kept) != newer {
		t.Errorf("the file was changed, %v", err)
	}
}

func TestDamagedNotesAreKept(t *testing.T) {
	for name, text := range map[string]string{
		"empty":         "",
		"cut off":       `{"version":1,"next_id":2,"notes":[{"id":1,"te`,
		"trailing":      `{"version":1,"next_id":1,"notes":[]} x`,
		"other version": `{"version":0,"next_id":1,"notes":[]}`,
		"unknown field": `{"version":1,"next_id":1,"notes":[],"more":1}`,
		"double id":     `{"version":1,"next_id":3,"notes":[{"id":1,"text":"a","created":"2026-01-01T00:00:00Z"},{"id":1,"text":"b","created":"2026-01-01T00:00:00Z"}]}`,
		"old next id":   `{"version":1,"next_id":1,"notes":[{"id":1,"text":"a","created":"2026-01-01T00:00:00Z"}]}`,
		"huge":          `{"version":1,"next_id":1,"notes":[]}` + strings.Repeat(" ", 1<<20),
	} {
		t.Run(name, func(t *testing.T) {
			n := testNotes(t)
			if err := os.MkdirAll(filepath.Dir(n.store.path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(n.store.path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			session := connect(t, n, nil)
			callError(t, session, "remember", args{"text": "x"}, n.store.path, "is damaged", "left as it is")
			callError(t, session, "recall", args{}, n.store.path, "is damaged")
			callError(t, session, "search_notes", args{"words": "x"}, n.store.path)
			callError(t, session, "forget", args{"id": 1}, n.store.path)
			if kept, err := os.ReadFile(n.store.path); err != nil || string(kept) != text {
				t.Errorf("the damaged file was changed, %v", err)
			}
		})
	}
}

func TestNotesFolderCannotBeMade(t *testing.T) {
	n := testNotes(t)
	n.store.path = filepath.Join(t.TempDir(), "file", "notes.json")
	if err := os.WriteFile(filepath.Dir(n.store.path), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	callError(t, connect(t, n, nil), "remember", args{"text": "x"}, "prepare the folder", n.store.path, "Nothing was changed")
}

func TestLockedNotes(t *testing.T) {
	n := testNotes(t)
	if err := n.store.update(t.Context(), func(*notebook) error { return nil }); err != nil {
		t.Fatal(err)
	}
	// In the bubble the wait takes no time.
	synctest.Test(t, func(t *testing.T) {
		release, err := n.store.lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if _, err := n.store.read(t.Context()); !errors.Is(err, safefile.ErrLocked) {
			t.Errorf("reading a locked file: %v", err)
		}
		if waited := time.Since(start); waited != lockWait {
			t.Errorf("gave up after %v", waited)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := n.store.update(ctx, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled update: %v", err)
		}
		time.AfterFunc(time.Second, release)
		if _, err := n.store.read(t.Context()); err != nil {
			t.Errorf("reading after the lock was released: %v", err)
		}
	})
}

const writerRounds = 25

// writeNotes is the role of a second process: it adds notes, one by one.
func writeNotes(path string) int {
	s := &store{path: path, most: 1 << 20, wait: time.Minute}
	for range writerRounds {
		err := s.update(context.Background(), func(book *notebook) error {
			book.Notes = append(book.Notes, note{ID: book.NextID, Text: strconv.Itoa(os.Getpid())})
			book.NextID++
			return nil
		})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return 0
}

func TestNotesOfManyProcesses(t *testing.T) {
	n := testNotes(t)
	var wait sync.WaitGroup
	for range 2 {
		wait.Go(func() {
			cmd := exec.CommandContext(t.Context(), mcptest.Self(), mcptest.RoleArgs("writer", n.store.path)...)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("writer: %v: %s", err, out)
			}
		})
		wait.Go(func() {
			if code := writeNotes(n.store.path); code != 0 {
				t.Error("writer in this process failed")
			}
		})
	}
	wait.Wait()
	book, err := n.store.read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := len(book.Notes), 4*writerRounds; got != want || book.NextID != want+1 {
		t.Errorf("%d notes, next is %d; want %d", got, book.NextID, want)
	}
}

func TestNotesPath(t *testing.T) {
	home := func() (string, error) { return "/home/u", nil }
	for _, test := range []struct {
		goos, key, value, want string
	}{
		{"linux", "", "", "/home/u/.local/share/mcp-workbench/notes.json"},
		{"linux", "XDG_DATA_HOME", "/data", "/data/mcp-workbench/notes.json"},
		{"linux", "XDG_DATA_HOME", "relative", "/home/u/.local/share/mcp-workbench/notes.json"},
		{"darwin", "XDG_DATA_HOME", "/data", "/home/u/Library/Application Support/mcp-workbench/notes.json"},
		{"windows", "LocalAppData", "/Local", "/Local/mcp-workbench/notes.json"},
		{"windows", "", "", "/home/u/AppData/Local/mcp-workbench/notes.json"},
		{"linux", PersonVariable, PersonKey("ann"), "/home/u/.local/share/mcp-workbench/notes-49915e0d7d4b402e3017d010bc1c0e83.json"},
	} {
		if runtime.GOOS == "windows" && test.key == "XDG_DATA_HOME" {
			continue // the paths are not absolute there
		}
		getenv := func(key string) string {
			if key == test.key {
				return test.value
			}
			return ""
		}
		got, err := notesPath(test.goos, getenv, home)
		if err != nil || filepath.ToSlash(got) != test.want {
			t.Errorf("%s with %s=%s: %s, %v", test.goos, test.key, test.value, got, err)
		}
	}
	_, err := notesPath("linux", func(string) string { return "" }, func() (string, error) { return "", errors.New("no home") })
	if e, ok := errors.AsType[*toolbox.Error](err); !ok || e.Hint == "" {
		t.Errorf("without a home: %v", err)
	}
}
