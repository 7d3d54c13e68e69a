package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
)

// This file is the fake over HTTP, with events written as unusually as they may be.

// remoteFake answers over Streamable HTTP with JSON ("json") or event streams ("events"),
// or over HTTP+SSE ("sse"). The tap sees what comes.
func remoteFake(t *testing.T, kind string, seen *tap) server {
	t.Helper()
	f := &httpFake{events: kind == "events", seen: seen}
	mux := http.NewServeMux()
	path := "/mcp"
	if kind == "sse" {
		path = "/sse"
		mux.HandleFunc("GET /sse", f.stream)
		mux.HandleFunc("POST /messages", f.message)
	} else {
		mux.HandleFunc("POST /mcp", f.post)
	}
	site := httptest.NewServer(mux)
	t.Cleanup(func() {
		site.CloseClientConnections()
		site.Close()
	})
	return server{name: "fake", url: site.URL + path}
}

type httpFake struct {
	events bool
	seen   *tap

	mu  sync.Mutex // of the one stream of HTTP+SSE
	out http.ResponseWriter
}

// answer shows a message to the tap and returns the answer; "" for a notification.
func (f *httpFake) answer(w http.ResponseWriter, r *http.Request) (string, bool) {
	body, err := io.ReadAll(r.Body)
	var request message
	if err == nil {
		err = json.Unmarshal(body, &request)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return "", false
	}
	f.seen.saw(mcptest.Down, body)
	if request.ID == nil {
		return "", true
	}
	return fakeAnswer(request), true
}

func (f *httpFake) post(w http.ResponseWriter, r *http.Request) {
	answer, ok := f.answer(w, r)
	switch {
	case !ok:
	case answer == "":
		w.WriteHeader(http.StatusAccepted)
	case f.events:
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		fmt.Fprint(w, "\ufeff: a comment\r\n\r\nretry: 10\nid: first\ndata:\n\n", unusualEvent(answer))
	default:
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		fmt.Fprintf(w, "\n%s\r\n", answer)
	}
}

func (f *httpFake) stream(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	f.mu.Lock()
	f.out = w
	fmt.Fprint(w, "event: endpoint\ndata: messages?session=1\n\n")
	err := http.NewResponseController(w).Flush()
	f.mu.Unlock()
	if err == nil {
		<-r.Context().Done()
	}
	f.mu.Lock()
	f.out = nil
	f.mu.Unlock()
}

func (f *httpFake) message(w http.ResponseWriter, r *http.Request) {
	answer, ok := f.answer(w, r)
	if !ok {
		return
	}
	w.WriteHeader(http.StatusAccepted)
	f.mu.Lock()
	defer f.mu.Unlock()
	if answer != "" && f.out != nil {
		fmt.Fprint(f.out, unusualEvent(answer))
		_ = http.NewResponseController(f.out).Flush() // the next request shows that it is gone
	}
}

// unusualEvent writes a message as one event with every kind of line end. A carriage
// return in the message ends a line of the event, as the format has it.
func unusualEvent(message string) string {
	var event bytes.Buffer
	event.WriteString("event:message\r\n:\nunknown: field\rid: 7\n")
	for line := range strings.SplitSeq(message, "\r") {
		event.WriteString("data: " + line + "\r\n")
	}
	event.WriteString("\r\n")
	return event.String()
}
