package wire

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
)

// DefaultLimit is how long a message may be where nothing else is configured.
const DefaultLimit = 64 << 20

// TooLongError says that a message was longer than the limit. It was skipped up to
// its end, and reading can go on.
type TooLongError struct {
	Limit int
	Size  int64
	ID    []byte // the message's id, if it has one
	// IsRequest says that the message had a method.
	IsRequest bool
}

func (e *TooLongError) Error() string {
	return fmt.Sprintf("message of %d bytes is longer than the limit of %d (maxMessageSize)", e.Size, e.Limit)
}

// ErrEndless is the error of a message that is so long that its end is not waited for.
var ErrEndless = errors.New("a message without end")

// Reader reads messages that end with a newline. It must be used by one goroutine.
type Reader struct {
	// MaxSkip is how long a message that is too long may be for its end to be waited for;
	// a longer one is an ErrEndless. Default: there is no limit.
	MaxSkip int64
	// Gather has writers send together what they are given between two reads, if that is for
	// messages that arrived together. The reader must then not be left in between.
	Gather bool

	src   io.Reader
	tells bool // src ends the burst before it waits
	limit int
	burst burst
	reads int // since the burst was last ended here

	chunk []byte // what was read and not yet handed out is chunk[r:w]
	r, w  int
	next  int // where the next newline of it is, after r; -1 if there is none
	long  int // the length of the last line that did not fit the chunk

	frames []byte // what is left of the memory for short lines that came together
}

// chunkSize is the size of the buffer that short lines are read into. It stays while the
// reader waits, so that it must be small; a long line gets a buffer of its own, at first
// as large as the one before it needed, within longestGuess.
const (
	chunkSize    = 64 << 10
	longestGuess = 4 << 20 // buffer that is reserved ahead for a long message; a longer one grows it
	// longestWait is up to which length a line is expected to be followed by one alike, which
	// is then read to where it belongs at once. That buffer, too, stays while the reader waits.
	longestWait = 256 << 10
	// framesSize is how much memory short lines share.
	framesSize = 8 << 10
	// longestBurst is over how many reads that found something at once a burst goes on.
	longestBurst = 4
)

// NewReader reads messages of at most limit bytes from src; zero means DefaultLimit.
func NewReader(src io.Reader, limit int) *Reader {
	if limit <= 0 {
		limit = DefaultLimit
	}
	r := &Reader{limit: limit, next: -1}
	r.src = newPollReader(src, r.burst.end)
	r.tells = r.src != src
	return r
}

// Next returns the next message that is not blank; the frame is the caller's. After
// a *TooLongError reading can go on, after any other error it cannot. A last message
// without a newline counts, and is followed by io.EOF.
func (r *Reader) Next() (Frame, error) {
	for {
		frame, err := r.line()
		if err != nil {
			r.burst.end() // there may be no further read
		}
		if err != nil && (!errors.Is(err, io.EOF) || len(frame.buf) == 0) {
			return Frame{}, err
		}
		frame.trim()
		if len(frame.Bytes()) > 0 {
			return frame, nil
		}
		if err != nil {
			return Frame{}, err
		}
	}
}

// trim takes white space and a byte order mark off the ends.
func (f *Frame) trim() {
	if data := f.Bytes(); len(data) > 0 && data[0] == '{' && data[len(data)-1] == '}' {
		return
	}
	data := bytes.TrimRight(f.Bytes(), " \t\r\n")
	f.buf = f.buf[:f.start+len(data)]
	left := bytes.TrimLeft(bytes.TrimPrefix(data, []byte(byteOrderMark)), " \t\r")
	f.start += len(data) - len(left)
}

// line returns everything up to the next newline, which it drops.
func (r *Reader) line() (Frame, error) {
	if r.next >= 0 {
		return r.take(r.next)
	}
	if r.reads++; !r.tells || r.reads >= longestBurst {
		r.burst.end()
		r.reads = 0
	}
	if r.long > 0 && r.long <= longestWait && r.w-r.r < chunkSize {
		return r.longLine()
	}
	if len(r.chunk) != chunkSize && r.w-r.r < chunkSize {
		chunk := make([]byte, chunkSize)
		r.w = copy(chunk, r.chunk[r.r:r.w])
		r.chunk, r.r = chunk, 0
	}
	if r.r > 0 {
		r.w = copy(r.chunk, r.chunk[r.r:r.w])
		r.r = 0
	}
	for r.w < len(r.chunk) {
		n, err := r.src.Read(r.chunk[r.w:])
		fresh := r.chunk[r.w : r.w+n]
		r.w += n
		if end := bytes.IndexByte(fresh, '\n'); end >= 0 {
			return r.take(r.w - n + end)
		}
		if err != nil {
			frame, tooLong := r.take(r.w)
			frame.cut = true
			r.r, r.w = 0, 0
			return frame, cmp.Or(tooLong, err)
		}
	}
	return r.longLine()
}

