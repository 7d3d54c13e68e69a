package front

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/access/httpauth"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
)

// ending is a server that a test ends, with requests in flight.
type ending struct {
	t       *testing.T
	server  *Server
	address string
	end     context.CancelFunc
	served  chan error
}

func serveToEnd(t *testing.T, options HTTPOptions) *ending {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	e := &ending{t: t, server: newServer(Options{}), address: "http://" + listener.Addr().String(), end: cancel, served: make(chan error, 1)}
	go func() { e.served <- e.server.ServeHTTP(ctx, listener, options) }()
	t.Cleanup(func() {
		cancel()
		http.DefaultClient.CloseIdleConnections()
	})
	return e
}

// begin puts a request into flight in the only session; done answers it.
func (e *ending) begin(name string) (done func()) {
	e.t.Helper()
	e.server.mu.Lock()
	defer e.server.mu.Unlock()
	for client := range e.server.sessions {
		if _, ok := client.requests.add(name, &request{session: client}); !ok {
			e.t.Fatal("the request was not accepted")
		}
		return func() {
			client.requests.remove(name)
			client.requests.unanswered.Done()
		}
	}
	e.t.Fatal("there is no session")
	return nil
}

// drain ends the server, and returns when it begins nothing new.
func (e *ending) drain() {
	e.t.Helper()
	e.end()
	for deadline := time.Now().Add(10 * time.Second); ; {
		if response, _ := exchangeWith(e.t, "GET", e.address+"/readyz", ""); response.StatusCode == http.StatusServiceUnavailable {
			return
		}
		if time.Now().After(deadline) {
			e.t.Fatal("readyz does not fail")
		}
	}
}

// wait waits for the end.
func (e *ending) wait(limit time.Duration) {
	e.t.Helper()
	select {
	case err := <-e.served:
		if err != nil {
			e.t.Error(err)
		}
	case <-time.After(limit):
		e.t.Fatal("the server has not ended")
	}
}

// wantRetry checks that the rest of a stream tells when to come back.
func wantRetry(t *testing.T, name string, stream io.Reader) {
	t.Helper()
	rest, err := io.ReadAll(stream)
	if err != nil {
		t.Errorf("%s: %v", name, err)
	}
	_, after, _ := strings.Cut(string(rest), "retry: ")
	text, _, _ := strings.Cut(after, "\n")
	if pause, err := strconv.Atoi(text); err != nil || pause < 1000 || pause >= 2000 || !strings.HasSuffix(string(rest), "\n\n") {
		t.Errorf("%s ended with %q", name, rest)
	}
}

func TestDrain(t *testing.T) {
	e := serveToEnd(t, HTTPOptions{Drain: time.Minute, Ready: func() []string { return nil }})
	begun, _ := exchangeWith(t, "POST", e.address+"/mcp", fmt.Sprintf(initialize, protocol.Revision20250326)) // which has batches
	session := sessionHeader + ": " + begun.Header.Get(sessionHeader)
	done := e.begin("1")
	own := open(t, "GET", e.address+"/mcp", "", session)
	defer own.Body.Close()
	idle := join(t, e.address+"/mcp")
	idleOwn := open(t, "GET", e.address+"/mcp", "", idle)
	defer idleOwn.Body.Close()
	listen, listenHeaders := modernRequest("subscriptions/listen", `"notifications":{"toolsListChanged":true}`)
	subscribed := open(t, "POST", e.address+"/mcp", listen, listenHeaders...)
	defer subscribed.Body.Close()
	lines := bufio.NewReader(subscribed.Body)
	if _, err := lines.ReadString('\n'); err != nil { // it is acknowledged
		t.Fatal(err)
	}
	e.drain()

	// What only listens is told: a subscription with its result, then when to come back.
	rest, _ := io.ReadAll(lines)
	if !strings.Contains(string(rest), `"resultType":"complete"`) || !strings.Contains(string(rest), "\nretry: ") {
		t.Errorf("the subscription ended with %q", rest)
	}
	wantRetry(t, "the stream of the idle session", idleOwn.Body)

	list, listHeaders := modernRequest("tools/list", "")
	first := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`
	for _, test := range []struct {
		name, method, path, body string
		headers                  []string
		status                   int
		want                     string
	}{
		{"readiness", "GET", "/readyz", "", nil, 503, "the workbench is shutting down\n"},
		{"health", "GET", "/healthz", "", nil, 200, "ok"},
		{"another session", "POST", "/mcp", first, nil, 503, "begins nothing new"},
		{"a request", "POST", "/mcp", listTools, []string{session}, 503, "begins nothing new"},
		{"a batch", "POST", "/mcp", "[" + listTools + "]", []string{session}, 503, "begins nothing new"},
		{"a modern request", "POST", "/mcp", list, listHeaders, 503, "begins nothing new"},
		{"an ended session", "POST", "/mcp", listTools, []string{idle}, 503, "begins nothing new"},
		{"the stream of an ended session", "GET", "/mcp", "", []string{idle}, 503, "begins nothing new"},
		{"a session that never was", "POST", "/mcp", listTools, []string{sessionHeader + ": x"}, 503, "begins nothing new"},
		{"an answer", "POST", "/mcp", `{"jsonrpc":"2.0","id":5,"result":{}}`, []string{session}, 202, ""},
		{"a cancellation", "POST", "/mcp", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`, []string{session}, 202, ""},
		{"a ping", "POST", "/mcp", `{"jsonrpc":"2.0","id":9,"method":"ping"}`, []string{session}, 200, `"result":{}`},
		{"another stream", "GET", "/mcp", "", []string{session}, 503, "begins nothing new"},
	} {
		response, body := exchangeWith(t, test.method, e.address+test.path, test.body, test.headers...)
		if response.StatusCode != test.status || !strings.Contains(body, test.want) {
			t.Errorf("%s: %s %s, want %d and %s", test.name, response.Status, body, test.status, test.want)
		}
		if refused := strings.Contains(body, "begins nothing new"); refused != (response.Header.Get("Retry-After") != "") {
			t.Errorf("%s: Retry-After is %q", test.name, response.Header.Get("Retry-After"))
		}
	}
	select {
	case <-e.served:
		t.Fatal("the server ended with a request in flight")
	default:
	}
	done()
	wantRetry(t, "the stream of the session", own.Body)
	e.wait(10 * time.Second)
}

