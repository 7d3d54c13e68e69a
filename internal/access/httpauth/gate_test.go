package httpauth

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// inside is what the gate guards. It tells who came in.
var inside = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	identity, ok := IdentityFrom(r.Context())
	fmt.Fprintf(w, "%q %v %v", identity.Name, identity.Toolboxes, ok)
})

// openStore makes a store with one token, named laptop, for the toolbox dev.
func openStore(t *testing.T) (s *Store, token string) {
	t.Helper()
	s, err := Open(filepath.Join(t.TempDir(), "state", FileName))
	if err != nil {
		t.Fatal(err)
	}
	if token, err = s.Create(Grant{Name: "laptop", Toolboxes: []string{"dev"}}); err != nil {
		t.Fatal(err)
	}
	return s, token
}

// request makes one as it would come over the loopback device.
func request(method, path string, headers ...string) *http.Request {
	r := httptest.NewRequest(method, path, nil)
	r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, tcp("127.0.0.1:7420")))
	r.Host = "localhost:7420"
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		if name == "Host" {
			r.Host = value
			continue
		}
		r.Header.Add(name, value)
	}
	return r
}

func ask(g *Gate, r *http.Request) *httptest.ResponseRecorder {
	recorder := httptest.NewRecorder()
	g.ServeHTTP(recorder, r)
	return recorder
}

func TestOrigins(t *testing.T) {
	g := NewGate(inside, GateOptions{Rules: Rules{Origins: []string{"https://app.example.com", "http://localhost:6274"}}})
	for _, test := range []struct {
		name    string
		headers []string
		tls     bool
		status  int
		allowed string // Access-Control-Allow-Origin
	}{
		{"none", nil, false, 200, ""},
		{"own", []string{"Origin: http://localhost:7420"}, false, 200, ""},
		{"own with a capital in Host", []string{"Host: LocalHost:7420", "Origin: http://localhost:7420"}, false, 200, ""},
		{"own on the standard port", []string{"Host: localhost:80", "Origin: http://localhost"}, false, 200, ""},
		{"own over TLS", []string{"Origin: https://localhost:7420"}, true, 200, ""},
		{"own over TLS on the standard port", []string{"Host: localhost", "Origin: https://localhost"}, true, 200, ""},
		{"listed", []string{"Origin: https://app.example.com"}, false, 200, "https://app.example.com"},
		{"listed, another port of this machine", []string{"Origin: http://localhost:6274", "Sec-Fetch-Site: same-site"}, false, 200, "http://localhost:6274"},
		{"listed and from another site", []string{"Origin: https://app.example.com", "Sec-Fetch-Site: cross-site"}, false, 200, "https://app.example.com"},
		{"typed into a browser", []string{"Sec-Fetch-Site: none"}, false, 200, ""},
		{"own page without an origin", []string{"Sec-Fetch-Site: same-origin"}, false, 200, ""},

		{"another", []string{"Origin: https://evil.com"}, false, 403, ""},
		{"null", []string{"Origin: null"}, false, 403, ""},
		{"empty", []string{"Origin: "}, false, 403, ""},
		{"star", []string{"Origin: *"}, false, 403, ""},
		{"two of our own", []string{"Origin: http://localhost:7420", "Origin: http://localhost:7420"}, false, 403, ""},
		{"own, then another", []string{"Origin: http://localhost:7420", "Origin: https://evil.com"}, false, 403, ""},
		{"two in one", []string{"Origin: http://localhost:7420 https://evil.com"}, false, 403, ""},
		{"own with another port", []string{"Origin: http://localhost:3000"}, false, 403, ""},
		{"own by another name", []string{"Origin: http://127.0.0.1:7420"}, false, 403, ""},
		{"own with another scheme", []string{"Origin: https://localhost:7420"}, false, 403, ""},
		{"own without TLS", []string{"Origin: http://localhost:7420"}, true, 403, ""},
		{"own with a path", []string{"Origin: http://localhost:7420/"}, false, 403, ""},
		{"listed, as a prefix", []string{"Origin: https://app.example.com.evil.com"}, false, 403, ""},
		{"listed, as a suffix", []string{"Origin: https://evil-app.example.com"}, false, 403, ""},
		{"listed, with another scheme", []string{"Origin: http://app.example.com"}, false, 403, ""},
		{"listed, with a user", []string{"Origin: https://me@app.example.com"}, false, 403, ""},
		{"file", []string{"Origin: file://"}, false, 403, ""},
		{"image of another site", []string{"Sec-Fetch-Site: cross-site"}, false, 403, ""},
		{"image of a neighbour", []string{"Sec-Fetch-Site: same-site"}, false, 403, ""},
		{"two answers about the site", []string{"Sec-Fetch-Site: none", "Sec-Fetch-Site: cross-site"}, false, 403, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := request("POST", "/mcp", test.headers...)
			if test.tls {
				r.TLS = &tls.ConnectionState{}
			}
			response := ask(g, r)
			if response.Code != test.status || response.Header().Get("Access-Control-Allow-Origin") != test.allowed {
				t.Errorf("status %d, headers %v", response.Code, response.Header())
			}
			if test.allowed == "" && strings.Contains(fmt.Sprint(response.Header()), "Access-Control") {
				t.Errorf("headers for another origin: %v", response.Header())
			}
			if test.allowed != "" && (response.Header().Get("Vary") != "Origin" || response.Header().Get("Access-Control-Expose-Headers") != corsExpose) {
				t.Errorf("headers %v", response.Header())
			}
		})
	}
}

