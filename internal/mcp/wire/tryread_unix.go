//go:build unix

package wire

import (
	"errors"
	"io"
	"syscall"
)

// pollReader reads from a pipe or socket what is there, and waits for it with Go's poller.
// Whatever is not usual is left to the source itself. It is for one goroutine.
type pollReader struct {
	src     io.Reader
	conn    syscall.RawConn
	attempt func(fd uintptr) bool // made once, since it is called for every message
	waits   func()                // is called before it waits

	// What attempt works on.
	data []byte
	n    int
	err  error
}

// newPollReader has waits called before a read waits. It returns src itself if its reads may
// block whatever we do: then waits is never called.
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
		return false // waits, and tries again
	}
	return r
}

func (r *pollReader) Read(data []byte) (int, error) {
	r.data = data
	err := r.conn.Read(r.attempt)
	r.data = nil
	switch {
	case err != nil || r.err != nil:
		return r.src.Read(data) // it has the right words
	case r.n == 0 && len(data) > 0:
		return 0, io.EOF
	}
	return r.n, nil
}
