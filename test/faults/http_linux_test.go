package faults

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/test/faults/rig"
)

// website is a server over HTTP that misbehaves on command. It answers a call of a tool as
// the tool's name says, and "echo" honestly.
type website struct {
	*httptest.Server
	sse, modern bool
	token       string                 // that has to be presented; "" for none
	call        http.HandlerFunc       // answers the tool "fault"
	calls       atomic.Int32           // of the tool "fault"
	session     atomic.Pointer[string] // the one that is known
}

func newWebsite(t *testing.T, change func(*website)) *website {
	t.Helper()
	site := new(website)
	site.expire()
	if change != nil {
		change(site)
	}
	site.Server = httptest.NewUnstartedServer(site)
	site.Config.ErrorLog = log.New(io.Discard, "", 0)
	site.Start()
	t.Cleanup(func() {
		site.CloseClientConnections()
		site.Close()
	})
	return site
}

// expire forgets the session.
func (site *website) expire() {
	next := rand.Text()
	site.session.Store(&next)
}

func (site *website) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var request struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"params"`
	}
	known := *site.session.Load()
	switch {
	case err != nil:
	case site.token != "" && r.Header.Get("Authorization") != "Bearer "+site.token:
		w.WriteHeader(http.StatusUnauthorized)
	case r.Method != http.MethodPost:
		w.WriteHeader(http.StatusMethodNotAllowed)
	case json.Unmarshal(body, &request) != nil:
		w.WriteHeader(http.StatusBadRequest)
	case request.ID == nil:
		w.WriteHeader(http.StatusAccepted)
	case site.modern && r.Header.Get("Mcp-Method") != request.Method:
		w.WriteHeader(http.StatusBadRequest)
	case request.Method == "server/discover" && site.modern:
		site.answer(w, request.ID, `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`)
	case request.Method == "server/discover" || site.modern && request.Method == "initialize":
		w.WriteHeader(http.StatusBadRequest)
	case request.Method == "initialize":
		w.Header().Set("Mcp-Session-Id", known)
		site.answer(w, request.ID, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"site","version":"1"}}`)
	case !site.modern && r.Header.Get("Mcp-Session-Id") != known:
		w.WriteHeader(http.StatusNotFound)
	case request.Method == "tools/list":
		site.answer(w, request.ID, `{"tools":[{"name":"echo","inputSchema":{"type":"object"}},{"name":"fault","inputSchema":{"type":"object"}}]}`)
	case request.Params.Name == "fault":
		site.calls.Add(1)
		site.call(w, r)
	default:
		text, _ := json.Marshal(request.Params.Name + " " + string(request.Params.Arguments)) // a string
		site.answer(w, request.ID, fmt.Sprintf(`{"content":[{"type":"text","text":%s}]}`, text))
	}
}

func (site *website) answer(w http.ResponseWriter, id json.RawMessage, result string) {
	message := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
	if site.sse {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, ": hello\n\nevent: message\nid: 1\ndata: %s\n\n", message)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, message) // the workbench says it if it does not arrive
}

func TestHTTPUsable(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*website){
		"98 JSON answers":  nil,
		"98 SSE answers":   func(site *website) { site.sse = true },
		"98 modern era":    func(site *website) { site.modern = true },
		"98 bearer header": func(site *website) { site.token = "t0k3n-t0k3n" },
	} {
		row(t, name, func(t *testing.T, p pairing) {
			site := newWebsite(t, change)
			b := start(t, p, box{"odd": {URL: site.URL + "/mcp", More: map[string]any{
				"headers": map[string]string{"Authorization": "Bearer " + site.token},
			}}})
			if o := b.open(promptly); o.Connected != 1 {
				t.Fatalf("it is not connected: %+v", o)
			}
			for range 3 {
				b.works("odd", "echo", sibling)
			}
		}, ownWebsite)
	}
}

// answering is a web server that answers everything in the same way.
func answering(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // otherwise the end of the client is not noticed
		handler(w, r)
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL
}

func TestHTTPStart(t *testing.T) {
	t.Parallel()
	status := func(code int) func(t *testing.T) string {
		return func(t *testing.T) string {
			return answering(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) })
		}
	}
	for _, fault := range []struct {
		row     string
		address func(t *testing.T) string
		words   []string
	}{
		{"99 connection refused", func(t *testing.T) string { return "http://" + freeAddress(t) }, []string{"connection refused"}},
		{"99 500", status(500), []string{"HTTP status 500"}},
		{"99 401", status(401), []string{"login needed: the server asks for a login; run: mcp-workbench login dev/rogue --config ", " (or, if it takes a fixed token, put it into"}},
		{"99 self-signed certificate", func(t *testing.T) string {
			server := httptest.NewUnstartedServer(http.NotFoundHandler())
			server.Config.ErrorLog = log.New(io.Discard, "", 0)
			server.StartTLS()
			t.Cleanup(server.Close)
			return server.URL
		}, []string{"self-signed"}},
		{"99 no response headers", func(t *testing.T) string {
			return answering(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		}, []string{"timeouts.connect): timeout"}},
	} {
		row(t, fault.row+"/alone", func(t *testing.T, p pairing) {
			b := start(t, p, box{"rogue": {URL: fault.address(t)}})
			b.named(b.wait(b.Open("dev"), promptly), "rogue", fault.words...)
		}, ownWebsite)
		row(t, fault.row+"/beside", func(t *testing.T, p pairing) {
			b := start(t, p, box{"rogue": {URL: fault.address(t)}, "good": {Role: "good"}})
			b.besideGood(fault.words...)
		}, ownWebsite)
	}
	row(t, "100 redirect to another origin", testRedirect, ownWebsite)
}

