package safefile

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// tryLock takes the lock on file if nobody else has it. The lock belongs to the
// handle, so that it works within a process as well.
func tryLock(file *os.File) (bool, error) {
	err := windows.LockFileEx(windows.Handle(file.Fd()),
		windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, new(windows.Overlapped))
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}

// unlock lets go of the lock before closing, because Windows promises no time
// by which closing alone does.
func unlock(file *os.File) {
	_ = windows.UnlockFileEx(windows.Handle(file.Fd()), 0, 1, 0, new(windows.Overlapped))
	file.Close()
}
