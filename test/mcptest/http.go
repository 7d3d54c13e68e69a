package mcptest

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"mime"
	"net"
	"net/http"
	"os"
	"strings"
)

// This file is a server over Streamable HTTP, of both eras. It refuses what the
// specification does not allow a client, so that a test sees it.

// maxBody is the longest message that a server over HTTP takes.
const maxBody = 128 << 20

// ServeStreamable serves all clients that come to /mcp of a listener over Streamable
// HTTP. It returns nil when the listener is closed, and an *Exit if a step ended it.
func (s *Server) ServeStreamable(listener net.Listener) error {
	return s.serveHTTP(listener, (*httpServer).streamable)
}

// httpServer is a conn for clients over HTTP.
type httpServer struct {
	*conn
	sessions *sessions
}

func (s *Server) serveHTTP(listener net.Listener, routes func(*httpServer) http.Handler) error {
	clients := newSessions()
	h := &httpServer{newConn(s, clients), clients}
	h.logf("start %d", os.Getpid())
	handler := routes(h)
	if s.Gate != nil {
		handler = s.Gate(handler)
	}
	server := &http.Server{Handler: h.waitedFor(handler), ErrorLog: log.New(io.Discard, "", 0)}
	h.work.Go(func() {
		// A server that was started by its first client begins when that one is there, so
		// that a start that ends it is that client's failure.
		first, err := listener.Accept()
		if err != nil {
			h.end(nil)
			return
		}
		if h.do(request{}, s.Start) {
			_ = first.Close()
			return
		}
		_ = server.Serve(&withFirst{Listener: listener, first: first}) // its end tells all
		h.end(nil)
	})
	<-h.quit
	_ = listener.Close() // first: who comes now is for the next process at this socket
	_ = server.Close()   // ends all connections
	h.work.Wait()
	return h.err
}

// waitedFor makes requests part of the work that the end of the server waits for. One
// that the end overtakes gets no answer at all, as from a process that died.
func (h *httpServer) waitedFor(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		if h.ended {
			h.mu.Unlock()
			panic(http.ErrAbortHandler)
		}
		h.work.Add(1)
		h.mu.Unlock()
		defer h.work.Done()
		next.ServeHTTP(w, r)
		select {
		case <-h.quit:
			panic(http.ErrAbortHandler)
		default:
		}
	})
}

// withFirst is a listener, one of whose connections was accepted already.
type withFirst struct {
	net.Listener
	first net.Conn
}

func (l *withFirst) Accept() (net.Conn, error) {
	if first := l.first; first != nil {
		l.first = nil
		return first, nil
	}
	return l.Listener.Accept()
}

func (h *httpServer) streamable() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /mcp", h.post)
	mux.HandleFunc("GET /mcp", h.listen)
	mux.HandleFunc("DELETE /mcp", h.delete)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		h.refuse(w, http.StatusNotFound, r.Method+" "+r.URL.Path)
	})
	return mux
}

// refuse answers with a status and an error without an id.
func (h *httpServer) refuse(w http.ResponseWriter, status int, reason string) {
	h.logf("refused %d %s", status, reason)
	refuseQuietly(w, status, "null", -32000, reason)
}

