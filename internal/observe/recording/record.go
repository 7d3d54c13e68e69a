package recording

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"sync"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// maxLine is the size of a recorded message, and so of a line of a recording.
const maxLine = 64 << 20

// Recorder records a session that passes through its Reader and its Writer.
type Recorder struct {
	mask  mask
	began time.Time

	mu  sync.Mutex
	dst io.Writer
	err error // the first one; nothing is written after it
	n   int
}

// NewRecorder starts a recording. hide masks the secrets that are known.
func NewRecorder(dst io.Writer, header Header, hide func(text string) string) (*Recorder, error) {
	r := &Recorder{mask: mask{hide}, began: time.Now(), dst: dst}
	_, err := header.write(dst)
	return r, err
}

// Messages returns the number of recorded messages, and the error that stopped the recording.
func (r *Recorder) Messages() (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.n, r.err
}

// Reader records the bytes read as the client's.
func (r *Recorder) Reader(src io.ReadCloser) io.ReadCloser {
	return &tappedReader{src, splitter{recorder: r, from: Client}}
}

// Writer records the bytes written as the server's.
func (r *Recorder) Writer(dst io.WriteCloser) io.WriteCloser {
	return &tappedWriter{dst, splitter{recorder: r, from: Server}}
}

type tappedReader struct {
	io.ReadCloser
	tap splitter
}

func (t *tappedReader) Read(p []byte) (int, error) {
	n, err := t.ReadCloser.Read(p)
	t.tap.feed(p[:n])
	return n, err
}

type tappedWriter struct {
	io.WriteCloser
	tap splitter
}

// Write records first, so that a response precedes what the client does with it.
func (t *tappedWriter) Write(p []byte) (int, error) {
	t.tap.feed(p)
	return t.WriteCloser.Write(p)
}

// splitter splits a stream of bytes into messages. It is used by one goroutine at a time.
type splitter struct {
	recorder *Recorder
	from     Side
	rest     []byte // of an incomplete message
	skipped  int64  // bytes of a message that is too long to record
}

func (s *splitter) feed(data []byte) {
	for {
		at := bytes.IndexByte(data, '\n')
		part := data
		if at >= 0 {
			part = data[:at]
		}
		if s.skipped > 0 || len(s.rest)+len(part) > maxLine {
			s.skipped += int64(len(s.rest) + len(part))
			s.rest = nil
		} else {
			s.rest = append(s.rest, part...)
		}
		if at < 0 {
			return
		}
		if s.skipped > 0 || len(bytes.TrimSpace(s.rest)) > 0 {
			s.recorder.writeMessage(s.from, s.rest, s.skipped)
		}
		s.rest, s.skipped = s.rest[:0], 0
		data = data[at+1:]
	}
}

// writeMessage records one message.
func (r *Recorder) writeMessage(from Side, message []byte, skipped int64) {
	l := line{At: secondsAfter(time.Since(r.began)), From: from, Skipped: skipped}
	if skipped == 0 {
		l.hold(r.mask, bytes.Clone(message)) // the bytes belong to the splitter
	}
	text, err := l.encode()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return
	}
	if err == nil {
		_, err = r.dst.Write(text)
	}
	if r.err = err; err == nil {
		r.n++
	}
}

func secondsAfter(d time.Duration) float64 { return math.Round(d.Seconds()*1e6) / 1e6 }

// hold sets the message of a line, with its secrets hidden. What a replay could not read is text. It consumes the message.
func (l *line) hold(m mask, message []byte) {
	value, err := wire.ParseValue(message)
	if err == nil {
		_, err = wire.Parse(wire.NewFrame(bytes.Clone(value.Bytes())))
	}
	if err != nil {
		l.Text = m.text(string(message))
		return
	}
	l.Message = m.message(value)
}

// encode returns the line, with its end.
func (l *line) encode() ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // recordings are meant to be read
	err := encoder.Encode(l)
	return text.Bytes(), err
}
