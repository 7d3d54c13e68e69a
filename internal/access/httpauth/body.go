package httpauth

import (
	"io"
	"net/http"
	"time"
)

// Time limits for the body of a request.
const (
	// drainTime is how long an unread body may still arrive after its response: closing a connection with unread bytes
	// may discard the response.
	drainTime = 500 * time.Millisecond
	// unreadTime bounds every read of a body, for handlers that set no deadline of their own.
	unreadTime = 30 * time.Second
)

// boundBodies keeps a request with an unread body from holding its connection: net/http reads the rest of a body before
// the next request, without a deadline.
func boundBodies(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength == 0 {
			next.ServeHTTP(w, r)
			return
		}
		b := &boundedExchange{ResponseWriter: w, body: r.Body, left: r.ContentLength, isHTTP1: r.ProtoMajor == 1}
		// A chunked request may also have had a Content-Length, which net/http removes: the next server in the chain
		// may have used that as the end of the request.
		b.closes = b.isHTTP1 && r.ContentLength < 0
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(unreadTime))
		r.Body = b
		next.ServeHTTP(b, r)
		b.beforeAnswer()
	})
}

// boundedExchange is one request with a body, and its response. Only the request's goroutine uses it.
type boundedExchange struct {
	http.ResponseWriter
	body     io.ReadCloser
	left     int64 // unread bytes of the body; negative if the length is unknown
	isHTTP1  bool
	closes   bool // the connection is not reused, even if everything was read
	ended    bool // the whole body was read
	answered bool
}

func (b *boundedExchange) Read(into []byte) (int, error) {
	n, err := b.body.Read(into)
	if b.left > 0 {
		b.left -= int64(n)
	}
	if !b.ended && (err == io.EOF || b.left == 0) {
		b.ended = true
		_ = http.NewResponseController(b.ResponseWriter).SetReadDeadline(time.Time{}) // the response may take long
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

// beforeAnswer decides once, before the response begins, whether to close the connection. In HTTP/2, net/http ends only
// the stream.
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
