// Package ownfile reads files that should be the user's own, and says what other users
// can do with them.
package ownfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Read returns what a file holds, if that is no more than limit, and the info of the file
// that it was read from. The info may come with an error, too. All errors are of the type
// *fs.PathError.
func Read(path string, limit int) ([]byte, fs.FileInfo, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() { // opening a named pipe would wait for who writes to it
		return nil, info, &fs.PathError{Op: "open", Path: path, Err: errors.New("it is not a file")}
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, info, err
	}
	defer file.Close()
	if info, err = file.Stat(); err != nil {
		return nil, nil, err
	}
	data, err := io.ReadAll(io.LimitReader(file, int64(limit)+1))
	if err != nil {
		return nil, info, err
	}
	if len(data) > limit {
		return nil, info, &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("it is larger than %d KiB", limit>>10)}
	}
	return data, info, nil
}

// What strangers may be kept from.
const (
	Change       fs.FileMode = 0o022
	ReadOrChange fs.FileMode = 0o077
)
