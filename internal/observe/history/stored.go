package history

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/safefile"
	"github.com/mcp-workbench/mcp-workbench/internal/base/stored"
)

// maxLine bounds a line of a file; the rest of a file with a longer one is not read.
const maxLine = 64 << 10

// maxTrouble bounds the files that cannot be read and are reported; others are only left out.
const maxTrouble = 3

// ReadStored returns the last calls that were written to the files of a folder and are wanted, the oldest first, at most
// limit. Lines that are damaged are left out, and so are files that cannot be read, which the error names.
func ReadStored(folder string, limit int, wanted func(Owner, *Record) bool) ([]Record, error) {
	all, err := list(folder)
	if err != nil {
		return nil, err
	}
	var found []Record
	var errs []error
	for _, one := range all {
		// A file has no call that began after it was changed last.
		if len(found) >= limit && one.changed.Before(found[0].Time) {
			break
		}
		err := readStored(filepath.Join(folder, one.name), func(record Record) {
			if wanted(one.owner, &record) {
				found = append(found, record)
			}
		})
		if err != nil && len(errs) < maxTrouble {
			errs = append(errs, err)
		}
		found = Newest(found, limit)
	}
	return found, errors.Join(errs...)
}

// ReadChanged passes on the calls of files that were changed since a time, and belong to wanted workbenches.
func ReadChanged(folder string, since time.Time, wanted func(Owner) bool, pass func(Owner, Record)) error {
	all, err := list(folder)
	if err != nil {
		return err
	}
	var errs []error
	for _, one := range slices.Backward(all) { // the oldest first
		if one.changed.Before(since) || !wanted(one.owner) {
			continue
		}
		if err := readStored(filepath.Join(folder, one.name), func(record Record) { pass(one.owner, record) }); err != nil && len(errs) < maxTrouble {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// readStored passes on the calls of a file. Lines that are damaged are left out.
func readStored(path string, pass func(Record)) error {
	file, _, err := safefile.Open(path)
	if errors.Is(err, fs.ErrNotExist) { // a workbench has just removed it
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, maxLine)
	for isFirst := true; lines.Scan(); isFirst = false {
		if isFirst {
			if err := stored.History.Check(path, lines.Bytes()); err != nil {
				return err
			}
		}
		var one Record
		if json.Unmarshal(lines.Bytes(), &one) == nil && one.Seq > 0 {
			pass(one)
		}
	}
	return nil
}

// Newest returns the last calls, the oldest first, at most limit.
func Newest(records []Record, limit int) []Record {
	slices.SortStableFunc(records, func(a, b Record) int {
		return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.PID, b.PID), cmp.Compare(a.Seq, b.Seq))
	})
	return records[max(len(records)-limit, 0):]
}
