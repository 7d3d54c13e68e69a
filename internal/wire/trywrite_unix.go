//go:build unix

package wire

import (
	"errors"
	"io"
	"syscall"
)

// tryWriter writes to a pipe or socket as much as it takes at once.
type tryWriter struct{ conn syscall.RawConn }

// newTryWriter returns nil for a dst whose writes may block whatever we do.
func newTryWriter(dst io.Writer) *tryWriter {
	file, ok := dst.(syscall.Conn)
	if !ok {
		return nil
	}
	conn, err := file.SyscallConn()
	if err != nil {
		return nil
	}
	blocking := true
	err = conn.Control(func(fd uintptr) {
		flags, _, errno := syscall.Syscall(syscall.SYS_FCNTL, fd, syscall.F_GETFL, 0)
		blocking = errno != 0 || flags&syscall.O_NONBLOCK == 0
	})
	if err != nil || blocking {
		return nil
	}
	return &tryWriter{conn}
}

// write returns how much was taken. That nothing more fits is no error.
func (t *tryWriter) write(data []byte) (n int, err error) {
	connErr := t.conn.Write(func(fd uintptr) bool {
		n, err = syscall.Write(int(fd), data)
		return true // do not wait
	})
	n = max(n, 0)
	if errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EINTR) {
		err = nil
	}
	return n, errors.Join(connErr, err)
}
