package front

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
)

// Times of an answer over HTTP.
const (
	// streamAfter is how long a response may take before it becomes a stream: from then on proxies
	// see that the connection is alive, and the client can come back for the response.
	streamAfter = 2 * time.Second
	// pulseTime is the interval of comments in a stream without messages.
	pulseTime = 15 * time.Second
	// writeTime is how long a client may read nothing.
	writeTime = time.Minute
)

// writeChunk is how much is written under one deadline.
const writeChunk = 256 << 10

// answerForm is how a POST is answered.
type answerForm int

const (
	alone     answerForm = iota // the response as JSON
	streamed                    // all messages as events, the response last
	bodyless                    // without a response, or with one that the client cannot read
	abandoned                   // the client has gone
)

// form waits until it is known how a POST is answered: with the response alone if it comes soon
// and without messages before it, otherwise with a stream. A client that does not accept streams
// waits for the response.
func (st *stream) form(ctx context.Context, accepted accepts) (answerForm, spilledMessage) {
	soon := time.NewTimer(streamAfter)
	defer soon.Stop()
	sequence := uint64(0)
	for {
		next, found, ended := st.after(sequence)
		switch {
		case found && next.answer && accepted.json:
			return alone, next.message
		case (found || ended) && accepted.stream:
			return streamed, spilledMessage{}
		case found: // a message that a response alone has no place for
			st.markWritten(next)
			sequence = next.sequence
			continue
		case ended:
			return bodyless, spilledMessage{}
		}
		select {
		case <-st.wake:
		case <-soon.C:
			if accepted.stream {
				return streamed, spilledMessage{}
			}
		case <-ctx.Done():
			return abandoned, spilledMessage{}
		}
	}
}

// answer sends the response to a POST of a session.
func (e exchange) answer(client *httpSession, st *stream, accepted accepts) {
	switch form, answer := st.form(e.r.Context(), accepted); form {
	case alone:
		status := http.StatusOK
		if st.errorCode == protocol.CodeTooMany {
			status = statusOf(st.errorCode)
		}
		e.answerJSON(status, answer)
		st.drop()
	case streamed:
		streamPOST(e.r.Context(), newOutput(e.w), client, st)
	case bodyless:
		e.w.WriteHeader(http.StatusAccepted)
	case abandoned:
		st.drop() // nobody can come back for it
	}
}

// answerJSON sends a response alone.
func (e exchange) answerJSON(status int, answer spilledMessage) {
	header := e.w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Content-Length", strconv.FormatInt(answer.size, 10))
	if status == http.StatusTooManyRequests {
		header.Set("Retry-After", retryOwn)
	}
	e.w.WriteHeader(status)
	_, _ = io.Copy(newOutput(e.w), answer.reader()) // a client that is gone needs no answer
}

// streamPOST sends the messages of a POST as events, and lets the client come back for
// them if the connection breaks.
func streamPOST(ctx context.Context, out *output, client *httpSession, st *stream) {
	lost := st.attach()
	client.posts.keep(st)
	out.writeHeader()
	if client.primes() {
		out.prime(st, 0)
	}
	st.pump(ctx, out, 0, lost)
}

// get serves the stream of messages that belong to no request, or continues one that broke.
func (h *httpServer) get(e exchange) {
	if !acceptedBy(e.r).stream {
		refuse(e.w, http.StatusNotAcceptable, protocol.CodeInvalidRequest, "The Accept header must list text/event-stream")
		return
	}
	client, ok := h.session(e)
	if !ok {
		return
	}
	st, sequence := client.get, uint64(0)
	if id := e.r.Header.Get("Last-Event-ID"); id != "" {
		var err error
		if st, sequence, err = client.findStream(id); err != nil {
			refuse(e.w, http.StatusBadRequest, protocol.CodeInvalidRequest, "Invalid request: "+err.Error())
			return
		}
	} else {
		sequence = st.lastWritten()
	}
	switch {
	case st != client.get: // a response in flight
		client.exchanges.Add(1)
		defer client.exchanges.Add(-1)
	case h.draining.Load():
		refuseNew(e.w)
		return
	}
	client.enter()
	defer client.idle.release()
	out := newOutput(e.w)
	lost := st.attach()
	out.writeHeader()
	if client.primes() {
		out.prime(st, sequence)
	}
	st.pump(e.r.Context(), out, sequence, lost)
	if st == client.get && h.draining.Load() {
		comeBack(out)
	}
}

// pump sends events to the connection that attach returned lost for, until the stream ends, the
// client goes, or another connection takes over.
func (st *stream) pump(ctx context.Context, out *output, sequence uint64, lost chan struct{}) {
	defer st.detach(lost)
	pulse := time.NewTicker(pulseTime)
	defer pulse.Stop()
	for {
		next, found, ended := st.after(sequence)
		if found {
			if !out.event(st.number, next) {
				return
			}
			st.markWritten(next)
			sequence = next.sequence
			continue
		}
		if !out.flush() || ended {
			return
		}
		select {
		case <-st.wake:
		case <-pulse.C:
			if !out.text(": still here\n\n") {
				return
			}
		case <-lost:
			return
		case <-ctx.Done():
			return
		}
	}
}

// primes reports whether the client's revision knows events without a message, which give the
// client an id to come back with.
func (c *httpSession) primes() bool { return c.revision() >= protocol.Revision20251125 }

// output writes a response in chunks, each with a deadline.
type output struct {
	w          http.ResponseWriter
	connection *http.ResponseController
	unnumbered bool // events have no ids: the client cannot come back for them
}

func newOutput(w http.ResponseWriter) *output {
	return &output{w: w, connection: http.NewResponseController(w)}
}

// Write implements io.Writer.
func (o *output) Write(data []byte) (written int, err error) {
	for len(data) > 0 && err == nil {
		_ = o.connection.SetWriteDeadline(time.Now().Add(writeTime)) // not all connections have one
		n := 0
		n, err = o.w.Write(data[:min(len(data), writeChunk)])
		written += n
		data = data[n:]
	}
	return written, err
}

// writeHeader sends the headers of a stream of events.
func (o *output) writeHeader() {
	header := o.w.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("X-Accel-Buffering", "no") // nginx would keep events back
	o.w.WriteHeader(http.StatusOK)
}

// prime sends an id to come back with before there is a message.
func (o *output) prime(st *stream, sequence uint64) {
	o.text(fmt.Sprintf("id: %d-%d\ndata: \n\n", st.number, sequence))
}

// event sends one message; it reports whether the client is still there.
func (o *output) event(number uint64, e event) bool {
	head := make([]byte, 0, 64)
	if !o.unnumbered {
		head = fmt.Appendf(head, "id: %d-%d\n", number, e.sequence)
	}
	head = append(head, "event: message\ndata: "...)
	if _, err := o.Write(head); err != nil {
		return false
	}
	if _, err := io.Copy(o, e.message.reader()); err != nil { // it ends with its newline
		return false
	}
	_, err := o.Write([]byte("\n"))
	return err == nil
}

// text sends a comment or an event without a message, at once.
func (o *output) text(text string) bool {
	_, err := io.WriteString(o, text)
	return err == nil && o.flush()
}

// boundedWriter is the response of a handler that does not bound how long it writes.
type boundedWriter struct {
	http.ResponseWriter
	out *output
}

// Write implements http.ResponseWriter.
func (w boundedWriter) Write(data []byte) (int, error) { return w.out.Write(data) }

func (o *output) flush() bool { return o.connection.Flush() == nil }
