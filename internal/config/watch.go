package config

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/mcp-workbench/mcp-workbench/internal/toolbox"
)

// settleTime is how long a file has to be left alone before a change counts: editors write
// in several steps.
const settleTime = 200 * time.Millisecond

// Watch calls changed, from one goroutine, when the file at path, or the workbench.env or
// the lock beside it, may have changed, until ctx ends. It watches their folders, since editors
// replace files rather than write to them. The caller decides whether there is a change.
// It calls began first, when no further change can be missed.
func Watch(ctx context.Context, path string, began, changed func()) error {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("the configuration cannot be watched: %w", err)
	}
	defer func() { _ = watcher.Close() }() // nothing is lost by it
	folders := []string{filepath.Dir(path)}
	if target, err := filepath.EvalSymlinks(path); err == nil && filepath.Dir(target) != folders[0] {
		folders = append(folders, filepath.Dir(target))
	}
	for _, folder := range folders {
		if err := watcher.Add(folder); err != nil {
			return fmt.Errorf("the folder of the configuration cannot be watched: %w", err)
		}
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
			if concerns(event.Name, path) {
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
			changed()
		case <-ctx.Done():
			return nil
		}
	}
}

// concerns reports whether an event may be about the file, the file that it links to, or
// what lies beside it and counts, too. In the folder of a link's target any name may matter.
func concerns(name, path string) bool {
	if filepath.Dir(name) != filepath.Dir(path) {
		return true
	}
	switch filepath.Base(name) {
	case filepath.Base(path), EnvFileName, toolbox.LockFile:
		return true
	}
	return false
}
