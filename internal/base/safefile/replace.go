// Package safefile reads and writes files that other programs and users share: it replaces a file in one step, locks it
// against a second writer, and refuses a file that another user could have changed.
package safefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Replace writes data, for this user only, to a temporary file beside path, makes it
// last, and gives it the name. The pattern names the temporary file as for os.CreateTemp.
// On an error the file at path is as it was. The folder must exist.
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
		_ = os.Remove(file.Name()) // what is left has no name that counts
	}
	return err
}
