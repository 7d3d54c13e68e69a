package safefile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// ErrSpecial is the reason why what is no regular file is not read.
var ErrSpecial = errors.New("it is not a file")

// Open opens a file for reading, and returns its info too. What is no regular file is refused at once, also if it
// became one only now: opening a named pipe would wait for who writes to it, and reading a device may never end. The info
// may come with an error, too. All errors are of the type *fs.PathError.
func Open(path string) (*os.File, fs.FileInfo, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	special := &fs.PathError{Op: "open", Path: path, Err: ErrSpecial}
	if !info.Mode().IsRegular() {
		return nil, info, special
	}
	file, err := os.OpenFile(path, os.O_RDONLY|NoWait, 0)
	if err != nil {
		return nil, info, err
	}
	if info, err = file.Stat(); err == nil && !info.Mode().IsRegular() {
		err = special
	}
	if err != nil {
		_ = file.Close()
		return nil, info, err
	}
	return file, info, nil
}

// Read returns what a file holds, if that is no more than limit, and the info of the file
// that it was read from. It opens the file as Open does.
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

// What strangers may be kept from.
const (
	Change       fs.FileMode = 0o022
	ReadOrChange fs.FileMode = 0o077
)
