// Package safefile reads and writes files that are shared with other programs and users. It replaces a file in one
// step, locks it against a second writer, and rejects a file that another user could have changed.
package safefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Replace writes data to a temporary file beside path with mode 0600, syncs it to disk, and renames it to path. The
// pattern names the temporary file as for os.CreateTemp. On an error the file at path is unchanged. The folder must
// exist.
func Replace(path, pattern string, data []byte) error {
	return replace(path, pattern, "", data, 0o600, time.Time{})
}

// ReplaceDurably is like Replace, gives the file a modification time, and also syncs the folder: once it returns, a
// loss of power does not bring the old content back. If only the sync of the folder fails, the file is replaced.
func ReplaceDurably(path, pattern string, data []byte, modified time.Time) error {
	if err := replace(path, pattern, "", data, 0o600, modified); err != nil {
		return err
	}
	return SyncFolder(filepath.Dir(path))
}

// replace makes the new file with the mode, or on Windows with the access list of the file like.
func replace(path, pattern, like string, data []byte, mode fs.FileMode, modified time.Time) error {
	file, err := createTemp(filepath.Dir(path), pattern, like)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err == nil && mode != 0o600 {
		err = file.Chmod(mode)
	}
	if err == nil && !modified.IsZero() {
		err = os.Chtimes(file.Name(), modified, modified)
	}
	if err == nil {
		err = file.Sync()
	}
	err = errors.Join(err, file.Close())
	if err == nil {
		err = whileBusy(func() error { return os.Rename(file.Name(), path) })
	}
	if err != nil {
		_ = os.Remove(file.Name()) // a temporary file that remains does no harm
	}
	return err
}
