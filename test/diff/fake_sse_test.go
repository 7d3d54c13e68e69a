package diff

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
)

// fakeSSE is the fake behind HTTP+SSE, the transport of revision 2024-11-05: one stream for all.
type fakeSSE struct {
	mu       sync.Mutex
	sessions []*fake
}

// serveSSE runs the fake until the test ends, and returns its address.
func serveSSE(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(&fakeSSE{})
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL + "/sse"
}

func (h *fakeSSE) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodGet && r.URL.Path == "/sse":
		h.stream(w, r)
	case r.Method == http.MethodPost && r.URL.Path == "/messages":
		number, err := strconv.Atoi(r.URL.Query().Get("session"))
		h.mu.Lock()
		known := err == nil && number >= 0 && number < len(h.sessions)
		var f *fake
		if known {
			f = h.sessions[number]
		}
		h.mu.Unlock()
		body, err := io.ReadAll(r.Body)
		if f == nil || err != nil {
			http.Error(w, "no such session", http.StatusNotFound)
			return
		}
		f.receive(body)
		w.WriteHeader(http.StatusAccepted)
	default:
		http.Error(w, "not here", http.StatusMethodNotAllowed)
	}
}

// stream begins a session and writes its messages until the client goes.
func (h *fakeSSE) stream(w http.ResponseWriter, r *http.Request) {
	lines := make(chan string, streamRoom)
	f := newFake(legacyEra, func(_ json.RawMessage, text string) { lines <- text })
	h.mu.Lock()
	number := len(h.sessions)
	h.sessions = append(h.sessions, f)
	h.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	flusher := w.(http.Flusher)
	fmt.Fprintf(w, "event: endpoint\ndata: /messages?session=%d\n\n", number)
	flusher.Flush()
	for {
		select {
		case text := <-lines:
			fmt.Fprintf(w, "event: message\ndata: %s\n\n", text)
			flusher.Flush()
		case <-r.Context().Done():
			return
		}
	}
}
