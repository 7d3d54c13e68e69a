package builtin

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
)

// bulky are folders with many files that the user did not write.
var bulky = []string{".git", "node_modules"}

// readDirBatch is how many entries of a folder are read between checks of the budget.
const readDirBatch = 1024

var errStopWalk = errors.New("stop")

// walk visits everything below a folder, ordered by name. It does not follow links, so that it terminates.
type walk struct {
	folder *folder
	depth  int  // levels to descend
	all    bool // enter bulky folders, too

	// visit is called with the path from the root and the path from the start of the walk. It may return errStopWalk.
	visit func(full, below string, entry fs.DirEntry) error

	left       int      // entries that may still be examined
	exhausted  bool     // there were more entries than that
	unreadable int      // number of unreadable folders
	skipped    []string // names of skipped bulky folders
}

func (w *walk) run(ctx context.Context, start string) error {
	w.left = w.folder.limits.entries
	err := w.enter(ctx, start, "", w.depth)
	if errors.Is(err, errStopWalk) {
		return nil
	}
	return err
}

func (w *walk) enter(ctx context.Context, full, below string, depth int) error {
	entries, err := w.entries(ctx, full)
	if err != nil {
		if below == "" || ctx.Err() != nil {
			return err
		}
		// An unreadable folder does not end the walk.
		w.unreadable++
		return nil
	}
	for _, entry := range entries {
		if entry.IsDir() && !w.all && slices.Contains(bulky, entry.Name()) {
			if !slices.Contains(w.skipped, entry.Name()) {
				w.skipped = append(w.skipped, entry.Name())
			}
			continue
		}
		full, below := path.Join(full, entry.Name()), path.Join(below, entry.Name())
		if err := w.visit(full, below, entry); err != nil {
			return err
		}
		if entry.IsDir() && depth > 1 && !w.exhausted {
			if err := w.enter(ctx, full, below, depth-1); err != nil {
				return err
			}
		}
	}
	return nil
}

// entries reads a folder as far as the budget allows.
func (w *walk) entries(ctx context.Context, name string) ([]fs.DirEntry, error) {
	dir, _, err := w.folder.open(name)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	var entries []fs.DirEntry
	for !w.exhausted {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		batch, err := dir.ReadDir(readDirBatch)
		if len(batch) > w.left {
			batch = batch[:w.left]
			w.exhausted = true
		}
		w.left -= len(batch)
		entries = append(entries, batch...)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// note describes what the walk left out.
func (w *walk) note() string {
	var skipped, exhausted, unreadable string
	if len(w.skipped) > 0 {
		slices.Sort(w.skipped)
		skipped = "Skipped " + strings.Join(w.skipped, " and ") + "; set all to true to include such folders."
	}
	if w.exhausted {
		exhausted = "Gave up after " + toolbox.Count(w.folder.limits.entries, "entry", "entries") + ", so there may be more; give a path further down."
	}
	if w.unreadable > 0 {
		unreadable = toolbox.Count(w.unreadable, "folder", "folders") + " could not be read."
	}
	return sentences(exhausted, skipped, unreadable)
}