func TestPreflight(t *testing.T) {
	s, _ := openStore(t)
	g := NewGate(inside, GateOptions{Store: s, Rules: Rules{Origins: []string{"https://app.example.com"}}})
	response := ask(g, request("OPTIONS", "/mcp", "Origin: https://app.example.com", "Access-Control-Request-Method: POST",
		"Access-Control-Request-Headers: authorization,mcp-param-region, Mcp-Param-X,x-other,mcp-param-bad\x7fname"))
	want := http.Header{
		"Access-Control-Allow-Origin":   {"https://app.example.com"},
		"Access-Control-Allow-Methods":  {"POST, GET, DELETE"},
		"Access-Control-Allow-Headers":  {corsHeaders + ", mcp-param-region, mcp-param-x"},
		"Access-Control-Expose-Headers": {corsExpose},
		"Access-Control-Max-Age":        {"600"},
		"Vary":                          {"Origin", "Access-Control-Request-Headers"},
	}
	if diff := cmp.Diff(want, response.Header()); response.Code != http.StatusNoContent || diff != "" {
		t.Errorf("status %d, headers (-want +got):\n%s", response.Code, diff)
	}
	for name, test := range map[string]struct {
		status  int
		headers []string
	}{
		"another origin":   {403, []string{"Origin: https://evil.com", "Access-Control-Request-Method: POST"}},
		"no origin":        {401, []string{"Access-Control-Request-Method: POST"}},
		"own origin":       {401, []string{"Origin: http://localhost:7420", "Access-Control-Request-Method: POST"}},
		"just OPTIONS":     {401, []string{"Origin: https://app.example.com"}},
		"another host too": {403, []string{"Host: evil.com", "Origin: https://app.example.com", "Access-Control-Request-Method: POST"}},
	} {
		if response := ask(g, request("OPTIONS", "/mcp", test.headers...)); response.Code != test.status {
			t.Errorf("%s: status %d", name, response.Code)
		}
	}
}

