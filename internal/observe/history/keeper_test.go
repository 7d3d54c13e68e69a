package history

import (
	"bytes"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

const week = 7 * 24 * time.Hour

// logTo returns a log that a test reads.
func logTo(text *bytes.Buffer) *slog.Logger { return slog.New(slog.NewTextHandler(text, nil)) }

func storedIn(t *testing.T, folder string) []Record {
	t.Helper()
	records, err := ReadStored(folder, 1_000_000, func(Owner, *Record) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	return records
}

func names(t *testing.T, folder string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		all = append(all, entry.Name())
	}
	return all
}

func TestKeeping(t *testing.T) {
	one := newCall(t, "x")
	synctest.Test(t, func(t *testing.T) {
		folder := Folder(t.TempDir())
		h := newHistory()
		add(h, one, 2) // before anybody asked for it
		var log bytes.Buffer
		k := h.Keep(folder, week, time.Now(), logTo(&log))
		synctest.Wait()
		if _, err := os.Stat(folder); !os.IsNotExist(err) {
			t.Errorf("without calls there is a folder: %v", err)
		}
		add(h, one, 3)
		time.Sleep(writePause)
		synctest.Wait()
		if got := numbers(storedIn(t, folder)); !slices.Equal(got, []uint64{3, 4, 5}) {
			t.Errorf("stored are %v", got)
		}
		add(h, one, 1)
		if err := k.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if got := numbers(storedIn(t, folder)); !slices.Equal(got, []uint64{3, 4, 5, 6}) || log.Len() > 0 {
			t.Errorf("after the end, stored are %v; the log has %s", got, &log)
		}
		for _, name := range names(t, folder) {
			info, err := os.Stat(filepath.Join(folder, name))
			if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
				t.Errorf("%s: %v, %v", name, info.Mode(), err)
			}
		}
		// Another keeper of the same workbench goes on in a file of its own.
		k = h.Keep(folder, week, time.Now().Add(-writePause), logTo(&log))
		synctest.Wait()
		add(h, one, 1)
		if err := k.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if got := numbers(storedIn(t, folder)); !slices.Equal(got, []uint64{3, 4, 5, 6, 7}) || len(names(t, folder)) != 2 {
			t.Errorf("stored are %v in %v", got, names(t, folder))
		}
	})
}

