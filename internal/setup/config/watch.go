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

// settleTime is how long a file has to remain unchanged before it is reloaded: editors write in several steps.
const settleTime = 200 * time.Millisecond

// Watch calls changed, from one goroutine, when the file at path, or the workbench.env or the lock beside it, may have
// changed, until ctx ends. It watches folders, since editors replace files instead of writing to them; neither the file
// nor its folder needs to exist. The caller checks whether anything changed. Watch first calls began, once no later
// change can be missed.
func Watch(ctx context.Context, path string, began, changed func()) error {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("the configuration cannot be watched: %w", err)
	}
	defer func() { _ = watcher.Close() }() // nothing is lost by it
	w := folders{watcher: watcher, path: path}
	if err := w.watchFolders(); err != nil {
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
			// Events may have been lost, so assume a change.
			if err != nil {
				settled.Reset(settleTime)
			}
		case <-settled.C:
			_ = w.watchFolders() // first, so that no change is missed; existing watches stay
			changed()
		case <-ctx.Done():
			return nil
		}
	}
}

// folders are the folders to watch.
type folders struct {
	watcher *fsnotify.Watcher
	path    string
	target  string // folder of the link's target; "" if it is the file's own
}

// watchFolders watches the file's folder, or the nearest existing parent, and the folder of the link's target.
func (f *folders) watchFolders() error {
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

// concerns reports whether an event may affect the file, a parent folder, the target of its link, or a file beside it
// that is read, too. In the folder of a link's target any name may matter.
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
