//go:build unix

package wire

import (
	"errors"
	"io"
	"syscall"
)

// pollReader reads from a non-blocking pipe or socket, and waits with Go's poller. Errors are left to the source, which
// has the right ones. It is for one goroutine.
type pollReader struct {
	src     io.Reader
	conn    syscall.RawConn
	attempt func(fd uintptr) bool // made once, since it is called for every message
	waits   func()                // is called before a read waits

	// What attempt works on.
	data []byte
	n    int
	err  error
}

// newPollReader has waits called before a read waits. It returns src itself if its reads may block; waits is never
// called then.
func newPollReader(src io.Reader, waits func()) io.Reader {
	conn := nonblocking(src)
	if conn == nil {
		return src
	}
	r := &pollReader{src: src, conn: conn, waits: waits}
	r.attempt = func(fd uintptr) bool {
		r.n, r.err = readNow(fd, r.data)
		if !errors.Is(r.err, syscall.EAGAIN) {
			return true
		}
		r.waits()
		return false // the poller waits, and calls it again
	}
	return r
}

func (r *pollReader) Read(data []byte) (int, error) {
	r.data = data
	err := r.conn.Read(r.attempt)
	r.data = nil
	switch {
	case err != nil || r.err != nil:
		return r.src.Read(data)
	case r.n == 0 && len(data) > 0:
		return 0, io.EOF
	}
	return r.n, nil
}

// tryWriter writes to a non-blocking pipe or socket as much as it takes at once. It is for one goroutine at a time.
type tryWriter struct {
	conn    syscall.RawConn
	attempt func(fd uintptr) bool // made once, since it is called for every message

	// What attempt works on.
	data []byte
	n    int
	err  error
}

// newTryWriter returns nil if writes to dst may block.
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

// write returns how much was written. A full pipe is not an error.
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

// nonblocking returns the raw connection of a file that does not block, or nil.
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