func TestFilesRotate(t *testing.T) {
	one := newCall(t, "x")
	synctest.Test(t, func(t *testing.T) {
		folder := t.TempDir()
		h := newHistory()
		k := h.Keep(folder, week, time.Now(), slog.New(slog.DiscardHandler))
		synctest.Wait()
		add(h, one, 1)
		time.Sleep(25 * time.Hour)
		add(h, one, 1)
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := names(t, folder); len(got) != 2 || got[0][:8] != "20000101" || got[1][:8] != "20000102" {
			t.Errorf("the files of two days are %v", got)
		}
		// A file that somebody removed is begun again.
		for _, name := range names(t, folder) {
			if err := os.Remove(filepath.Join(folder, name)); err != nil {
				t.Fatal(err)
			}
		}
		add(h, one, 1)
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := numbers(storedIn(t, folder)); !slices.Equal(got, []uint64{3}) {
			t.Errorf("stored are %v", got)
		}
		if err := k.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
	f := &files{folder: t.TempDir(), keep: week, owner: Owner{1, 2}}
	defer f.close()
	for range 5 {
		if err := f.write(bytes.Repeat([]byte("x"), maxFile/2-100), time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	if got := names(t, f.folder); len(got) != 3 {
		t.Errorf("the files are %v", got)
	}
}

func TestOldFilesAreRemoved(t *testing.T) {
	folder, now := t.TempDir(), time.Now()
	for name, age := range map[string]time.Duration{
		"20260101-1-1-1.jsonl": week + time.Minute, "20260102-1-1-2.jsonl": week - time.Minute, "20260103-1-1-3.jsonl": time.Hour,
		"notes.jsonl": 100 * week, "20260101-1-1-1.txt": 100 * week,
	} {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte("{}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	f := &files{folder: folder, keep: week}
	if err := f.clean(now); err != nil {
		t.Error(err)
	}
	if got := names(t, folder); !slices.Equal(got, []string{"20260101-1-1-1.txt", "20260102-1-1-2.jsonl", "20260103-1-1-3.jsonl", "notes.jsonl"}) {
		t.Errorf("there are still %v", got)
	}
	// All together are bounded: the oldest goes first.
	if err := os.Truncate(filepath.Join(folder, "20260103-1-1-3.jsonl"), maxKept); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(filepath.Join(folder, "20260103-1-1-3.jsonl"), now, now); err != nil {
		t.Fatal(err)
	}
	if err := f.clean(now); err != nil {
		t.Error(err)
	}
	if got := names(t, folder); slices.Contains(got, "20260102-1-1-2.jsonl") || !slices.Contains(got, "20260103-1-1-3.jsonl") {
		t.Errorf("there are still %v", got)
	}
	if err := (&files{folder: filepath.Join(folder, "none"), keep: week}).clean(now); err != nil {
		t.Error(err)
	}
}

// Calls that cannot be written are counted, and the next record that can be says how many.
func TestCallsThatCannotBeWritten(t *testing.T) {
	one := newCall(t, "x")
	synctest.Test(t, func(t *testing.T) {
		parent := t.TempDir()
		folder := filepath.Join(parent, "history")
		if err := os.WriteFile(folder, nil, 0o600); err != nil { // where the folder should be
			t.Fatal(err)
		}
		h := newHistory()
		var log bytes.Buffer
		k := h.Keep(folder, week, time.Now(), logTo(&log))
		synctest.Wait()
		for range 3 {
			add(h, one, 2)
			time.Sleep(time.Second)
			synctest.Wait()
		}
		if got := strings.Count(log.String(), "cannot be written"); got != 1 {
			t.Errorf("told %d times: %s", got, &log)
		}
		if err := os.Remove(folder); err != nil {
			t.Fatal(err)
		}
		add(h, one, 2)
		if err := k.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if got := storedIn(t, folder); len(got) != 2 || got[0].Seq != 7 || got[0].Lost != 6 || got[1].Lost != 0 {
			t.Errorf("stored are %+v", got)
		}
	})
}

// A history that forgets calls before they are written says how many.
func TestCallsThatComeTooFast(t *testing.T) {
	one := newCall(t, "x")
	synctest.Test(t, func(t *testing.T) {
		folder := t.TempDir()
		h := newHistory()
		k := h.Keep(folder, week, time.Now(), slog.New(slog.DiscardHandler))
		synctest.Wait()
		add(h, one, 1)
		synctest.Wait() // it pauses now
		add(h, one, maxRecords+50)
		if err := k.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if got := storedIn(t, folder); len(got) != maxRecords || got[0].Lost != 51 {
			t.Errorf("stored are %d, lost were %d", len(got), got[0].Lost)
		}
	})
}

func TestReadingStoredCalls(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string, changed int64) {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Unix(changed, 0), time.Unix(changed, 0)); err != nil {
			t.Fatal(err)
		}
	}
	line := func(seq, at string) string {
		return `{"pid":1,"seq":` + seq + `,"time":"2026-11-16T10:00:` + at + `Z"}` + "\n"
	}
	write("20261116-1-1-1.jsonl", line("1", "01")+`{"pid":1,"se`+"\n"+"not JSON\n\n"+line("2", "05"), 1794823205)
	write("20261116-1-1-2.jsonl", line("3", "09")+`{"pid":1,"seq":4,"time":"2026-`, 1794823209)
	write("20261116-7-1-1.jsonl", line("1", "03")+line("2", "07"), 1794823207)
	write("20261116-8-1-1.jsonl", strings.Repeat("x", maxLine+1)+"\n"+line("1", "04"), 1794823207)
	write("other.jsonl", line("9", "09"), 1794823209)
	all := func(Owner, *Record) bool { return true }
	for _, test := range []struct {
		limit  int
		wanted func(Owner, *Record) bool
		want   []uint64
	}{
		{100, all, []uint64{1, 1, 2, 2, 3}},
		{2, all, []uint64{2, 3}},
		{1, all, []uint64{3}},
		{100, func(o Owner, r *Record) bool { return o.PID == 7 && r.Seq > 1 }, []uint64{2}},
	} {
		if got, err := ReadStored(folder, test.limit, test.wanted); err != nil || !slices.Equal(numbers(got), test.want) {
			t.Errorf("limit %d: %v, %v, want %v", test.limit, numbers(got), err, test.want)
		}
	}
	if got, err := ReadStored(filepath.Join(folder, "none"), 10, all); err != nil || got != nil {
		t.Errorf("a folder that does not exist: %v, %v", got, err)
	}
	if _, err := ReadStored(filepath.Join(folder, "other.jsonl"), 10, all); !errors.As(err, new(*fs.PathError)) {
		t.Errorf("no folder: %v", err)
	}
}

// A file that cannot be read does not hide the others.
func TestUnreadableFilesAreLeftOut(t *testing.T) {
	folder := t.TempDir()
	line := `{"pid":1,"seq":1,"time":"2026-01-01T00:00:00Z","outcome":"ok"}` + "\n"
	torn := line + `{"pid":1,"seq":` + "\n\x00\xff\n" + strings.Replace(line, `"seq":1`, `"seq":2`, 1) + `{"pid"`
	if err := os.WriteFile(filepath.Join(folder, "20260101-1-5-1.jsonl"), []byte(torn), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(folder, "20260101-2-5-1.jsonl")); err != nil {
		t.Skip(err)
	}
	if err := os.Mkdir(filepath.Join(folder, "20260101-3-5-1.jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}
	unreadable := filepath.Join(folder, "20260101-4-5-1.jsonl")
	if err := os.WriteFile(unreadable, []byte(line), 0o000); err != nil {
		t.Fatal(err)
	}
	found, err := ReadStored(folder, 10, func(owner Owner, _ *Record) bool { return owner == Owner{1, 5} })
	if len(found) != 2 || found[0].Seq != 1 || found[1].Seq != 2 {
		t.Errorf("found %+v", found)
	}
	if isRoot := os.Geteuid() == 0; (err == nil) != isRoot || err != nil && !strings.Contains(err.Error(), unreadable) {
		t.Errorf("the error is %v", err)
	}
	changed := 0
	err = ReadChanged(folder, time.Now().Add(-time.Hour), func(owner Owner) bool { return owner.PID == 1 }, func(_ Owner, one Record) { changed += int(one.Seq) })
	if err != nil || changed != 3 {
		t.Errorf("changed are %d, %v", changed, err)
	}
}
