//go:build unix

package wire

import (
	"os"
	"syscall"
)

// Pollable makes a pipe or socket that we were started with go through Go's poller:
// reads and writes can then be ended by closing it, and cost less than blocking ones.
// Files and terminals, which may be shared with others, stay as they are.
func Pollable(file *os.File) *os.File {
	info, err := file.Stat()
	if err != nil || info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
		return file
	}
	fd := int(file.Fd())
	if err := syscall.SetNonblock(fd, true); err != nil {
		return file
	}
	return os.NewFile(uintptr(fd), file.Name())
}
