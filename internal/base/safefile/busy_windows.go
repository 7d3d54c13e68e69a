package safefile

import (
	"errors"
	"time"

	"golang.org/x/sys/windows"
)

const (
	busyTime = 2 * time.Second       // for other programs to close a file that is to be replaced or read; then an error
	busyPoll = 10 * time.Millisecond // between two attempts at such a file
)

// whileBusy repeats an operation while another program has the file open: here, a file that somebody reads cannot be
// replaced, and one that is being replaced cannot be read.
func whileBusy(operation func() error) error {
	for deadline := time.Now().Add(busyTime); ; time.Sleep(busyPoll) {
		err := operation()
		isBusy := errors.Is(err, windows.ERROR_SHARING_VIOLATION) || errors.Is(err, windows.ERROR_ACCESS_DENIED)
		if !isBusy || time.Now().After(deadline) {
			return err
		}
	}
}
