package fleet

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// hub is a web server whose handler can be exchanged.
type hub struct {
	*httptest.Server
	handler  atomic.Pointer[http.Handler]
	requests atomic.Int32
	posts    atomic.Int32
}

func newHub(t *testing.T, handler http.Handler) *hub {
	t.Helper()
	h := new(hub)
	h.set(handler)
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.requests.Add(1)
		if r.Method == http.MethodPost {
			h.posts.Add(1)
		}
		(*h.handler.Load()).ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		h.CloseClientConnections()
		h.Close()
	})
	return h
}

func (h *hub) set(handler http.Handler) { h.handler.Store(&handler) }

// remoteServer is an independent implementation of a server with one tool.
func remoteServer(*http.Request) *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "remote", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "x"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{}, nil, nil
	})
	return server
}

func streamableHandler() http.Handler { return mcp.NewStreamableHTTPHandler(remoteServer, nil) }

func sseHandler() http.Handler { return mcp.NewSSEHandler(remoteServer, nil) }

func fixed(status int, body string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	})
}

// remoteRig is a fleet of one remote server, "S".
func remoteRig(t *testing.T, url, transport string, change func(*config.Server), options Options) (*rig, *Server) {
	t.Helper()
	r := newRig(t, map[string]string{"S": `{}`}, func(server *config.Server) {
		server.Command, server.Args, server.Env = "", nil, nil
		server.URL, server.Transport = url, transport
		if change != nil {
			change(server)
		}
	}, options)
	return r, r.server(t, "S")
}

func TestRemoteServers(t *testing.T) {
	for _, test := range []struct {
		name, transport string
		handler         http.Handler
		want            string // in the error
	}{
		{"streamable, found out", "", streamableHandler(), ""},
		{"streamable, told", "http", streamableHandler(), ""},
		{"SSE, found out", "", sseHandler(), ""},
		{"SSE, told", "sse", sseHandler(), ""},
		{"SSE, told otherwise", "http", sseHandler(), "HTTP status 4"},
		{"neither", "", fixed(404, "nothing here"), "no answer to 'initialize': the server answered with HTTP status 404 (Not Found); it said: nothing here; and as HTTP+SSE: the server answered with HTTP status 404"},
		{"denied", "", fixed(401, "who are you, hunter2hunter2?"), `"Bearer ${TOKEN}"}; it said: who are you, [hidden]?`},
		{"broken", "", fixed(500, ""), "HTTP status 500"},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := newHub(t, test.handler)
			_, server := remoteRig(t, h.URL, test.transport, nil, Options{Config: &config.Config{Secrets: []string{"hunter2hunter2"}}})
			err := call(t.Context(), server, "x")
			if test.want == "" {
				status := server.Status()
				if err != nil || status.State != Ready || status.PID != 0 || status.Tools != 1 || len(status.Stderr) > 0 {
					t.Errorf("error %v, status %+v", err, status)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.want) || server.Status().State != BackingOff {
				t.Errorf("error %v, want %s; status %+v", err, test.want, server.Status())
			}
		})
	}
}

func TestTransportIsRemembered(t *testing.T) {
	h := newHub(t, sseHandler())
	_, server := remoteRig(t, h.URL, "", nil, Options{})
	if err := call(t.Context(), server, "x"); err != nil {
		t.Fatal(err)
	}
	asked := h.posts.Load()
	h.CloseClientConnections() // its stream ends, and with it the session
	eventually(t, "the end of the session", func() bool { return server.Status().State != Ready })
	h.posts.Store(0)
	if err := call(t.Context(), server, "x"); err != nil {
		t.Fatal(err)
	}
	if again := h.posts.Load(); again >= asked {
		t.Errorf("%d posts at the first start, %d at the second", asked, again)
	}
	// It was replaced by one of the other transport.
	h.set(streamableHandler())
	h.CloseClientConnections()
	eventually(t, "that it works again", func() bool { return call(t.Context(), server, "x") == nil })
}

func TestRemoteServerThatIsGone(t *testing.T) {
	h := newHub(t, mcp.NewStreamableHTTPHandler(remoteServer, &mcp.StreamableHTTPOptions{Stateless: true}))
	_, server := remoteRig(t, h.URL, "", nil, Options{})
	if err := call(t.Context(), server, "x"); err != nil {
		t.Fatal(err)
	}
	h.CloseClientConnections()
	h.Close()
	eventually(t, "the refusal", func() bool {
		err := call(t.Context(), server, "x")
		return err != nil && strings.Contains(err.Error(), "connection refused")
	})
	eventually(t, "the backoff", func() bool {
		err := call(t.Context(), server, "x")
		return err != nil && strings.Contains(err.Error(), "next try in")
	})
}

func TestRemoteServerThatIsSilent(t *testing.T) {
	h := newHub(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // otherwise the end of the client is not handleNotification
		<-r.Context().Done()
	}))
	for transport, want := range map[string]string{
		"":    "no answer to 'initialize' within 300ms (timeouts.connect): timeout",
		"sse": "no event stream with an endpoint within 300ms (timeouts.connect): timeout",
	} {
		_, server := remoteRig(t, h.URL, transport, func(s *config.Server) { s.Timeouts.Connect = 300 * time.Millisecond }, Options{})
		if err := call(t.Context(), server, "x"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %s", transport, err, want)
		}
	}
}

func TestIdleRemoteServerIsLeft(t *testing.T) {
	var deleted atomic.Bool
	inner := streamableHandler()
	h := newHub(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodDelete {
			deleted.Store(true)
		}
		inner.ServeHTTP(w, r)
	}))
	_, server := remoteRig(t, h.URL, "", func(s *config.Server) { s.Timeouts.Idle = 50 * time.Millisecond }, Options{})
	for range 2 {
		if err := call(t.Context(), server, "x"); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the end of the session", func() bool { return server.Status().State == Idle && deleted.Load() })
		deleted.Store(false)
	}
	if restarts := server.Status().Restarts; restarts != 1 {
		t.Errorf("%d restarts", restarts)
	}
}
