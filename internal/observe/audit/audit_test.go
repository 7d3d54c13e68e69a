package audit

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if folder := os.Getenv("AUDIT_TEST_WRITER"); folder != "" {
		writeUntilKilled(folder)
		return
	}
	goleak.VerifyTestMain(m)
}

// writeUntilKilled writes to a log, and to stdout what was acknowledged.
func writeUntilKilled(folder string) {
	l := Open(Options{Folder: filepath.Join(folder, "log"), Keys: filepath.Join(folder, "keys")})
	for i := 0; ; i++ {
		_ = l.add(item{body: newFields(eventReload, "ok").number("unacknowledged", int64(i))})
		if err := l.addDurably(context.Background(), newFields(eventReload, "ok").number("acknowledged", int64(i))); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(i)
	}
}

// rig is a log in a folder of the test.
type rig struct {
	t       *testing.T
	options Options
}

func newRig(t *testing.T) *rig {
	folder := t.TempDir()
	return &rig{t, Options{Folder: filepath.Join(folder, "log"), Keys: filepath.Join(folder, "keys")}}
}

func (r *rig) close(l *Log) {
	r.t.Helper()
	if err := l.Close(context.Background()); err != nil {
		r.t.Fatal(err)
	}
}

// write writes a log with a number of entries.
func (r *rig) write(entries int) {
	r.t.Helper()
	l := Open(r.options)
	for i := range entries {
		if err := l.addDurably(context.Background(), newFields(eventReload, "ok").number("n", int64(i))); err != nil {
			r.t.Fatal(err)
		}
	}
	r.close(l)
}

func (r *rig) verify(head string) *Report {
	r.t.Helper()
	key, err := PublicKey(r.options.Keys)
	if err != nil {
		r.t.Fatal(err)
	}
	report, err := Verify(r.options.Folder, VerifyOptions{Keys: []ed25519.PublicKey{key}, Head: head})
	if err != nil {
		r.t.Fatal(err)
	}
	return report
}

// good verifies a log that nothing is wrong with.
func (r *rig) good() *Report {
	r.t.Helper()
	report := r.verify("")
	if len(report.Findings) > 0 {
		r.t.Fatalf("found %v", report.Findings)
	}
	return report
}

func (r *rig) text() string {
	r.t.Helper()
	files, err := filesAt(r.options.Folder)
	if err != nil {
		r.t.Fatal(err)
	}
	var all strings.Builder
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			r.t.Fatal(err)
		}
		all.Write(data)
	}
	return all.String()
}

func TestLogVerifies(t *testing.T) {
	r := newRig(t)
	r.write(3)
	first := r.good()
	if first.Lines != 7 || first.Seals != 2 || first.Sealed != first.Last || first.Files != 1 { // started, a seal, three, ended, a seal
		t.Errorf("the report is %+v of\n%s", first, r.text())
	}
	r.write(2)
	second := r.verify(first.Last.Hash)
	if len(second.Findings) > 0 || !second.HasHead || second.Lines < 12 {
		t.Errorf("the report is %+v of\n%s", second, r.text())
	}
	for path, mode := range map[string]fs.FileMode{
		r.options.Folder: 0o700 | fs.ModeDir, filepath.Join(r.options.Folder, fileName(1)): 0o600,
		filepath.Join(r.options.Keys, sealKeyFile): 0o600, filepath.Join(r.options.Keys, argumentsKeyFile): 0o600,
	} {
		if info, err := os.Stat(path); err != nil || info.Mode() != mode {
			t.Errorf("%s has mode %v, %v", path, info.Mode(), err)
		}
	}
	if left, _ := os.ReadDir(filepath.Join(r.options.Folder, writersDir)); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

func TestUnusedLogIsNotWritten(t *testing.T) {
	r := newRig(t)
	r.close(Open(r.options))
	if _, err := os.Stat(r.options.Folder); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a workbench that did nothing made %s: %v", r.options.Folder, err)
	}
}