// freeAddress returns one that nobody listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

func testRedirect(t *testing.T, p pairing) {
	var visits atomic.Int32
	elsewhere := answering(t, func(http.ResponseWriter, *http.Request) { visits.Add(1) })
	address := answering(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere+"/mcp", http.StatusTemporaryRedirect)
	})
	b := start(t, p, box{"rogue": {URL: address, More: map[string]any{"headers": map[string]string{"Authorization": "Bearer t0k3n-t0k3n"}}}})
	a := b.wait(b.Open("dev"), promptly)
	b.named(a, "rogue", "redirects to another server, which was not followed; if this address is right, put it into 'url': "+elsewhere+"/mcp")
	if visits.Load() > 0 {
		t.Error("something was sent there")
	}
	if strings.Contains(b.Log()+a.Text, "t0k3n") {
		t.Error("the token was told")
	}
}

func TestHTTPCalls(t *testing.T) {
	t.Parallel()
	stream := func(w http.ResponseWriter, text string) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, text)
		_ = http.NewResponseController(w).Flush()
	}
	for _, fault := range []struct {
		row   string
		call  http.HandlerFunc
		words []string
	}{
		{"101 and 102 500", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }, []string{"HTTP status 500"}},
		{"101 dropped connection", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, []string{"broke off"}},
		{"101 HTML page", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") }, []string{"HTML page"}},
		{"101 cut event stream", func(w http.ResponseWriter, _ *http.Request) { stream(w, "data: {\"jsonrpc\"") }, []string{"ended its event stream"}},
		{"101 1 byte a second", func(w http.ResponseWriter, r *http.Request) {
			tick := time.NewTicker(time.Second)
			defer tick.Stop()
			for r.Context().Err() == nil {
				stream(w, ":")
				<-tick.C
			}
		}, []string{"timeouts.call): timeout"}},
		{"103 event without end", func(w http.ResponseWriter, r *http.Request) {
			piece := strings.Repeat("x", 1<<20)
			for stream(w, "data: "); r.Context().Err() == nil; {
				stream(w, piece)
			}
		}, []string{"without end", "timeout"}},
	} {
		row(t, fault.row, func(t *testing.T, p pairing) {
			site := newWebsite(t, func(site *website) { site.call = fault.call })
			b := start(t, p, box{"rogue": {URL: site.URL}, "good": {Role: "good"}})
			b.open(promptly)
			call := b.Use("dev", "rogue", "fault", "{}")
			b.works("good", "echo", sibling)
			b.named(b.wait(call, promptly), "rogue", fault.words...)
			b.works("rogue", "echo", sibling)
			if calls := site.calls.Load(); calls != 1 {
				t.Errorf("it was called %d times", calls)
			}
		}, ownWebsite)
	}
	row(t, "104 session expired", func(t *testing.T, p pairing) {
		site := newWebsite(t, nil)
		b := start(t, p, box{"rogue": {URL: site.URL}})
		b.open(promptly)
		b.works("rogue", "echo", sibling)
		site.expire()
		b.works("rogue", "echo", sibling)
	}, ownWebsite)
	row(t, "105 server restarts", testRestart, ownWebsite)
}

func testRestart(t *testing.T, p pairing) {
	site := newWebsite(t, nil)
	address := site.Listener.Addr().String()
	b := start(t, p, box{"rogue": {URL: site.URL}})
	b.open(promptly)
	b.works("rogue", "echo", sibling)
	site.CloseClientConnections()
	site.Close()
	b.named(b.use("rogue", "echo", sibling), "rogue", "connection refused", "broke off")
	var listener net.Listener
	err := rig.Eventually(recovery, func() (err error) { // the address may not be free at once
		listener, err = net.Listen("tcp", address)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	again := new(website)
	again.expire()
	again.Server = &httptest.Server{Listener: listener, Config: &http.Server{Handler: again}}
	again.Start()
	t.Cleanup(func() {
		again.CloseClientConnections()
		again.Close()
	})
	b.recovers("rogue")
}
