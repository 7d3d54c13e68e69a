package page

import (
	"net/http"
	"time"
)

// timedWriter is a response of which each part has writeTime to be read.
type timedWriter struct {
	http.ResponseWriter
	out *http.ResponseController
}

// newTimedWriter returns a response without a deadline until it is written to. The former response of its connection left
// one, which may have passed.
func newTimedWriter(w http.ResponseWriter) *timedWriter {
	t := &timedWriter{w, http.NewResponseController(w)}
	_ = t.out.SetWriteDeadline(time.Time{}) // not all connections have one
	return t
}

func (t *timedWriter) extend() { _ = t.out.SetWriteDeadline(time.Now().Add(writeTime)) }

func (t *timedWriter) WriteHeader(status int) {
	t.extend()
	t.ResponseWriter.WriteHeader(status)
}

func (t *timedWriter) Write(part []byte) (int, error) {
	t.extend()
	return t.ResponseWriter.Write(part)
}

// FlushError implements http.ResponseController.
func (t *timedWriter) FlushError() error {
	t.extend()
	return t.out.Flush()
}

// Unwrap lets http.ResponseController reach the connection.
func (t *timedWriter) Unwrap() http.ResponseWriter { return t.ResponseWriter }
