package downstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// web is a fake server over HTTP, in memory, so that it works in a bubble of synctest. What
// it does is changed by its functions; without them it is a plain server of the legacy era.
type web struct {
	t       *testing.T
	session string // the id of its session; "" for none

	// call answers tools/call; get answers GET.
	call, get func(w http.ResponseWriter, r *http.Request, id string)
	// before may answer any request instead; it reports whether it did.
	before func(w http.ResponseWriter, r *http.Request, body string) bool

	mu       sync.Mutex
	requests []string // "METHOD rpc-method {headers of interest}"
	bodies   []string
	arrived  chan struct{} // gets a token for each request
	conns    chan net.Conn
	down     chan struct{} // closed: connections are refused
}

func newWeb(t *testing.T) *web {
	return &web{t: t, arrived: make(chan struct{}, 10_000), conns: make(chan net.Conn), down: make(chan struct{})}
}

// Accept, Close and Addr make it a listener.
func (f *web) Accept() (net.Conn, error) {
	select {
	case c := <-f.conns:
		return c, nil
	case <-f.down:
		return nil, net.ErrClosed
	}
}

func (f *web) Close() error {
	select {
	case <-f.down:
	default:
		close(f.down)
	}
	return nil
}

func (f *web) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

func (f *web) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case f.conns <- theirs:
		return ours, nil
	case <-f.down:
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

const webAddress = "http://127.0.0.1/mcp"

// connect connects to the server, which lives as long as the test.
func (f *web) connect(options Options) (*Session, error) {
	f.t.Helper()
	server := &httptest.Server{Listener: f, Config: &http.Server{Handler: f}}
	server.Start()
	if options.Remote == nil {
		options.Remote = &Remote{}
	}
	if options.Remote.URL == "" {
		options.Remote.URL = webAddress
	}
	options.Remote.dial = f.dial
	session, err := Connect(f.t.Context(), options)
	f.t.Cleanup(func() {
		if session != nil {
			session.Close()
		}
		server.CloseClientConnections()
		server.Close()
	})
	return session, err
}

// mustConnect is connect that must succeed.
func (f *web) mustConnect(options Options) *Session {
	f.t.Helper()
	session, err := f.connect(options)
	if err != nil {
		f.t.Fatal(err)
	}
	return session
}

var interesting = []string{"Accept", "Mcp-Session-Id", "Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name", "Last-Event-Id", "Authorization", "Accept-Encoding", "Traceparent", "Tracestate", "Baggage"}

func (f *web) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var message wire.Message
	if len(body) > 0 {
		if message, err = wire.Parse(wire.NewFrame(body)); err != nil {
			f.t.Errorf("the server was sent %q: %v", body, err)
		}
	}
	note := r.Method + " " + string(message.Method)
	for _, name := range interesting {
		if value := r.Header.Get(name); value != "" {
			note += " " + name + "=" + value
		}
	}
	f.mu.Lock()
	f.requests = append(f.requests, note)
	f.bodies = append(f.bodies, string(body))
	f.mu.Unlock()
	f.arrived <- struct{}{}
	if f.before != nil && f.before(w, r, string(body)) {
		return
	}
	id := string(message.ID.Bytes())
	switch {
	case r.Method == http.MethodGet && f.get != nil:
		f.get(w, r, "")
	case r.Method == http.MethodGet:
		w.WriteHeader(http.StatusMethodNotAllowed)
	case r.Method == http.MethodDelete:
	default:
		f.post(w, r, string(message.Method), id)
	}
}

func (f *web) post(w http.ResponseWriter, r *http.Request, method, id string) {
	switch {
	case id == "" || method == "":
		w.WriteHeader(http.StatusAccepted)
	case method == "server/discover":
		jsonAnswer(w, http.StatusBadRequest, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: Server not initialized"}}`)
	case method == "initialize":
		if f.session != "" {
			w.Header().Set("Mcp-Session-Id", f.session)
		}
		jsonAnswer(w, http.StatusOK, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}}}}`, id))
	case method == "tools/list":
		jsonAnswer(w, http.StatusOK, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"a"}]}}`, id))
	case method == "tools/call" && f.call != nil:
		f.call(w, r, id)
	default:
		jsonAnswer(w, http.StatusOK, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"ok":true}}`, id))
	}
}

func jsonAnswer(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body) // the test sees it if it does not arrive
}

// events begins a stream and returns what sends on it.
func events(w http.ResponseWriter) func(text string) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	send := func(text string) {
		_, _ = io.WriteString(w, text)
		_ = http.NewResponseController(w).Flush()
	}
	send("")
	return send
}

// seen returns what was requested, with the headers of interest.
func (f *web) seen(prefix string) (requests []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, request := range f.requests {
		if strings.HasPrefix(request, prefix) {
			requests = append(requests, request)
		}
	}
	return requests
}

// result calls a tool and returns its result or its error as text.
func result(t *testing.T, session *Session) string {
	t.Helper()
	in := newInbox()
	if _, err := session.CallTool(ToolCall{Name: "a", Meta: wire.Raw([]byte(`{"progressToken":1}`))}, in); err != nil {
		return err.Error()
	}
	return in.outcome()
}

// outcome waits for the end of a call and returns all that came, in order.
func (b *inbox) outcome() string {
	var all []string
	for {
		got := <-b.messages
		switch {
		case got.err != nil:
			return strings.Join(append(all, got.err.Error()), " ")
		case !got.response.Error.IsAbsent():
			return strings.Join(append(all, "error "+NewRPCError(got.response.Error).Message), " ")
		case got.response.IsResponse():
			return strings.Join(append(all, string(got.response.Result.Bytes())), " ")
		default:
			all = append(all, string(got.response.Params.Member("progress").Bytes()))
		}
	}
}
