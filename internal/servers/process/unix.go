//go:build unix

package process

import (
	"errors"
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// readAvailable reads from a pipe without waiting. io.EOF means that the pipe is empty, whether or not someone holds
// the other end.
func readAvailable(file *os.File, b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	conn, err := file.SyscallConn()
	if err != nil {
		return 0, err
	}
	var n int
	var readErr error
	// Unlike Read, Control works after the deadline has passed.
	err = conn.Control(func(fd uintptr) {
		for {
			n, readErr = unix.Read(int(fd), b)
			if !errors.Is(readErr, unix.EINTR) {
				return
			}
		}
	})
	switch {
	case err != nil:
		return 0, err
	case errors.Is(readErr, unix.EAGAIN), readErr == nil && n == 0:
		return 0, io.EOF
	case readErr != nil:
		return 0, readErr
	}
	return n, nil
}

func signalName(sig syscall.Signal) string {
	if name := unix.SignalName(sig); name != "" {
		return name
	}
	return sig.String()
}
