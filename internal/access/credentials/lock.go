package credentials

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/safefile"
)

// lockWait bounds the wait for another process or goroutine that has locked a login; then an error. It is longer than a
// request for a token takes.
const lockWait = 30 * time.Second

// Lock is the right to change a login. It ends with Unlock, which any goroutine may call, or with the process.
type Lock struct {
	store   *Store
	key     Key
	name    string
	path    string
	release func()

	isReleased atomic.Bool
}

var errUnlocked = errors.New("the lock of the login was released")

// Lock waits until no other process and no other goroutine has locked the login. The login need not exist.
func (s *Store) Lock(ctx context.Context, key Key) (*Lock, error) {
	if err := s.makeFolder(); err != nil {
		return nil, err
	}
	return s.lockFile(ctx, nameOf(key), key)
}

// lockFile locks the login in a file, whose key need not be known.
func (s *Store) lockFile(ctx context.Context, name string, key Key) (*Lock, error) {
	l := &Lock{store: s, key: key, name: name, path: filepath.Join(s.folder, name)}
	release, err := safefile.Lock(ctx, strings.TrimSuffix(l.path, suffix)+lockSuffix, lockWait)
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, failed("lock", l.path, err)
	}
	l.release = release
	l.removeLeftovers()
	return l, nil
}

// Unlock releases the lock. Further calls do nothing.
func (l *Lock) Unlock() {
	if l.isReleased.CompareAndSwap(false, true) {
		l.release()
	}
}

// Load returns the login; nil if there is none.
func (l *Lock) Load() (*Credential, error) {
	if l.isReleased.Load() {
		return nil, errUnlocked
	}
	return l.store.read(l.name)
}

// Save writes the login to disk, provided that the generation there is the credential's, 0 meaning that there is none:
// otherwise it returns a *StaleError. It sets Generation and Updated. A file that cannot be read is not overwritten. On
// an error the file is unchanged, unless only the last sync to disk failed.
func (l *Lock) Save(c *Credential) error {
	if l.isReleased.Load() {
		return errUnlocked
	}
	if c.Key != l.key {
		return fmt.Errorf("the login %s was to be saved under the lock of the login %s", c.Key, l.key)
	}
	before, err := l.Load()
	if err != nil {
		return err
	}
	// The first generation comes from the clock, so that a login that was deleted and made again has none of the old.
	now := time.Now()
	known, next := uint64(0), uint64(max(now.UnixMilli(), 1))
	if before != nil {
		known, next = before.Generation, before.Generation+1
	}
	if known != c.Generation {
		return &StaleError{Key: l.key, Known: c.Generation, Generation: known}
	}
	changed := *c
	changed.Generation, changed.Updated = next, now.UTC().Round(0)
	data, err := l.store.encode(l.name, &changed)
	if err != nil {
		return err
	}
	if err := safefile.ReplaceDurably(l.path, l.tempPrefix()+"*"+tempSuffix, data, l.nextTime(now)); err != nil {
		return failed("write", l.path, err)
	}
	c.Generation, c.Updated = changed.Generation, changed.Updated
	if before == nil {
		l.store.listing.forget()
	}
	return nil
}

// nextTime returns the time for the next version of the file: later than the current one even if the clock is not, so
// that Stamp notices each version.
func (l *Lock) nextTime(now time.Time) time.Time {
	if info, err := os.Stat(l.path); err == nil && !now.After(info.ModTime().Add(time.Microsecond)) {
		return info.ModTime().Add(time.Microsecond)
	}
	return now
}

// Delete removes the login, readable or not.
func (l *Lock) Delete() error {
	if l.isReleased.Load() {
		return errUnlocked
	}
	err := os.Remove(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = safefile.SyncFolder(l.store.folder)
	}
	if err != nil {
		return failed("remove", l.path, err)
	}
	return nil
}

func (l *Lock) tempPrefix() string { return "." + strings.TrimSuffix(l.name, suffix) + "-" }

// removeLeftovers removes the temporary files of processes that were killed while they saved this login: only the
// holder of the lock has one.
func (l *Lock) removeLeftovers() {
	entries, err := os.ReadDir(l.store.folder)
	if err != nil {
		return // the next holder tries again
	}
	for _, entry := range entries {
		if name := entry.Name(); strings.HasPrefix(name, l.tempPrefix()) && strings.HasSuffix(name, tempSuffix) {
			err := os.Remove(filepath.Join(l.store.folder, name))
			l.store.log.Debug("removed what an interrupted save of a login left behind", "file", name, "error", err)
		}
	}
}
