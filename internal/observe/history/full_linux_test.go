package history

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// A disk that gets full in the middle of calls keeps none of those that are counted as lost.
func TestDiskThatGetsFull(t *testing.T) {
	folder := t.TempDir()
	h := New(func(text string) string { return text })
	k := &Keeper{history: h, files: &files{folder: folder, keep: longestFile, owner: Owner{h.pid, 1}}, log: slog.New(slog.DiscardHandler)}
	defer k.files.close()
	record := func(calls int) {
		for range calls {
			h.ring = append(h.ring, entry{toolbox: "t", serverName: "s"})
			h.last++
		}
	}
	record(2)
	after, _ := k.write(0)
	info, err := os.Stat(filepath.Join(folder, k.files.name))
	if err != nil {
		t.Fatal(err)
	}
	var usual unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &usual); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: uint64(info.Size()) * 3, Max: usual.Max}); err != nil {
		t.Fatal(err)
	}
	record(20)
	after, _ = k.write(after)
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &usual); err != nil {
		t.Fatal(err)
	}
	record(1)
	k.write(after)
	got := storedIn(t, folder)
	if len(got) != 3 || got[2].Seq != 23 || got[2].Lost != 20 {
		t.Errorf("stored are %d calls, the last is %+v", len(got), got[len(got)-1])
	}
}