// Every change of a byte up to the last seal is found, with its place.
func TestEveryChangeIsFound(t *testing.T) {
	r := newRig(t)
	r.options.maxFile = 700
	r.write(3)
	if report := r.good(); report.Sealed != report.Last || report.Files < 2 {
		t.Fatalf("the report is %+v", report)
	}
	files, _ := filesAt(r.options.Folder)
	for n, path := range files {
		original, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		end := len(original)
		if n == len(files)-1 {
			end -= len("\n") // after the last seal
		}
		for i := range original[:end] {
			for _, bit := range []byte{0x01, 0x20} {
				changed := bytes.Clone(original)
				changed[i] ^= bit
				if err := os.WriteFile(path, changed, 0o600); err != nil {
					t.Fatal(err)
				}
				report := r.verify("")
				line := bytes.Count(original[:i], []byte("\n")) + 1
				if len(report.Findings) == 0 {
					t.Fatalf("%s: byte %d (line %d, %q) can be changed by %#x:\n%s", path, i, line, original[i], bit, changed)
				}
				if at := report.Findings[0]; at.File == path && (at.Line < line-1 || at.Line > line) {
					t.Fatalf("byte %d of line %d was changed, found is %s", i, line, at)
				}
			}
		}
		if err := os.WriteFile(path, original, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestChangesOfLinesAreFound(t *testing.T) {
	for name, change := range map[string]func(lines []string) []string{
		"removed":      func(lines []string) []string { return append(lines[:2:2], lines[3:]...) },
		"doubled":      func(lines []string) []string { return append(lines[:3:3], lines[2:]...) },
		"swapped":      func(lines []string) []string { lines[2], lines[3] = lines[3], lines[2]; return lines },
		"added":        func(lines []string) []string { return append(lines[:2:2], append([]string{"{}"}, lines[2:]...)...) },
		"empty":        func(lines []string) []string { return append(lines[:2:2], append([]string{""}, lines[2:]...)...) },
		"begin is cut": func(lines []string) []string { return lines[1:] },
		"no seals": func(lines []string) []string {
			return strings.Split(strings.ReplaceAll(strings.Join(lines, "\n"), `"seal"`, `"reload"`), "\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.write(3)
			path := filepath.Join(r.options.Folder, fileName(1))
			lines := change(strings.Split(strings.TrimSuffix(r.text(), "\n"), "\n"))
			if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			if report := r.verify(""); len(report.Findings) == 0 {
				t.Errorf("nothing was found in\n%s", r.text())
			}
		})
	}
}

// A tail that is cut off is found only with a head from outside.
func TestCutTailNeedsAHead(t *testing.T) {
	r := newRig(t)
	r.write(3)
	head := r.good().Last.Hash
	path := filepath.Join(r.options.Folder, fileName(1))
	lines := strings.SplitAfter(r.text(), "\n")
	if err := os.WriteFile(path, []byte(strings.Join(lines[:len(lines)-3], "")), 0o600); err != nil {
		t.Fatal(err)
	}
	if report := r.good(); report.Sealed.Seq == 0 || report.Sealed.Seq > 3 || report.Last.Seq != 5 {
		t.Errorf("the report is %+v", report)
	}
	if report := r.verify(head); len(report.Findings) != 1 || !strings.Contains(report.Findings[0].Reason, "cut off") {
		t.Errorf("found %v", report.Findings)
	}
}

// A workbench that runs says that lines are gone.
func TestRunningWriterSeesACut(t *testing.T) {
	r := newRig(t)
	l := Open(r.options)
	add := func() {
		if err := l.addDurably(context.Background(), newFields(eventReload, "ok")); err != nil {
			t.Fatal(err)
		}
	}
	add()
	path := filepath.Join(r.options.Folder, fileName(1))
	lines := strings.SplitAfter(r.text(), "\n")
	if err := os.WriteFile(path, []byte(strings.Join(lines[:1], "")), 0o600); err != nil {
		t.Fatal(err)
	}
	add()
	r.close(l)
	if report := r.verify(""); len(report.Findings) == 0 || !strings.Contains(report.Findings[0].Reason, "were gone") {
		t.Errorf("found %v in\n%s", report.Findings, r.text())
	}
}

// A log that begins anew is sealed, so that the cut is all that is wrong with it.
func TestRemovedFolderIsOneFinding(t *testing.T) {
	r := newRig(t)
	l := Open(r.options)
	for range 2 {
		if err := l.addDurably(context.Background(), newFields(eventReload, "ok")); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(r.options.Folder, r.options.Folder+".gone"); err != nil {
			t.Fatal(err)
		}
		if err := l.addDurably(context.Background(), newFields(eventReload, "ok")); err != nil {
			t.Fatal(err)
		}
		if report := r.verify(""); len(report.Findings) != 1 || !strings.Contains(report.Findings[0].Reason, "were gone") {
			t.Errorf("found %v in\n%s", report.Findings, r.text())
		}
		if err := os.RemoveAll(r.options.Folder + ".gone"); err != nil {
			t.Fatal(err)
		}
	}
	r.close(l)
}

// However much is wrong, all lines are counted, and the head is that of the last.
func TestManyFindings(t *testing.T) {
	for name, change := range map[string]func(line string) string{
		"other values": func(line string) string { return strings.Replace(line, `"n":`, `"n":9`, 1) },
		"not JSON":     func(line string) string { return strings.Replace(line, `"n":`, `"n:`, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.write(100)
			before := r.good()
			path := filepath.Join(r.options.Folder, fileName(1))
			lines := strings.SplitAfter(r.text(), "\n")
			for i := range lines {
				lines[i] = change(lines[i])
			}
			if err := os.WriteFile(path, []byte(strings.Join(lines, "")), 0o600); err != nil {
				t.Fatal(err)
			}
			report := r.verify(before.Last.Hash)
			if report.Lines != before.Lines || report.Last != before.Last || !report.HasHead || len(report.Findings) != maxFindings || report.Further < 100-maxFindings {
				t.Errorf("the report is %+v", report)
			}
		})
	}
}

// A copy does not show whether processes run.
func TestCopyCountsNobodyAsKilled(t *testing.T) {
	r := newRig(t)
	l := Open(r.options)
	if err := l.addDurably(context.Background(), newFields(eventReload, "ok")); err != nil {
		t.Fatal(err)
	}
	original := r.options.Folder
	r.options.Folder = filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(r.options.Folder, os.DirFS(original)); err != nil {
		t.Fatal(err)
	}
	if report := r.good(); report.Killed != 0 {
		t.Errorf("the report is %+v", report)
	}
	r.write(1) // who continues the copy does not say so either
	if strings.Contains(r.text(), `"killed"`) {
		t.Errorf("the copy is\n%s", r.text())
	}
	r.options.Folder = original
	r.close(l)
}

func TestSeveralProcessesShareAChain(t *testing.T) {
	r := newRig(t)
	r.options.maxFile = 20_000
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			l := Open(r.options)
			for range 50 {
				if err := l.addDurably(context.Background(), newFields(eventReload, "ok")); err != nil {
					t.Error(err)
				}
			}
			if err := l.Close(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	report := r.good()
	if n := strings.Count(r.text(), `"event":"reload"`); n != 200 || report.Files < 2 || report.Killed > 0 {
		t.Errorf("there are %d entries, the report is %+v", n, report)
	}
}

// failingFile is a file on a disk that is full after a number of bytes.
type failingFile struct {
	file
	room *atomic.Int64 // -1: no limit
	sync *atomic.Bool  // Sync fails
}

func (f failingFile) Write(data []byte) (int, error) {
	room := f.room.Load()
	if room < 0 || int64(len(data)) <= room {
		if room >= 0 {
			f.room.Add(-int64(len(data)))
		}
		return f.file.Write(data)
	}
	n, _ := f.file.Write(data[:room])
	f.room.Store(0)
	return n, syscall.ENOSPC
}

func (f failingFile) Sync() error {
	if f.sync.Load() {
		return syscall.EIO
	}
	return f.file.Sync()
}

func TestFullDisk(t *testing.T) {
	for _, isSync := range []bool{false, true} {
		t.Run(fmt.Sprint(isSync), func(t *testing.T) {
			r := newRig(t)
			var room atomic.Int64
			var sync atomic.Bool
			room.Store(-1)
			r.options.open = func(path string, isNew bool) (file, error) {
				f, err := openFile(path, isNew)
				return failingFile{f, &room, &sync}, err
			}
			l := Open(r.options)
			add := func() error { return l.addDurably(context.Background(), newFields(eventReload, "ok")) }
			if err := add(); err != nil {
				t.Fatal(err)
			}
			before := r.text()
			if sync.Store(isSync); !isSync {
				room.Store(40) // so that a line is torn
			}
			for range 3 {
				if err := add(); err == nil {
					t.Error("a line counts as written on a full disk")
				}
			}
			if l.Failing() == nil || r.text() != before {
				t.Errorf("failing: %v, written is\n%s", l.Failing(), r.text())
			}
			room.Store(-1)
			sync.Store(false)
			if err := add(); err != nil || l.Failing() != nil {
				t.Errorf("%v, failing: %v", err, l.Failing())
			}
			r.close(l)
			if report := r.good(); report.Lost != 3 || report.Torn != 0 {
				t.Errorf("the report is %+v of\n%s", report, r.text())
			}
		})
	}
}

func TestFolderIsGone(t *testing.T) {
	r := newRig(t)
	l := Open(r.options)
	add := func() error { return l.addDurably(context.Background(), newFields(eventReload, "ok")) }
	if err := add(); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(r.options.Folder); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(r.options.Folder, nil, 0o600); err != nil { // so that it cannot be made again
		t.Fatal(err)
	}
	if err := add(); err == nil {
		t.Error("a line counts as written")
	}
	if err := os.Remove(r.options.Folder); err != nil {
		t.Fatal(err)
	}
	if err := add(); err != nil {
		t.Error(err)
	}
	r.close(l)
	if report := r.verify(""); len(report.Findings) != 1 || report.Lost != 1 {
		t.Errorf("the report is %+v of\n%s", report, r.text())
	}
}

// Times only describe lines: a clock that goes back, or was ahead, breaks nothing and removes nothing.
func TestClockGoesBack(t *testing.T) {
	r := newRig(t)
	r.options.maxFile = 500
	r.options.Keep = 24 * time.Hour
	for _, ahead := range []time.Duration{0, 20 * 365 * 24 * time.Hour, -20 * 365 * 24 * time.Hour, 0} {
		l := Open(r.options)
		for range 4 {
			ack := make(chan error, 1)
			if err := errors.Join(l.add(item{at: time.Now().Add(ahead), body: newFields(eventReload, "ok"), ack: ack}), <-ack); err != nil {
				t.Fatal(err)
			}
		}
		r.close(l)
	}
	if report := r.good(); report.Sealed != report.Last || report.First.Seq != 1 || strings.Count(r.text(), `"event":"reload"`) != 16 {
		t.Errorf("the report is %+v of\n%s", report, r.text())
	}
}

func TestQueueIsBounded(t *testing.T) {
	r := newRig(t)
	l := Open(r.options)
	full := 0
	for range 10 * maxQueue {
		if errors.Is(l.add(item{body: newFields(eventReload, "ok")}), errFull) {
			full++
		}
	}
	if full == 0 {
		t.Error("the queue has no bound")
	}
	if err := l.addDurably(context.Background(), newFields(eventReload, "ok")); err != nil && !errors.Is(err, errFull) {
		t.Error(err)
	}
	time.Sleep(2 * flushDelay)
	r.close(l)
	if report := r.good(); int(report.Lost) < full {
		t.Errorf("%d lines were lost, the log says %d", full, report.Lost)
	}
}

func TestRotationKeepsAndRemoves(t *testing.T) {
	r := newRig(t)
	r.options.maxFile = 500
	r.write(10)
	files, _ := filesAt(r.options.Folder)
	if r.good(); len(files) < 3 {
		t.Fatalf("there are %v", files)
	}
	long := time.Now().Add(-48 * time.Hour)
	for _, path := range files[:2] {
		if err := os.Chtimes(path, long, long); err != nil {
			t.Fatal(err)
		}
	}
	r.options.Keep = 24 * time.Hour
	r.write(1)
	if _, err := os.Stat(files[1]); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an old file is kept: %v", err)
	}
	if report := r.good(); !report.IsPart() {
		t.Errorf("the report is %+v", report)
	}
	if err := os.Remove(files[2]); err != nil {
		t.Fatal(err)
	}
	if report := r.verify(""); len(report.Findings) == 0 {
		t.Error("a file was removed, and nothing was found")
	}
}

// A command says once why it could not record what it did.
func TestRecordThatFails(t *testing.T) {
	r := newRig(t)
	if err := os.WriteFile(r.options.Folder, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	err := Record(context.Background(), r.options, TokenRemoved("x"))
	if err == nil || strings.Count(err.Error(), r.options.Folder) != 1 {
		t.Errorf("the error is %v", err)
	}
}
