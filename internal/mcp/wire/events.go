package wire

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"time"
)

// Event is one server-sent event that carries data.
type Event struct {
	Name string // what the server calls it; "" stands for "message"
	Data Frame  // has the same room around it as a frame of a Reader
}

// EventReader reads a stream of server-sent events. It must be used by one goroutine.
type EventReader struct {
	// MaxSkip is how long an event that is too long may be for its end to be waited for;
	// a longer one is an ErrEndless. Default: there is no limit.
	MaxSkip int64

	src   io.Reader
	limit int
	err   error // of src, once all that was read has been used

	chunk   []byte // what was read and not yet looked at is chunk[r:w]
	r, w    int
	afterCR bool // a line feed that comes next belongs to the line end before it
	begun   bool // the first line, which may begin with a byte order mark, is over

	line   line
	event  draft
	lastID string
	retry  time.Duration
}

// line is the line that is being read.
type line struct {
	head  []byte // the field's name, until it is known
	field field
}

type field int

const (
	fieldUnknown field = iota // not yet known
	fieldIgnored
	fieldData
	fieldName
	fieldID
	fieldRetry
)

// draft is the event that is being read.
type draft struct {
	data  []byte   // with headroom; nil before the first data field
	size  int64    // of the data, including what was skipped
	skim  *skimmer // not nil: the event is too long
	name  []byte
	id    []byte
	hasID bool
	retry []byte
}

// eventChunk is the size of the buffer that a stream is read through. Every request may
// have a stream, so that it must be small.
const eventChunk = 16 << 10

// Limits of the fields beside the data. What is longer counts as not given.
const (
	longestField = 4 << 10 // size of a field of an event other than its data; a longer one is skipped
	longestHead  = 16      // of a field's name, with a byte order mark before it
)

const byteOrderMark = "\xef\xbb\xbf"

// NewEventReader reads events with at most limit bytes of data from src; zero means
// DefaultLimit.
func NewEventReader(src io.Reader, limit int) *EventReader {
	if limit <= 0 {
		limit = DefaultLimit
	}
	return &EventReader{src: src, limit: limit}
}

// LastID returns the id of the last event that had one, or "". With it a server can
// go on where a stream broke off.
func (r *EventReader) LastID() string { return r.lastID }

// Retry returns how long the server asks to wait before a stream is opened again, or 0.
func (r *EventReader) Retry() time.Duration { return r.retry }

// Next returns the next event that has data; its frame is the caller's. After a
// *TooLongError reading can go on, after any other error it cannot. An event that the
// stream breaks off in does not count.
func (r *EventReader) Next() (Event, error) {
	for {
		for r.r < r.w {
			piece, ends := r.piece()
			r.take(piece)
			if !ends {
				continue
			}
			if event, ok, err := r.endLine(); ok || err != nil {
				return event, err
			}
		}
		if r.err != nil {
			return Event{}, r.err
		}
		if r.chunk == nil {
			r.chunk = make([]byte, eventChunk)
		}
		r.r = 0
		r.w, r.err = r.src.Read(r.chunk)
	}
}

// piece takes what there is of the current line; ends says that the line ends with it.
func (r *EventReader) piece() (piece []byte, ends bool) {
	rest := r.chunk[r.r:r.w]
	if r.afterCR {
		r.afterCR = false
		if rest[0] == '\n' {
			r.r++
			return nil, false
		}
	}
	if end := bytes.IndexByte(rest, '\n'); end >= 0 {
		rest, ends = rest[:end], true
	}
	if end := bytes.IndexByte(rest, '\r'); end >= 0 {
		rest, ends = rest[:end], true
		r.afterCR = true
	}
	r.r += len(rest)
	if ends {
		r.r++
	}
	return rest, ends
}

// take adds a piece to the current line.
func (r *EventReader) take(piece []byte) {
	if len(piece) > 0 && r.line.field == fieldUnknown {
		piece = r.takeHead(piece)
	}
	if len(piece) == 0 {
		return
	}
	e := &r.event
	switch r.line.field {
	case fieldData:
		r.takeData(piece)
	case fieldName:
		e.name = appendField(e.name, piece)
	case fieldID:
		e.id = appendField(e.id, piece)
	case fieldRetry:
		e.retry = appendField(e.retry, piece)
	case fieldUnknown, fieldIgnored:
	}
}

