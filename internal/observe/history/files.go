package history

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/safefile"
	"github.com/mcp-workbench/mcp-workbench/internal/base/stored"
)

const (
	maxFile   = 8 << 20   // bytes of a file; the next one is begun then
	maxKept   = 256 << 20 // bytes of all files; the oldest are removed beyond it
	maxListed = 10_000    // files of the folder that are looked at; others are ignored
	// longestFile is how long records are written to the same file.
	longestFile = 24 * time.Hour
)

const suffix = ".jsonl"

// Folder returns the folder of the files in the state folder.
func Folder(stateDir string) string { return filepath.Join(stateDir, "history") }

// Owner identifies the workbench that wrote a file.
type Owner struct {
	PID     int
	Started int64 // in milliseconds since 1970
}

// files are those that one workbench writes, one after the other. Only the keeper uses them.
type files struct {
	folder string
	keep   time.Duration
	owner  Owner
	lost   uint64 // records that could not be written since the last that was

	file   *os.File
	name   string
	begun  time.Time
	size   int64
	number int
	isTorn bool // the last line may be incomplete
}

// write appends lines to the file of the time, which it begins if needed.
func (f *files) write(lines []byte, now time.Time) error {
	if f.file != nil && (f.size+int64(len(lines)) > maxFile || now.Sub(f.begun) >= min(f.keep, longestFile) || now.UTC().YearDay() != f.begun.UTC().YearDay() || f.isGone()) {
		f.close()
	}
	if f.file == nil {
		if err := f.open(now); err != nil {
			return err
		}
	}
	if f.isTorn {
		lines = append([]byte{'\n'}, lines...)
	}
	n, err := f.file.Write(lines)
	if err != nil && n > 0 && f.file.Truncate(f.size) == nil {
		n = 0 // all of them count as lost
	}
	f.size += int64(n)
	f.isTorn = err != nil && (n > 0 || f.isTorn)
	return err
}

// isGone reports whether somebody removed the file.
func (f *files) isGone() bool {
	_, err := os.Lstat(filepath.Join(f.folder, f.name))
	return errors.Is(err, fs.ErrNotExist)
}

func (f *files) open(now time.Time) error {
	if err := safefile.MakeFolder(f.folder); err != nil {
		return err
	}
	for {
		f.number++
		name := fmt.Sprintf("%s-%d-%d-%d%s", now.UTC().Format("20060102"), f.owner.PID, f.owner.Started, f.number, suffix)
		file, err := os.OpenFile(filepath.Join(f.folder, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600)
		switch {
		case err == nil:
			f.file, f.name, f.begun, f.size, f.isTorn = file, name, now, 0, false
			n, err := fmt.Fprintf(file, "{\"version\":%d}\n", stored.History.Format)
			f.size = int64(n)
			if err != nil {
				f.isTorn = n > 0
				return err
			}
			_ = f.clean(now) // the keeper tries again, and reports it
			return nil
		case !errors.Is(err, fs.ErrExist): // a keeper before this one may have written it
			return err
		}
	}
}

func (f *files) close() {
	if f.file != nil {
		_ = f.file.Close() // everything was written
		f.file = nil
	}
}

// clean removes files that are too old, and the oldest if all are too large.
func (f *files) clean(now time.Time) error {
	all, err := list(f.folder)
	if err != nil {
		return err
	}
	var errs []error
	total := int64(0)
	for _, one := range all { // the newest first
		total += one.size
		isOld := now.Sub(one.changed) >= f.keep || total > maxKept
		if isOld && (f.file == nil || one.name != f.name) {
			if err := os.Remove(filepath.Join(f.folder, one.name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}

// storedFile is a file of the folder.
type storedFile struct {
	name    string
	owner   Owner
	size    int64
	changed time.Time
}

// list returns the files of a folder, the one that was changed last first. A folder that does not exist has none.
func list(folder string) (all []*storedFile, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return nil, err
	}
	for _, entry := range entries[:min(len(entries), maxListed)] {
		owner, ok := ownerOf(entry.Name())
		if !ok || !entry.Type().IsRegular() {
			continue
		}
		if info, err := entry.Info(); err == nil { // else another workbench removed it
			all = append(all, &storedFile{entry.Name(), owner, info.Size(), info.ModTime()})
		}
	}
	slices.SortFunc(all, func(a, b *storedFile) int {
		return cmp.Or(b.changed.Compare(a.changed), strings.Compare(b.name, a.name))
	})
	return all, nil
}

// ownerOf reads the name of a file.
func ownerOf(name string) (owner Owner, ok bool) {
	base, ok := strings.CutSuffix(name, suffix)
	parts := strings.Split(base, "-")
	if !ok || len(parts) != 4 {
		return owner, false
	}
	pid, err := strconv.Atoi(parts[1])
	started, err2 := strconv.ParseInt(parts[2], 10, 64)
	return Owner{pid, started}, err == nil && err2 == nil
}
