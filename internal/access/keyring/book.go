package keyring

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/safefile"
	"github.com/mcp-workbench/mcp-workbench/internal/base/stored"
)

const (
	// MaxSecrets is how many secrets 'secret set' keeps; further ones are refused.
	MaxSecrets = 1000

	maxBook      = 1 << 20          // size of the file with the names; a larger one is an error
	bookLockTime = 10 * time.Second // for another process that changes the file; then an error
	bookName     = "secrets.json"
)

// ErrTooMany means that no further secret can be kept.
var ErrTooMany = errors.New("there are too many secrets")

// Book has the names of the secrets that were put into the keyring, since a keyring cannot list them. It holds no values.
type Book struct{ path string }

// OpenBook returns the book in the user's state folder.
func OpenBook(stateDir string) *Book { return &Book{filepath.Join(stateDir, bookName)} }

type bookFile struct {
	Version int      `json:"version"` // of the format; see stored.Secrets
	Names   []string `json:"names"`
}

// Names returns the names, sorted.
func (b *Book) Names() ([]string, error) {
	data, info, err := safefile.Read(b.path, maxBook)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if reason := safefile.AccessProblem(info, safefile.Change); reason != "" {
		return nil, errors.New("the file " + b.path + " " + reason)
	}
	if err := stored.Secrets.Check(b.path, data); err != nil {
		return nil, err
	}
	var file bookFile
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, errors.New("the file " + b.path + " is damaged; remove it to begin a new list")
	}
	slices.Sort(file.Names)
	return slices.Compact(file.Names), nil
}

// Set puts a secret into the keyring, and reports whether it replaced one of the book.
func (b *Book) Set(ctx context.Context, name, value string) (replaced bool, err error) {
	err = b.change(ctx, func(names []string) error {
		if replaced = slices.Contains(names, name); !replaced && len(names) >= MaxSecrets {
			return ErrTooMany
		}
		if !replaced {
			names = append(names, name)
		}
		// The name first: a secret without one could not be found again.
		if err := b.write(names); err != nil {
			return err
		}
		err := set(name, value)
		if err != nil && !replaced && !errors.Is(err, ErrSlow) { // one that is slow may still be kept
			names = slices.DeleteFunc(names, func(other string) bool { return other == name })
			return errors.Join(err, b.write(names))
		}
		return err
	})
	return replaced, err
}

// Remove removes a secret from the keyring, and reports whether there was one.
func (b *Book) Remove(ctx context.Context, name string) (found bool, err error) {
	err = b.change(ctx, func(names []string) error {
		err := remove(name)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
		found = err == nil
		return b.write(slices.DeleteFunc(names, func(other string) bool { return other == name }))
	})
	return found, err
}

// RemoveAll removes all secrets of the book.
func (b *Book) RemoveAll(ctx context.Context) error {
	names, err := b.Names()
	if err != nil {
		return err
	}
	for _, name := range names {
		if _, err := b.Remove(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// change changes the names under a lock.
func (b *Book) change(ctx context.Context, change func(names []string) error) error {
	if err := safefile.MakeFolder(filepath.Dir(b.path)); err != nil {
		return err
	}
	release, err := safefile.Lock(ctx, b.path+".lock", bookLockTime)
	if err != nil {
		return err
	}
	defer release()
	names, err := b.Names()
	if err != nil {
		return err
	}
	return change(names)
}

func (b *Book) write(names []string) error {
	slices.Sort(names)
	data, err := json.Marshal(bookFile{stored.Secrets.Format, names})
	if err != nil {
		return err
	}
	return safefile.Replace(b.path, ".secrets-*", append(data, '\n'))
}
