package mcptest

import (
	"encoding/json"
	"errors"
	"net/http"
	"sync"
)

// postOutlet is the response of one POST: JSON or an event stream, as what comes first
// demands.
type postOutlet struct {
	h       *httpServer
	message request
	session *session // nil: there is none
	cutting chan struct{}

	mu       sync.Mutex
	w        http.ResponseWriter
	begun    bool
	events   bool // it is an event stream
	done     bool // the response is written
	finished bool // the handler has returned: w is not ours any more
	isOver   bool // cut
}

var errPostOver = errors.New("its POST is over")

func (o *postOutlet) write(message []byte) error {
	status, isResponse := o.judge(message)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.finished || o.isOver || o.done && !o.events {
		return errPostOver
	}
	if !isResponse && o.h.server.Reply == "json" && o.session != nil {
		return o.session.write(message)
	}
	o.done = o.done || isResponse
	if !o.begun {
		events := !isResponse || o.h.server.Reply == "sse" && status == http.StatusOK
		o.beginLocked(events, message)
		if !events {
			o.w.WriteHeader(status)
		}
	}
	if o.events {
		return writeEvent(o.w, "message", message)
	}
	_, err := o.w.Write(message)
	return err
}

// begin sends the header of an event stream.
func (o *postOutlet) begin(events bool, first []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.beginLocked(events, first)
}

// beginLocked prepares the header. A response to initialize begins a session.
func (o *postOutlet) beginLocked(events bool, first []byte) {
	o.begun, o.events = true, events
	if version := versionIn(first); o.message.Method == "initialize" && version != "" && !o.h.server.NoSession {
		o.w.Header().Set("Mcp-Session-Id", o.h.sessions.begin(o.h.conn, version).id)
	}
	if events {
		_ = beginEvents(o.w) // the next write fails, too
		return
	}
	o.w.Header().Set("Content-Type", "application/json")
}

// judge tells whether a message is the response, and the status that goes with it.
func (o *postOutlet) judge(message []byte) (status int, isResponse bool) {
	var parts struct {
		ID     json.RawMessage
		Method string
		Error  *struct{ Code int }
	}
	if json.Unmarshal(message, &parts) != nil || parts.Method != "" || string(parts.ID) != string(o.message.ID) {
		return http.StatusOK, false
	}
	if parts.Error == nil || !o.message.isModern() {
		return http.StatusOK, true
	}
	switch parts.Error.Code {
	case -32601:
		return http.StatusNotFound, true
	case -32602, -32020, -32021, -32022:
		return http.StatusBadRequest, true
	}
	return http.StatusOK, true
}

func (o *postOutlet) cut() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.isOver {
		o.isOver = true
		close(o.cutting)
	}
}

func (o *postOutlet) isCut() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.isOver
}

func (o *postOutlet) isDone() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.done
}

// finish is called when the handler returns.
func (o *postOutlet) finish() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.finished = true
}
