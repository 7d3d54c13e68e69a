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

// fakeHTTP is the fake behind Streamable HTTP: a stream for each request, and one for the rest.
type fakeHTTP struct {
	era    era
	modern *fakeSession // for all requests of the modern era, which has no sessions

	mu       sync.Mutex
	sessions map[string]*fakeSession
	requests int // of the modern era
}

// fakeSession is a session with the streams that are open.
type fakeSession struct {
	fake *fake

	mu      sync.Mutex
	streams map[string]chan string // by id of the request; "" is the one for the rest
}

func newFakeSession(era era) *fakeSession {
	s := &fakeSession{streams: make(map[string]chan string)}
	s.fake = newFake(era, func(about json.RawMessage, text string) { s.stream(string(about)) <- text })
	return s
}

// streamRoom is how many messages a stream holds that nobody reads yet.
const streamRoom = 256

func (s *fakeSession) stream(id string) chan string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.streams[id] == nil {
		s.streams[id] = make(chan string, streamRoom)
	}
	return s.streams[id]
}

// serveHTTP runs the fake until the test ends, and returns its address.
func serveHTTP(t *testing.T, era era) string {
	t.Helper()
	server := httptest.NewServer(&fakeHTTP{era: era, modern: newFakeSession(era), sessions: make(map[string]*fakeSession)})
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL
}

func (h *fakeHTTP) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var m line
	_ = json.Unmarshal(body, &m)
	if h.era != legacyEra && (isModern(m.Params) || h.era == modernEra) {
		h.serveModern(w, r, m, body)
		return
	}
	s := h.session(w, r, m.Method == "initialize")
	switch {
	case s == nil && r.Header.Get("Mcp-Session-Id") != "":
		http.Error(w, "no such session", http.StatusNotFound)
	case s == nil:
		http.Error(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: no session"}}`, http.StatusBadRequest)
	case r.Method == http.MethodGet:
		s.pump(w, r, "")
	case r.Method == http.MethodDelete:
		w.WriteHeader(http.StatusOK)
	case m.Method == "" || m.ID == nil:
		s.fake.receive(body)
		w.WriteHeader(http.StatusAccepted)
	default:
		s.stream(string(m.ID))
		s.fake.receive(body)
		s.pump(w, r, string(m.ID))
	}
}

// session returns the session of a request, and makes one for initialize.
func (h *fakeHTTP) session(w http.ResponseWriter, r *http.Request, begins bool) *fakeSession {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !begins {
		return h.sessions[r.Header.Get("Mcp-Session-Id")]
	}
	id := "session-" + strconv.Itoa(len(h.sessions)+1)
	s := newFakeSession(h.era)
	h.sessions[id] = s
	w.Header().Set("Mcp-Session-Id", id)
	return s
}

// pump writes a stream's messages; that of a request ends with its answer.
func (s *fakeSession) pump(w http.ResponseWriter, r *http.Request, id string) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	flusher := w.(http.Flusher)
	flusher.Flush()
	for {
		select {
		case text := <-s.stream(id):
			fmt.Fprintf(w, "event: message\ndata: %s\n\n", text)
			flusher.Flush()
			var m line
			if err := json.Unmarshal([]byte(text), &m); id != "" && err == nil && m.Method == "" {
				return
			}
		case <-r.Context().Done():
			return
		}
	}
}