func TestTokens(t *testing.T) {
	s, token := openStore(t)
	g := NewGate(inside, GateOptions{Store: s, NeedsNoToken: func(path string) bool { return path == "/healthz" }})
	const known = `"laptop" [dev] true`
	for _, test := range []struct {
		name, path string
		headers    []string
		status     int
		body       string // of a request that passed
	}{
		{"right", "/mcp", []string{"Authorization: Bearer " + token}, 200, known},
		{"small letters", "/mcp", []string{"Authorization: bearer " + token}, 200, known},
		{"two spaces", "/mcp", []string{"Authorization: Bearer  " + token}, 200, known},
		{"any path", "/x/../y", []string{"Authorization: Bearer " + token}, 200, known},
		{"none", "/mcp", nil, 401, ""},
		{"none on an unknown path", "/nothing", nil, 401, ""},
		{"twice", "/mcp", []string{"Authorization: Bearer " + token, "Authorization: Bearer " + token}, 401, ""},
		{"wrong", "/mcp", []string{"Authorization: Bearer mcpw_wrong"}, 401, ""},
		{"cut", "/mcp", []string{"Authorization: Bearer " + token[:len(token)-1]}, 401, ""},
		{"longer", "/mcp", []string{"Authorization: Bearer " + token + "x"}, 401, ""},
		{"without the scheme", "/mcp", []string{"Authorization: " + token}, 401, ""},
		{"another scheme", "/mcp", []string{"Authorization: Basic " + token}, 401, ""},
		{"empty", "/mcp", []string{"Authorization: Bearer"}, 401, ""},
		{"in the address", "/mcp?access_token=" + token, nil, 401, ""},
		{"not needed", "/healthz", nil, 200, `"" [] false`},
		{"not needed, but wrong", "/healthz", []string{"Authorization: Bearer x"}, 200, `"" [] false`},
		{"not needed, in another spelling", "/%68ealthz", nil, 401, ""},
		{"not needed below", "/healthz/x", nil, 401, ""},
		{"not needed, but the host is wrong", "/healthz", []string{"Host: evil.com"}, 403, ""},
		{"not needed, but the origin is wrong", "/healthz", []string{"Origin: https://evil.com"}, 403, ""},
		{"right, but the host is wrong", "/mcp", []string{"Authorization: Bearer " + token, "Host: evil.com"}, 403, ""},
	} {
		for _, method := range []string{"GET", "POST", "DELETE", "PUT", "OPTIONS", "ODD"} {
			t.Run(test.name+"/"+method, func(t *testing.T) {
				g.wrong = newLimiter()
				response := ask(g, request(method, test.path, test.headers...))
				got := response.Body.String()
				if response.Code != test.status || test.status == 200 && got != test.body {
					t.Errorf("status %d, %s", response.Code, got)
				}
				if strings.Contains(got, token) || strings.Contains(fmt.Sprint(response.Header()), token) {
					t.Error("the token is in the answer")
				}
				if want := test.status == 401; (response.Header().Get("WWW-Authenticate") == "Bearer") != want {
					t.Errorf("headers %v", response.Header())
				}
			})
		}
	}
}

func TestWithoutTokens(t *testing.T) {
	g := NewGate(inside, GateOptions{})
	if response := ask(g, request("POST", "/mcp")); response.Code != 200 || response.Body.String() != `"" [] true` {
		t.Errorf("status %d", response.Code)
	}
	if response := ask(g, request("POST", "/mcp", "Host: evil.com")); response.Code != 403 {
		t.Errorf("status %d for another host", response.Code)
	}
	if _, ok := IdentityFrom(t.Context()); ok {
		t.Error("a request that did not pass the gate has an identity")
	}
}

// In HTTP/2 the host has a place of its own, and a header may name another.
func TestTwoHosts(t *testing.T) {
	g := NewGate(inside, GateOptions{})
	for host, want := range map[string]int{"localhost:7420": 200, "evil.com": 403} {
		r := request("GET", "/")
		r.Header["Host"] = []string{host}
		if got := ask(g, r).Code; got != want {
			t.Errorf("%s: status %d", host, got)
		}
	}
}

func TestRefusalsSayWhatToDo(t *testing.T) {
	s, _ := openStore(t)
	g := NewGate(inside, GateOptions{Store: s})
	for name, test := range map[string]struct {
		headers []string
		hint    string
	}{
		"host":   {[]string{"Host: evil.com"}, "http.allowedHosts"},
		"origin": {[]string{"Origin: https://evil.com"}, "http.allowedOrigins"},
		"token":  {nil, "mcp-workbench token add"},
		"wrong":  {[]string{"Authorization: Bearer x"}, "mcp-workbench token list"},
	} {
		response := ask(g, request("POST", "/mcp", test.headers...))
		var refused map[string]string
		if err := json.Unmarshal(response.Body.Bytes(), &refused); err != nil || len(refused) != 2 || refused["error"] == "" || !strings.Contains(refused["hint"], test.hint) {
			t.Errorf("%s: %v %v", name, refused, err)
		}
		for key, want := range map[string]string{"Content-Type": "application/json", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"} {
			if got := response.Header().Get(key); got != want {
				t.Errorf("%s: %s is %q", name, key, got)
			}
		}
	}
}

