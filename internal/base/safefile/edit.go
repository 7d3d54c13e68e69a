package safefile

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// ErrChanged means that a file has changed since it was read.
var ErrChanged = errors.New("the file has changed since it was read")

// Edit replaces the content of a file, which was before when the caller read it, with after. If another program has
// changed the file in between, Edit writes nothing and returns ErrChanged. Links are followed, and the file keeps its
// mode. A file that did not exist (before is nil) is created with the given mode; its folder is created for this user
// only.
func Edit(path, pattern string, before, after []byte, mode fs.FileMode) error {
	target, err := Target(path)
	if err == nil {
		err = MakeFolder(filepath.Dir(target))
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
	like := ""
	if isThere {
		info, err := os.Stat(target)
		if err != nil {
			return err
		}
		mode, like = info.Mode().Perm(), target
	}
	return replace(target, pattern, like, after, mode, time.Time{})
}
