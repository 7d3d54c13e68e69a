package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/safefile"
	"github.com/mcp-workbench/mcp-workbench/internal/base/stored"
)

// maxFile is the size of the file in bytes; a larger one is refused as damaged.
const maxFile = 16 << 20

// content is what is in the file.
type content struct {
	Version int     `json:"version"`
	Windows windows `json:"windows"`
}

// read reads the file. One that is not understood is an error: counting would begin anew, which allows too much.
func read(path string) (windows, error) {
	data, info, err := safefile.Read(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return make(windows), nil
	}
	if err != nil {
		return nil, unusable(path, "cannot be read: "+reason(err))
	}
	if problem := safefile.AccessProblem(info, safefile.Change); problem != "" {
		return nil, unusable(path, problem)
	}
	if err := stored.Calls.Check(path, data); err != nil {
		return nil, err
	}
	var held content
	if err := json.Unmarshal(data, &held); err != nil {
		return nil, unusable(path, "is damaged: "+err.Error())
	}
	if held.Version != stored.Calls.Format {
		return nil, unusable(path, fmt.Sprintf("is damaged: there is no format %d", held.Version))
	}
	for key, w := range held.Windows {
		if problem := w.problem(); problem != "" {
			return nil, unusable(path, "is damaged: "+key+" "+problem)
		}
	}
	if held.Windows == nil {
		held.Windows = make(windows)
	}
	return held.Windows, nil
}

// problem returns what cannot be right in a window; "" if nothing.
func (w *window) problem() string {
	if w == nil || w.Length <= 0 || len(w.Entries) > maxEntries+1 {
		return "is not a window"
	}
	for i, e := range w.Entries {
		if e.Calls <= 0 || e.First > e.Last || e.First < 0 || i > 0 && e.Last < w.Entries[i-1].Last {
			return "has calls that are not possible"
		}
	}
	return ""
}

func write(path string, all windows) error {
	data, err := json.Marshal(content{stored.Calls.Format, all})
	if err == nil {
		err = safefile.ReplaceDurably(path, ".calls-*", append(data, '\n'), time.Time{})
	}
	if err != nil {
		return fmt.Errorf("%s cannot be written: %s", path, reason(err))
	}
	return nil
}

// reason is an error without the path, which the message names already.
func reason(err error) string {
	if inner, ok := errors.AsType[*fs.PathError](err); ok {
		return inner.Err.Error()
	}
	return err.Error()
}

func unusable(path, problem string) error {
	return fmt.Errorf("%s %s. The user can mend it, or delete it, which begins to count anew", path, problem)
}
