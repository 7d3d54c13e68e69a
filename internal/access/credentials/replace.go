package credentials

import (
	"context"
	"os"
	"path/filepath"

	"github.com/mcp-workbench/mcp-workbench/internal/base/safefile"
	"github.com/mcp-workbench/mcp-workbench/internal/base/stored"
)

const trialSize = 4 << 10 // bytes that are written to see whether a login can be stored

// CheckWritable returns why a login could not be stored now: the folder cannot be written, or the key to encrypt with cannot
// be had. Nothing is left behind but the folder.
func (s *Store) CheckWritable() error {
	if err := s.makeFolder(); err != nil {
		return err
	}
	if s.keys.isOn() {
		if _, err := s.keys.forSealing(); err != nil {
			return sealError(s.folder, Key{}, "Logins cannot be encrypted, and so cannot be stored", err)
		}
	}
	file, err := os.CreateTemp(s.folder, ".trial-*"+tempSuffix)
	if err != nil {
		return failed("write", s.folder, err)
	}
	_, err = file.Write(make([]byte, trialSize))
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if removeErr := os.Remove(file.Name()); err == nil {
		err = removeErr
	}
	if err != nil {
		return failed("write", s.folder, err)
	}
	return nil
}

func (s *Store) makeFolder() error {
	if s.folder == "" {
		return ErrNoFolder
	}
	if err := safefile.MakeFolder(s.folder); err != nil {
		return failed("make the folder of", s.folder, err)
	}
	return s.checkFolder()
}

// RemoveUnusable removes the files of a server and account that cannot be read as logins, and returns where they were. What
// they contain is lost: their tokens cannot be revoked.
func (s *Store) RemoveUnusable(ctx context.Context, server, account string) (removed []string, err error) {
	if s.folder == "" {
		return nil, nil
	}
	if err := s.checkFolder(); err != nil {
		return nil, err
	}
	names, err := s.list(prefixOf(server, account))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		_, err := s.read(name)
		if stored.IsNewer(err) {
			return removed, err // it can be read, by another version
		}
		if err == nil {
			continue
		}
		isRemoved, err := s.removeUnusable(ctx, name)
		if err != nil {
			return removed, err
		}
		if isRemoved {
			removed = append(removed, filepath.Join(s.folder, name))
		}
	}
	return removed, nil
}

// removeUnusable removes a file, unless another process has replaced it by one that can be read.
func (s *Store) removeUnusable(ctx context.Context, name string) (isRemoved bool, err error) {
	lock, err := s.lockFile(ctx, name, Key{})
	if err != nil {
		return false, err
	}
	defer lock.Unlock()
	if _, err := lock.Load(); err == nil || stored.IsNewer(err) {
		return false, err
	}
	return true, lock.Delete()
}