func refuseQuietly(w http.ResponseWriter, status int, id string, code int, reason string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`, id, code, quote(reason))
}

func (h *httpServer) post(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		h.refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	if status, reason := badHeaders(r); status != 0 {
		h.refuse(w, status, reason)
		return
	}
	line := oneLine(body)
	message, ok := h.take(line, "")
	if !ok {
		h.refuse(w, http.StatusBadRequest, "Parse error")
		return
	}
	if !h.isUntoldProbe(line) {
		h.logf("recv %s", line)
	}
	modern := message.isModern() || r.Header.Get("Mcp-Protocol-Version") >= modernRevision
	switch {
	case modern && h.server.Era == "" && len(h.server.On[message.Method]) == 0:
		// What servers of before say to a version that they do not know.
		refuseQuietly(w, http.StatusBadRequest, "null", -32000, "Bad Request: Unsupported protocol version")
	case modern:
		h.postModern(w, r, message)
	default:
		h.postLegacy(w, r, message)
	}
}

// oneLine is a message as a log shows it.
func oneLine(body []byte) []byte {
	return []byte(strings.TrimSpace(strings.NewReplacer("\n", " ", "\r", " ").Replace(string(body))))
}

func badHeaders(r *http.Request) (status int, reason string) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return http.StatusUnsupportedMediaType, "Content-Type must be application/json"
	}
	accept := strings.Join(r.Header.Values("Accept"), ",")
	if !strings.Contains(accept, "application/json") || !strings.Contains(accept, "text/event-stream") {
		return http.StatusNotAcceptable, "Accept must name application/json and text/event-stream"
	}
	return 0, ""
}

// postModern answers a request that stands for itself; its id is unique in nothing.
func (h *httpServer) postModern(w http.ResponseWriter, r *http.Request, message request) {
	if reason := badModernHeaders(r, message); reason != "" && h.server.Era != "" {
		h.logf("refused 400 %s", reason)
		refuseQuietly(w, http.StatusBadRequest, string(message.ID), -32020, reason)
		return
	}
	message.scope = fmt.Sprintf("%p", r)
	logged := make(chan struct{})
	logGone := func() {
		defer close(logged)
		h.logf("gone %s", message.ID)
		h.update(func() { h.cancelled[message.key()] = true })
	}
	stop := context.AfterFunc(r.Context(), logGone)
	defer func() {
		switch {
		case !stop():
			<-logged
		case r.Context().Err() != nil: // it ended just now, and the function will not run any more
			logGone()
		}
	}()
	h.respond(w, r, message, nil)
}

func badModernHeaders(r *http.Request, message request) string {
	name := r.Header.Get("Mcp-Name")
	if inner, ok := strings.CutPrefix(name, "=?base64?"); ok {
		raw, err := base64.StdEncoding.DecodeString(strings.TrimSuffix(inner, "?="))
		if err != nil {
			return "Mcp-Name cannot be decoded"
		}
		name = string(raw)
	}
	switch {
	case r.Header.Get("Mcp-Protocol-Version") != message.Params.Meta.Version:
		return "MCP-Protocol-Version is unlike that of the body"
	case r.Header.Get("Mcp-Method") != message.Method:
		return "Mcp-Method is unlike that of the body"
	case message.Method == "tools/call" && name != message.Params.Name:
		return "Mcp-Name is unlike that of the body"
	}
	return ""
}

func (h *httpServer) postLegacy(w http.ResponseWriter, r *http.Request, message request) {
	if message.Method == "initialize" {
		if r.Header.Get("Mcp-Session-Id") != "" {
			h.refuse(w, http.StatusBadRequest, "initialize in a session")
			return
		}
		h.respond(w, r, message, nil)
		return
	}
	one, ok := h.sessionOf(w, r)
	if !ok {
		return
	}
	if one != nil {
		message.scope = one.id
	}
	if len(message.ID) == 0 || message.Method == "" {
		h.receive(message)
		w.WriteHeader(http.StatusAccepted)
		return
	}
	h.respond(w, r, message, one)
}

// sessionOf returns the session that a request names, or refuses it. It is nil for a
// server without sessions.
func (h *httpServer) sessionOf(w http.ResponseWriter, r *http.Request) (*session, bool) {
	if h.server.NoSession || h.server.Era == "modern" {
		return nil, true
	}
	id := r.Header.Get("Mcp-Session-Id")
	if id == "" {
		h.refuse(w, http.StatusBadRequest, "Bad Request: Mcp-Session-Id header is required for "+r.Method)
		return nil, false
	}
	one := h.sessions.get(id)
	if one == nil {
		h.logf("unknown session %s", id)
		refuseQuietly(w, http.StatusNotFound, "null", -32001, "Session not found")
		return nil, false
	}
	version := r.Header.Get("Mcp-Protocol-Version")
	if one.revision >= "2025-06-18" && version != one.revision || version != "" && version != one.revision {
		h.refuse(w, http.StatusBadRequest, fmt.Sprintf("Bad Request: MCP-Protocol-Version is '%s', not '%s'", version, one.revision))
		return nil, false
	}
	return one, true
}

// respond answers a request with the response of its own POST. A request that gets no
// answer holds it until one of the two is gone.
func (h *httpServer) respond(w http.ResponseWriter, r *http.Request, message request, one *session) {
	o := &postOutlet{h: h, w: w, message: message, session: one, cutting: make(chan struct{})}
	message.out = o
	if h.server.Reply == "sse" && message.Method != "initialize" && !message.isModern() {
		o.begin(true, nil)
	}
	h.note(message)
	answered := make(chan struct{})
	h.work.Go(func() {
		defer close(answered)
		h.answer(message)
	})
	select {
	case <-answered:
	case <-o.cutting:
	}
	if !o.isDone() {
		select {
		case <-r.Context().Done():
		case <-h.quit:
		case <-o.cutting:
		}
	}
	o.finish()
	if o.isCut() {
		panic(http.ErrAbortHandler)
	}
}

// listen is the GET stream of a session.
func (h *httpServer) listen(w http.ResponseWriter, r *http.Request) {
	if h.server.Era == "modern" || h.server.NoStream || h.server.NoSession {
		w.WriteHeader(http.StatusMethodNotAllowed) // which a client may not know before
		return
	}
	if !strings.Contains(strings.Join(r.Header.Values("Accept"), ","), "text/event-stream") {
		h.refuse(w, http.StatusNotAcceptable, "Accept must name text/event-stream")
		return
	}
	if one, ok := h.sessionOf(w, r); ok {
		h.stream(w, r, one)
	}
}

// stream is the response on which a session speaks until one of the two ends it.
func (h *httpServer) stream(w http.ResponseWriter, r *http.Request, one *session) {
	if err := beginEvents(w); err != nil {
		return
	}
	gone, ok := one.attach(w)
	if !ok {
		h.logf("refused a second stream of session %s", one.id)
		return
	}
	defer one.detach()
	select {
	case <-r.Context().Done():
	case <-one.over:
	case <-gone:
	case <-h.quit:
	}
}

func (h *httpServer) delete(w http.ResponseWriter, r *http.Request) {
	if one, ok := h.sessionOf(w, r); ok && one != nil {
		h.sessions.end(h.conn, one)
		w.WriteHeader(http.StatusNoContent)
		_ = http.NewResponseController(w).Flush() // the client may be gone
		h.sessions.unused(h.conn)
	}
}

// versionIn returns the revision that the response to initialize settles on.
func versionIn(response []byte) string {
	var parts struct {
		Result struct{ ProtocolVersion string }
	}
	_ = json.Unmarshal(response, &parts) // none: then there is no session
	return parts.Result.ProtocolVersion
}