func appendField(field, piece []byte) []byte {
	// One byte more than the limit says that it is too long.
	return append(field, piece[:min(len(piece), longestField+1-len(field))]...)
}

// takeHead looks for the name of the line's field and returns the rest of the piece. The
// one space that may stand before the value is dropped.
func (r *EventReader) takeHead(piece []byte) []byte {
	if n := len(r.line.head); n > 0 && r.line.head[n-1] == ':' {
		r.startField(r.line.head[:n-1])
		return bytes.TrimPrefix(piece, []byte(" "))
	}
	colon := bytes.IndexByte(piece, ':')
	if colon < 0 && len(r.line.head)+len(piece) <= longestHead {
		r.line.head = append(r.line.head, piece...)
		return nil
	}
	if colon < 0 || len(r.line.head)+colon > longestHead {
		r.begun = true
		r.line.field = fieldIgnored
		return nil
	}
	r.line.head = append(r.line.head, piece[:colon+1]...)
	if colon+1 == len(piece) {
		return nil // whether a space follows is not known yet
	}
	return r.takeHead(piece[colon+1:])
}

// startField begins the value of a field.
func (r *EventReader) startField(name []byte) {
	if !r.begun {
		name = bytes.TrimPrefix(name, []byte(byteOrderMark))
		r.begun = true
	}
	e := &r.event
	switch string(name) {
	case "data":
		r.line.field = fieldData
		if e.data == nil {
			e.data = make([]byte, headroom, headroom+512+slack)
		} else {
			r.takeData([]byte("\n"))
		}
	case "event":
		r.line.field, e.name = fieldName, e.name[:0]
	case "id":
		r.line.field, e.id, e.hasID = fieldID, e.id[:0], true
	case "retry":
		r.line.field, e.retry = fieldRetry, e.retry[:0]
	default:
		r.line.field = fieldIgnored
	}
}

// takeData adds to the event's data. Of an event that is too long nothing is kept but its
// message's id.
func (r *EventReader) takeData(piece []byte) {
	e := &r.event
	e.size += int64(len(piece))
	if e.skim == nil && e.size > int64(r.limit) {
		e.skim = new(skimmer)
		e.skim.feed(e.data[headroom:])
		e.data = e.data[:headroom:headroom]
	}
	if e.skim != nil {
		e.skim.feed(piece)
		if r.MaxSkip > 0 && e.size > r.MaxSkip { // the stream is given up
			r.err = fmt.Errorf("%w: more than %d bytes", ErrEndless, e.size)
			r.r, r.w = 0, 0
		}
		return
	}
	if need := len(e.data) + len(piece) + slack; need > cap(e.data) {
		bigger := make([]byte, len(e.data), max(need, min(2*cap(e.data), headroom+r.limit+slack)))
		copy(bigger, e.data)
		e.data = bigger
	}
	e.data = append(e.data, piece...)
}

// endLine ends the line, and with an empty one the event; ok says that it is to be
// handed out.
func (r *EventReader) endLine() (event Event, ok bool, err error) {
	blank := false
	if r.line.field == fieldUnknown {
		blank = len(r.line.head) == 0 || !r.begun && string(r.line.head) == byteOrderMark
		r.startField(bytes.TrimSuffix(r.line.head, []byte(":")))
	}
	r.line.head, r.line.field = r.line.head[:0], fieldUnknown
	if !blank {
		return Event{}, false, nil
	}
	return r.endEvent()
}

func (r *EventReader) endEvent() (event Event, ok bool, err error) {
	e := r.event
	r.event = draft{}
	if e.hasID && len(e.id) <= longestField && bytes.IndexByte(e.id, 0) < 0 {
		r.lastID = string(e.id)
	}
	if ms, err := strconv.ParseUint(string(e.retry), 10, 31); err == nil {
		r.retry = time.Duration(ms) * time.Millisecond
	}
	if e.skim != nil {
		return Event{}, false, &TooLongError{Limit: r.limit, Size: e.size, ID: e.skim.id, IsRequest: e.skim.hasMethod}
	}
	frame := Frame{buf: e.data, start: min(headroom, len(e.data))}
	frame.trim()
	if len(frame.Bytes()) == 0 {
		return Event{}, false, nil // only the id counts
	}
	if len(e.name) <= longestField {
		event.Name = string(e.name)
	}
	event.Data = frame
	return event, true, nil
}
