package config

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
)

// settleTime is how long a file has to be left alone before a change counts: editors write
// in several steps.
const settleTime = 200 * time.Millisecond

// Watch calls changed, from one goroutine, when the file at path, or the workbench.env or
// the lock beside it, may have changed, until ctx ends. It watches their folders, since editors
// replace files rather than write to them; neither the file nor its folder need exist. The
// caller decides whether there is a change. It calls began first, when no further change can
// be missed.
func Watch(ctx context.Context, path string, began, changed func()) error {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("the configuration cannot be watched: %w", err)
	}
	defer func() { _ = watcher.Close() }() // nothing is lost by it
	w := folders{watcher: watcher, path: path}
	if err := w.follow(); err != nil {
		return fmt.Errorf("the folder of the configuration cannot be watched: %w", err)
	}
	began()
	settled := time.NewTimer(settleTime)
	settled.Stop()
	for {
		select {
		case event, ok := <-watcher.Events:
			if !ok {
				return nil
			}
			if w.concerns(event.Name) {
				settled.Reset(settleTime)
			}
		case err, ok := <-watcher.Errors:
			if !ok {
				return nil
			}
			// Events may have been lost, so that a change is possible.
			if err != nil {
				settled.Reset(settleTime)
			}
		case <-settled.C:
			_ = w.follow() // first, so that no change is missed; what was watched before stays
			changed()
		case <-ctx.Done():
			return nil
		}
	}
}

// folders are those in which a file can change.
type folders struct {
	watcher *fsnotify.Watcher
	path    string
	target  string // the folder of what the file links to; "" if it is the file's own
}

// follow watches the file's folder, or while there is none, the nearest one above, and the
// folder of what the file links to.
func (f *folders) follow() error {
	folder := filepath.Dir(f.path)
	err := f.watcher.Add(folder)
	for errors.Is(err, fs.ErrNotExist) && folder != filepath.Dir(folder) {
		folder = filepath.Dir(folder)
		err = f.watcher.Add(folder)
	}
	if err != nil {
		return err
	}
	f.target = ""
	if target, err := filepath.EvalSymlinks(f.path); err == nil && filepath.Dir(target) != folder {
		f.target = filepath.Dir(target)
		return f.watcher.Add(f.target)
	}
	return nil
}

// concerns reports whether an event may be about the file, a folder above it, the file that it
// links to, or what lies beside it and counts, too. In the folder of a link's target any name
// may matter.
func (f *folders) concerns(name string) bool {
	switch filepath.Dir(name) {
	case f.target:
		return true
	case filepath.Dir(f.path):
		switch filepath.Base(name) {
		case filepath.Base(f.path), EnvFileName, toolbox.LockFile:
			return true
		}
		return false
	}
	return strings.HasPrefix(f.path, name+string(filepath.Separator))
}