func TestDrainHasAnEnd(t *testing.T) {
	hurry := make(chan struct{})
	for _, test := range []struct {
		name    string
		options HTTPOptions
		cut     func()
	}{
		{"the time is over", HTTPOptions{Drain: 50 * time.Millisecond}, func() {}},
		{"a second signal", HTTPOptions{Drain: time.Hour, Hurry: hurry}, func() { close(hurry) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := serveToEnd(t, test.options)
			join(t, e.address+"/mcp")
			defer e.begin("1")()
			e.end()
			test.cut()
			e.wait(10 * time.Second)
		})
	}
}

// A request that comes with the end is answered or refused, never left without either.
func TestDrainOvertakesNoRequest(t *testing.T) {
	for range 50 {
		e := serveToEnd(t, HTTPOptions{Drain: time.Minute})
		name, id, _ := strings.Cut(join(t, e.address+"/mcp"), ": ")
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, e.address+"/mcp", strings.NewReader(listTools))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set(name, id)
		result := make(chan string, 1)
		go func() {
			response, err := http.DefaultClient.Do(request)
			if err != nil { // it came later, or its connection was closed before it was read
				result <- "503"
				return
			}
			defer response.Body.Close()
			body, _ := io.ReadAll(response.Body)
			result <- response.Status + " " + string(body)
		}()
		e.end()
		got := <-result
		isAnswer := strings.HasPrefix(got, "200") && strings.Contains(got, `"result"`)
		if isRefusal := strings.HasPrefix(got, "503"); !isAnswer && !isRefusal {
			t.Errorf("the request got %s", got)
		}
		e.wait(10 * time.Second)
	}
}

func TestReadyTellsWhy(t *testing.T) {
	reasons := []string{"one thing", "another"}
	address, _ := listen(t, newServer(Options{}), HTTPOptions{Ready: func() []string { return reasons }})
	response, body := exchangeWith(t, "GET", address+"/readyz", "")
	if response.StatusCode != http.StatusServiceUnavailable || body != "one thing\nanother\n" {
		t.Errorf("%s %q", response.Status, body)
	}
	reasons = nil
	if response, body := exchangeWith(t, "GET", address+"/readyz", ""); response.StatusCode != http.StatusOK || body != "ok\n" {
		t.Errorf("%s %q", response.Status, body)
	}
}

// The clients behind a proxy are told apart.
func TestClientsBehindAProxy(t *testing.T) {
	server := newServer(Options{})
	var seen []string
	address, _ := listen(t, server, HTTPOptions{
		Proxies: httpauth.NewProxies([]netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}),
		Gate: func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				seen = append(seen, r.RemoteAddr)
				next.ServeHTTP(w, r)
			})
		},
	})
	join(t, address+"/mcp", "X-Forwarded-For: 198.51.100.1, 192.0.2.7")
	if len(seen) != 1 || seen[0] != "192.0.2.7:0" {
		t.Errorf("the gate saw %q", seen)
	}
	for client := range server.sessions {
		if client.account != "address 192.0.2.7/32" || !client.distant {
			t.Errorf("the account is %q, distant %v", client.account, client.distant)
		}
	}
}
