//go:build unix

package wire

import (
	"errors"
	"io"
	"syscall"
)

// tryWriter writes to a pipe or socket as much as it takes at once. It is for one
// goroutine at a time.
type tryWriter struct {
	conn    syscall.RawConn
	attempt func(fd uintptr) bool // made once, since it is called for every message

	// What attempt works on.
	data []byte
	n    int
	err  error
}

// newTryWriter returns nil for a dst whose writes may block whatever we do.
func newTryWriter(dst io.Writer) *tryWriter {
	conn := nonblocking(dst)
	if conn == nil {
		return nil
	}
	t := &tryWriter{conn: conn}
	t.attempt = func(fd uintptr) bool {
		t.n, t.err = writeNow(fd, t.data)
		return true // do not wait
	}
	return t
}

// write returns how much was taken. That nothing more fits is no error.
func (t *tryWriter) write(data []byte) (int, error) {
	t.data, t.n, t.err = data, 0, nil
	err := t.conn.Write(t.attempt)
	t.data = nil
	if err != nil {
		return 0, err
	}
	if t.err != nil && !errors.Is(t.err, syscall.EAGAIN) && !errors.Is(t.err, syscall.EINTR) {
		return 0, t.err
	}
	return max(t.n, 0), nil
}

// nonblocking returns the system's side of a file that does not block, or nil.
func nonblocking(file any) syscall.RawConn {
	known, ok := file.(syscall.Conn)
	if !ok {
		return nil
	}
	conn, err := known.SyscallConn()
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
	return conn
}
