package mcptest

import (
	"fmt"
	"io"
	"net"
	"net/http"
)

// This file is a server over HTTP+SSE, the transport of revision 2024-11-05: everything
// that it says is on one stream.

// ServeSSE serves all clients that come to /sse of a listener over HTTP+SSE. It returns
// nil when the listener is closed, and an *Exit if a step ended it.
func (s *Server) ServeSSE(listener net.Listener) error {
	return s.serveHTTP(listener, (*httpServer).legacy)
}

func (h *httpServer) legacy() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /sse", h.openStream)
	mux.HandleFunc("POST /message", h.postMessage)
	// A client that tries Streamable HTTP first gets what such servers say.
	mux.HandleFunc("POST /sse", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusMethodNotAllowed) })
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		h.refuse(w, http.StatusNotFound, r.Method+" "+r.URL.Path)
	})
	return mux
}

func (h *httpServer) openStream(w http.ResponseWriter, r *http.Request) {
	one := h.sessions.begin(h.conn, "")
	defer func() {
		h.sessions.end(h.conn, one)
		h.sessions.unused(h.conn)
	}()
	if err := beginEvents(w); err != nil {
		return
	}
	if err := writeEvent(w, "endpoint", []byte("/message?session="+one.id)); err != nil {
		return
	}
	gone, _ := one.attach(w) // the only one: nobody knew of the session
	defer one.detach()
	select {
	case <-r.Context().Done():
	case <-one.over:
	case <-gone:
	case <-h.quit:
	}
}

func (h *httpServer) postMessage(w http.ResponseWriter, r *http.Request) {
	one := h.sessions.get(r.URL.Query().Get("session"))
	if one == nil {
		h.logf("unknown session %s", r.URL.Query().Get("session"))
		http.Error(w, "Session not found", http.StatusNotFound)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		h.refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	line := oneLine(body)
	if !h.isUntoldProbe(line) {
		h.logf("recv %s", line)
	}
	message, ok := h.take(line, one.id)
	if !ok {
		h.refuse(w, http.StatusBadRequest, "Parse error")
		return
	}
	message.out = one
	w.WriteHeader(http.StatusAccepted)
	fmt.Fprint(w, "Accepted")
	h.receive(message)
}
