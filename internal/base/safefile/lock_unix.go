//go:build unix

package safefile

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// tryLock takes the lock on file if nobody else has it. The lock belongs to the
// open file, so that it works within a process as well.
func tryLock(file *os.File) (bool, error) {
	err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) || errors.Is(err, unix.EINTR) {
		return false, nil
	}
	return err == nil, err
}

// unlock closes the file, and the lock goes with it.
func unlock(file *os.File) { file.Close() }
