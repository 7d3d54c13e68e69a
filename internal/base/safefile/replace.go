// Package safefile reads and writes files that are shared with other programs and users. It replaces a file in one
// step, locks it against a second writer, and rejects a file that another user could have changed.
package safefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Replace writes data to a temporary file beside path with mode 0600, syncs it to disk, and renames it to path. The
// pattern names the temporary file as for os.CreateTemp. On an error the file at path is unchanged. The folder must
// exist.
func Replace(path, pattern string, data []byte) error {
	return replace(path, pattern, data, 0o600)
}

func replace(path, pattern string, data []byte, mode fs.FileMode) error {
	file, err := os.CreateTemp(filepath.Dir(path), pattern) // with mode 0600
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err == nil && mode != 0o600 {
		err = file.Chmod(mode)
	}
	if err == nil {
		err = file.Sync()
	}
	err = errors.Join(err, file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		_ = os.Remove(file.Name()) // a temporary file that remains does no harm
	}
	return err
}
