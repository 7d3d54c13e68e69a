package safefile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// ErrSpecial is the error for a path that is not a regular file.
var ErrSpecial = errors.New("it is not a file")

// Open opens a regular file for reading and returns its info. It refuses everything else at once, even if the file is
// replaced while it is opened: opening a named pipe would wait for a writer, and reading a device may never end. The
// info may be set along with an error. All errors are of type *fs.PathError.
func Open(path string) (*os.File, fs.FileInfo, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	special := &fs.PathError{Op: "open", Path: path, Err: ErrSpecial}
	if !info.Mode().IsRegular() {
		return nil, info, special
	}
	var file *os.File
	err = whileBusy(func() error {
		file, err = os.OpenFile(path, os.O_RDONLY|NonBlocking, 0)
		return err
	})
	if err != nil {
		return nil, info, err
	}
	if info, err = file.Stat(); err == nil && !info.Mode().IsRegular() {
		err = special
	}
	if err == nil {
		info, err = withAccess(file, info)
	}
	if err != nil {
		_ = file.Close()
		return nil, info, err
	}
	return file, info, nil
}

// Read returns the content of a file and the info of the file that was read. It fails if the file is larger than limit.
// It opens the file as Open does.
func Read(path string, limit int) ([]byte, fs.FileInfo, error) {
	file, info, err := Open(path)
	if err != nil {
		return nil, info, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, int64(limit)+1))
	if err != nil {
		return nil, info, err
	}
	if len(data) > limit {
		return nil, info, &fs.PathError{Op: "read", Path: path, Err: errors.New("it is larger than " + size(limit))}
	}
	return data, info, nil
}

func size(bytes int) string {
	if bytes >= 1<<20 && bytes%(1<<20) == 0 {
		return fmt.Sprintf("%d MiB", bytes>>20)
	}
	return fmt.Sprintf("%d KiB", bytes>>10)
}

// Kinds of access that may be forbidden to other users.
const (
	Change       fs.FileMode = 0o022
	ReadOrChange fs.FileMode = 0o077
)