func TestRefusalsAreLogged(t *testing.T) {
	s, _ := openStore(t)
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		g := NewGate(inside, GateOptions{Store: s, Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
		for range 3 {
			ask(g, request("POST", "/mcp", "Authorization: Bearer hunter2hunter2"))
		}
		ask(g, request("POST", "/mcp", "Host: me:hunter2hunter2@localhost"))
		ask(g, request("POST", "/mcp", "Host: "+strings.Repeat("evil", 1000)))
		<-time.After(time.Second) // of the bubble
		ask(g, request("POST", "/mcp", "Origin: https://evil.com"))
		text := log.String()
		if strings.Count(text, "level=WARN") != 3 || strings.Count(text, "level=DEBUG") != 3 {
			t.Errorf("levels:\n%s", text)
		}
		if strings.Contains(text, "hunter2") || len(text) > 4000 {
			t.Errorf("too much is logged:\n%s", text)
		}
		if !strings.Contains(text, "the token is unknown") || !strings.Contains(text, "https://evil.com") {
			t.Errorf("too little is logged:\n%s", text)
		}
	})
}

func TestRulesChangeWhileInUse(t *testing.T) {
	g := NewGate(inside, GateOptions{})
	status := func() int {
		return ask(g, request("GET", "/", "Host: mcp.example.com", "Origin: https://app.example.com")).Code
	}
	if got := status(); got != 403 {
		t.Errorf("before: %d", got)
	}
	g.SetRules(Rules{Hosts: []string{"mcp.example.com"}, Origins: []string{"https://app.example.com"}})
	if got := status(); got != 200 {
		t.Errorf("after: %d", got)
	}
	g.SetRules(Rules{})
	if got := status(); got != 403 {
		t.Errorf("at the end: %d", got)
	}
}

// Over a real connection: what net/http itself refuses, and what it hands on.
func TestRawRequests(t *testing.T) {
	s, token := openStore(t)
	server := httptest.NewServer(NewGate(inside, GateOptions{Store: s}))
	defer server.Close()
	address := server.Listener.Addr().String()
	authorization := "Authorization: Bearer " + token + "\r\n"
	for _, test := range []struct {
		name, text string
		status     int
	}{
		{"right", "GET / HTTP/1.1\r\nHost: " + address + "\r\n" + authorization, 200},
		{"localhost", "GET / HTTP/1.1\r\nHost: localhost\r\n" + authorization, 200},
		{"two hosts", "GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.com\r\n" + authorization, 400},
		{"the same host twice", "GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n" + authorization, 400},
		{"no host", "GET / HTTP/1.1\r\n" + authorization, 400},
		{"no host in HTTP/1.0", "GET / HTTP/1.0\r\n" + authorization, 403},
		{"empty host", "GET / HTTP/1.1\r\nHost:\r\n" + authorization, 403},
		{"another host", "GET / HTTP/1.1\r\nHost: evil.com\r\n" + authorization, 403},
		{"another host in the address", "GET http://evil.com/ HTTP/1.1\r\nHost: localhost\r\n" + authorization, 403},
		{"user in the address", "GET http://me@localhost/ HTTP/1.1\r\nHost: localhost\r\n" + authorization, 403},
		{"tunnel", "CONNECT evil.com:80 HTTP/1.1\r\nHost: localhost\r\n" + authorization, 403},
		{"no token", "GET / HTTP/1.1\r\nHost: localhost\r\n", 401},
	} {
		t.Run(test.name, func(t *testing.T) {
			conn, err := net.Dial("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			fmt.Fprint(conn, test.text+"Connection: close\r\n\r\n")
			response, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			if response.StatusCode != test.status {
				t.Errorf("status %d", response.StatusCode)
			}
		})
	}
}

// With TLS, and so with HTTP/2, the own origin has another scheme.
func TestOwnOriginOverTLS(t *testing.T) {
	server := httptest.NewUnstartedServer(NewGate(inside, GateOptions{}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	address := server.Listener.Addr().String()
	for origin, want := range map[string]int{"": 200, "https://" + address: 200, "http://" + address: 403, "https://evil.com": 403} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		response, err := server.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != want || response.ProtoMajor != 2 {
			t.Errorf("%q: status %d by %s", origin, response.StatusCode, response.Proto)
		}
	}
}
