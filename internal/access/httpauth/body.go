package httpauth

import (
	"io"
	"net/http"
	"time"
)

// Times for the body of a request.
const (
	// drainTime is how long a body that nobody reads may still arrive after its answer: a
	// connection that is closed with bytes unread may take the answer with it.
	drainTime = 500 * time.Millisecond
	// unreadTime bounds every read of a body, for handlers that set no deadline of their own.
	unreadTime = 30 * time.Second
)

// boundBodies makes sure that a request whose body was not read does not keep its connection:
// net/http reads what is left of a body before it goes on, and waits for it without a deadline.
func boundBodies(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength == 0 {
			next.ServeHTTP(w, r)
			return
		}
		b := &boundedExchange{ResponseWriter: w, body: r.Body, left: r.ContentLength, isHTTP1: r.ProtoMajor == 1}
		// A chunked request may have had a Content-Length as well, which net/http takes out: the next
		// server in the chain may have taken that for its end.
		b.closes = b.isHTTP1 && r.ContentLength < 0
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(unreadTime))
		r.Body = b
		next.ServeHTTP(b, r)
		b.beforeAnswer()
	})
}

// boundedExchange is one request with a body, and its answer. Used by the request's goroutine alone.
type boundedExchange struct {
	http.ResponseWriter
	body     io.ReadCloser
	left     int64 // of the body that was not read; negative where the length is unknown
	isHTTP1  bool
	closes   bool // the connection is not used again, even if all was read
	ended    bool // all of the body was read
	answered bool
}

func (b *boundedExchange) Read(into []byte) (int, error) {
	n, err := b.body.Read(into)
	if b.left > 0 {
		b.left -= int64(n)
	}
	if !b.ended && (err == io.EOF || b.left == 0) {
		b.ended = true
		_ = http.NewResponseController(b.ResponseWriter).SetReadDeadline(time.Time{}) // the answer may take its time
	}
	return n, err
}

func (b *boundedExchange) Close() error { return b.body.Close() }

// Unwrap is for http.ResponseController.
func (b *boundedExchange) Unwrap() http.ResponseWriter { return b.ResponseWriter }

func (b *boundedExchange) WriteHeader(status int) {
	b.beforeAnswer()
	b.ResponseWriter.WriteHeader(status)
}

func (b *boundedExchange) Write(data []byte) (int, error) {
	b.beforeAnswer()
	return b.ResponseWriter.Write(data)
}

// beforeAnswer decides what becomes of the connection, once, before the answer begins.
// Of HTTP/2 only the stream ends, which net/http sees to.
func (b *boundedExchange) beforeAnswer() {
	if b.answered {
		return
	}
	b.answered = true
	if b.isHTTP1 && (b.closes || !b.ended) {
		b.Header().Set("Connection", "close")
	}
	if !b.ended {
		_ = http.NewResponseController(b.ResponseWriter).SetReadDeadline(time.Now().Add(drainTime))
	}
}