// take hands out a copy of the chunk's next n bytes and drops them with their newline.
func (r *Reader) take(n int) (Frame, error) {
	line := r.chunk[r.r : r.r+n]
	r.r = min(r.r+n+1, r.w)
	if r.next = bytes.IndexByte(r.chunk[r.r:r.w], '\n'); r.next >= 0 && r.Gather {
		r.burst.begin()
	}
	if n > r.limit {
		id, isRequest := Skim(line)
		return Frame{}, &TooLongError{Limit: r.limit, Size: int64(n), ID: id, IsRequest: isRequest}
	}
	before, behind := roomFor(n)
	buf := r.room(before + n + behind)[:before+n]
	copy(buf[before:], line)
	return Frame{buf: buf, start: before}, nil
}

// room returns an empty buffer for n bytes. Short lines that came together share memory: they
// come to their ends together as well.
func (r *Reader) room(n int) []byte {
	if n > len(r.frames) {
		if r.next < 0 || n > framesSize/8 {
			return grab(n)
		}
		r.frames = make([]byte, framesSize)
	}
	buf := r.frames[:0:n]
	r.frames = r.frames[n:]
	return buf
}

// roomFor returns how many bytes are kept free before and behind a line of n bytes.
func roomFor(n int) (before, behind int) {
	if n <= shortFrame {
		return shortHeadroom, shortSlack
	}
	return headroom, slack
}

// longLine goes on with a line that fills the whole chunk, or is expected to. It reads into
// the frame itself, so that a large message is not copied once more.
func (r *Reader) longLine() (Frame, error) {
	begun := r.chunk[r.r:r.w]
	guess := max(len(begun)+chunkSize-headroom-slack-1, min(r.long, longestGuess))
	buf := grab(headroom + guess + slack + 1)[:headroom+len(begun)]
	copy(buf[headroom:], begun)
	r.r, r.w = 0, 0
	for len(buf)-headroom <= r.limit {
		if len(buf)+slack == cap(buf) {
			bigger := grab(min(2*cap(buf), headroom+r.limit+chunkSize+slack))[:len(buf)]
			copy(bigger, buf)
			recycle(buf)
			buf = bigger
		}
		fresh := buf[len(buf) : cap(buf)-slack]
		n, err := r.src.Read(r.expected(fresh, len(buf)-headroom))
		fresh = fresh[:n]
		end := bytes.IndexByte(fresh, '\n')
		if end >= 0 {
			r.keep(fresh[end+1:])
			n, err = end, nil
		}
		buf = buf[:len(buf)+n]
		if end < 0 && err == nil {
			continue
		}
		return r.finishLong(buf, err)
	}
	return Frame{}, r.skipLine(buf[headroom:])
}

// expected returns the part of a buffer to read into, so that little of the next message,
// which would have to be copied, is read with the rest of one as long as the last.
func (r *Reader) expected(fresh []byte, read int) []byte {
	if rest := r.long + 2 - read; r.long <= longestWait && rest > 0 && rest < len(fresh) {
		return fresh[:rest]
	}
	return fresh
}

// finishLong hands out a line that was read into a buffer of its own.
func (r *Reader) finishLong(buf []byte, err error) (Frame, error) {
	size := len(buf) - headroom
	switch r.long = size; {
	case size > r.limit:
		id, isRequest := Skim(buf[headroom:])
		return Frame{}, &TooLongError{r.limit, int64(size), id, isRequest}
	case size < chunkSize/2: // it was only expected to be long
		r.long = 0
		small := grab(headroom + size + slack)[:headroom+size]
		copy(small[headroom:], buf[headroom:])
		recycle(buf)
		buf = small
	}
	return Frame{buf: buf, start: headroom, cut: err != nil}, err
}

// keep puts what was read after a long line into the chunk, which has been emptied.
func (r *Reader) keep(rest []byte) {
	if len(rest) > len(r.chunk) {
		r.chunk = make([]byte, max(len(rest), chunkSize))
	}
	r.w = copy(r.chunk, rest)
	r.next = bytes.IndexByte(rest, '\n')
}

// skipLine drops the rest of a line that is too long, of which seen was read already,
// and reports it.
func (r *Reader) skipLine(seen []byte) error {
	var skim skimmer
	skim.feed(seen)
	size := int64(len(seen))
	for {
		n, err := r.src.Read(r.chunk)
		fresh := r.chunk[:n]
		end := bytes.IndexByte(fresh, '\n')
		if end >= 0 {
			r.r, r.w = end+1, n
			r.next = bytes.IndexByte(r.chunk[r.r:r.w], '\n')
			fresh = fresh[:end]
		}
		skim.feed(fresh)
		size += int64(len(fresh))
		if end >= 0 || errors.Is(err, io.EOF) {
			return &TooLongError{r.limit, size, skim.id, skim.hasMethod}
		}
		if r.MaxSkip > 0 && size > r.MaxSkip {
			return fmt.Errorf("%w: more than %d bytes", ErrEndless, size)
		}
		if err != nil {
			return err
		}
	}
}
