package wire

import (
	"errors"
	"io"
)

// ReadBody reads one message that ends with its input, such as the body of an HTTP
// response, and has at most limit bytes; zero means DefaultLimit. A size that is known
// beforehand saves copies, and a wrong one does no harm; -1 stands for none. The error of
// a message that is too long is a *TooLongError; its end was not waited for.
func ReadBody(src io.Reader, size int64, limit int) (Frame, error) {
	if limit <= 0 {
		limit = DefaultLimit
	}
	guess := min(max(int(min(size, int64(longestGuess))), 0), limit)
	// One byte more, so that the end of a body of that size is seen without growing.
	buf := grab(headroom + max(guess+1, 512) + slack)[:headroom]
	for {
		if len(buf)+slack == cap(buf) {
			bigger := grab(min(2*cap(buf), headroom+limit+1+slack))[:len(buf)]
			copy(bigger, buf)
			recycle(buf)
			buf = bigger
		}
		n, err := src.Read(buf[len(buf) : cap(buf)-slack])
		buf = buf[:len(buf)+n]
		if read := len(buf) - headroom; read > limit {
			id, isRequest := Skim(buf[headroom:])
			return Frame{}, &TooLongError{Limit: limit, Size: max(int64(read), size), ID: id, IsRequest: isRequest}
		}
		if errors.Is(err, io.EOF) {
			frame := Frame{buf: buf, start: headroom}
			frame.trim()
			return frame, nil
		}
		if err != nil {
			return Frame{}, err
		}
	}
}
