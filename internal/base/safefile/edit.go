package safefile

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrChanged says that a file is not what it was when it was read.
var ErrChanged = errors.New("the file was changed meanwhile")

// Edit replaces what a file held when it was read, before, by after. Somebody else's
// change in between is not lost: then nothing is written and the error is ErrChanged. A
// link is followed, and the mode of the file stays. A file that was not there (before is
// nil) is made with the mode given, and with its folder, which is for this user only.
func Edit(path, pattern string, before, after []byte, mode fs.FileMode) error {
	target, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		target, err = path, os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err != nil {
		return err
	}
	is, err := os.ReadFile(target)
	isThere := !errors.Is(err, fs.ErrNotExist)
	if err != nil && isThere {
		return err
	}
	if isThere != (before != nil) || !bytes.Equal(is, before) {
		return ErrChanged
	}
	if isThere {
		info, err := os.Stat(target)
		if err != nil {
			return err
		}
		mode = info.Mode().Perm()
	}
	return replace(target, pattern, after, mode)
}
