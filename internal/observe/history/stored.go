package history

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/mcp-workbench/mcp-workbench/internal/base/safefile"
)

// maxLine bounds a line of a file; the rest of a file with a longer one is not read.
const maxLine = 64 << 10

// ReadStored returns the last calls that were written to the files of a folder and are wanted, the oldest first, at most
// limit. Lines that are damaged are left out.
func ReadStored(folder string, limit int, wanted func(Owner, *Record) bool) ([]Record, error) {
	all, err := list(folder)
	if err != nil {
		return nil, err
	}
	var found []Record
	for _, one := range all {
		// A file has no call that began after it was changed last.
		if len(found) >= limit && one.changed.Before(found[0].Time) {
			break
		}
		if found, err = appendStored(found, filepath.Join(folder, one.name), one.owner, wanted); err != nil {
			return nil, err
		}
		found = Newest(found, limit)
	}
	return found, nil
}

func appendStored(found []Record, path string, owner Owner, wanted func(Owner, *Record) bool) ([]Record, error) {
	file, _, err := safefile.Open(path)
	if errors.Is(err, fs.ErrNotExist) { // a workbench has just removed it
		return found, nil
	}
	if err != nil {
		return found, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		var one Record
		if json.Unmarshal(lines.Bytes(), &one) == nil && one.Seq > 0 && wanted(owner, &one) {
			found = append(found, one)
		}
	}
	return found, nil
}

// Newest returns the last calls, the oldest first, at most limit.
func Newest(records []Record, limit int) []Record {
	slices.SortStableFunc(records, func(a, b Record) int {
		return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.PID, b.PID), cmp.Compare(a.Seq, b.Seq))
	})
	return records[max(len(records)-limit, 0):]
}
