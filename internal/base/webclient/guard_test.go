package webclient

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestRefusedAddresses(t *testing.T) {
	const public, local, lan = "https://mcp.example/mcp", "http://127.0.0.1:3000/mcp", "https://192.168.1.5/mcp"
	names := resolver(t, func(string) []string { return []string{"93.184.216.34"} })
	for _, test := range []struct{ server, address, want string }{
		{public, "http://mcp.example/x", "only https addresses are used"},
		{public, "http://127.0.0.1/x", "only https addresses are used"},
		{public, "http://localhost/x", "only https addresses are used"},
		{public, "ftp://mcp.example/x", "only https addresses are used"},
		{public, "file:///etc/passwd", "only https addresses are used"},
		{public, "javascript:alert(1)", "only https addresses are used"},
		{public, "https:mcp.example", "only https addresses are used"},
		{public, "//mcp.example/x", "only https addresses are used"},
		{public, "https:///x", "it has no host"},
		{public, "https://:443/x", "it has no host"},
		{public, "https://user@mcp.example/x", "a user name or a password"},
		{public, "https://user:hidden@mcp.example/x?key=hidden", "a user name or a password"},
		{public, "https://mcp.example/x#hidden", "fragment"},
		{public, "https://mcp.example/x#", "fragment"},
		{public, "https://mcp.example:port/x", "not a valid address"},
		{public, "https://127.0.0.1/x", "an address of this machine"},
		{public, "https://127.9.9.9:8443/x", "an address of this machine"},
		{public, "https://[::1]/x", "an address of this machine"},
		{public, "https://[::ffff:127.0.0.1]/x", "an address of this machine"},
		{public, "https://[64:ff9b::7f00:1]/x", "an address of this machine"},
		{public, "https://localhost/x", "an address of this machine"},
		{public, "https://LOCALHOST./x", "an address of this machine"},
		{public, "https://a.localhost/x", "an address of this machine"},
		{public, "https://10.0.0.1/x", "a private network"},
		{public, "https://10.0.0.1./x", "a private network"},
		{public, "https://172.16.0.1/x", "a private network"},
		{public, "https://192.168.0.1/x", "a private network"},
		{public, "https://[fd00::1]/x", "a private network"},
		{public, "https://[::ffff:10.0.0.1]/x", "a private network"},
		{public, "https://[64:ff9b::a00:1]/x", "a private network"},
		{public, "https://169.254.169.254/latest", "a link-local address"},
		{public, "https://[fe80::1%25eth0]/x", "a link-local address"},
		{public, "https://100.64.0.1/x", "a carrier's"},
		{public, "https://0.0.0.0/x", "an unspecified address"},
		{public, "https://[::]/x", "an unspecified address"},
		{public, "https://224.0.0.1/x", "a multicast address"},
		{public, "https://255.255.255.255/x", "a reserved address"},
		{public, "https://2130706433/x", "neither a name nor an IP address in its usual form"},
		{public, "https://0x7f.1/x", "neither a name nor an IP address in its usual form"},
		{public, "https://127.1/x", "neither a name nor an IP address in its usual form"},
		{public, "https://10.0.0.１/x", "a private network"}, // a digit that becomes a plain one
		{public, "https://①27.0.0.1/x", "an address of this machine"},
		{public, "https://10。0。0。1/x", "a private network"},
		{public, "https://ｌocalhost/x", "an address of this machine"},
		{local, "http://mcp.example/x", "only https addresses are used"},
		{local, "http://10.0.0.1/x", "only https addresses are used"},
		{local, "https://10.0.0.1/x", "a private network"},
		{local, "https://169.254.169.254/x", "a link-local address"},
		{lan, "http://192.168.1.5/x", "only https addresses are used"},
		{lan, "https://127.0.0.1/x", "an address of this machine"},
		{lan, "https://169.254.169.254/x", "a link-local address"},
		{lan, "https://224.0.0.1/x", "a multicast address"},
		{"https://224.0.0.1/mcp", "https://224.0.0.1/x", "a multicast address"},

		{public, "https://mcp.example/x?y=z", ""},
		{public, "https://as.example:8443", ""},
		{public, "https://93.184.216.34/x", ""},
		{local, "http://localhost:9000/x", ""},
		{local, "http://[::1]:9000/x", ""},
		{local, "https://127.0.0.1/x", ""},
		{local, "https://as.example/x", ""},
		{"http://localhost:3000", "http://127.0.0.1:9000/x", ""},
		{"http://0.0.0.0:3000", "http://127.0.0.1:9000/x", ""},
		{"http://0.0.0.0:3000", "http://0.0.0.0:3000/x", ""},
		{lan, "https://10.0.0.1/x", ""},
		{"https://100.64.0.1", "https://100.100.0.1/x", ""},
	} {
		g := newGuard(t, test.server, Options{resolver: names})
		err := g.Check(test.address)
		if test.want == "" {
			if err != nil {
				t.Errorf("%s for %s: %v", test.address, test.server, err)
			}
			continue
		}
		wantRefused(t, err, test.want)
		if strings.Contains(fmt.Sprint(err), "hidden") {
			t.Errorf("%s: the error shows what may be secret: %v", test.address, err)
		}
		_, err = g.Get(t.Context(), test.address)
		wantRefused(t, err, test.want)
		_, err = g.Post(t.Context(), test.address, nil, []byte("x"), time.Second)
		wantRefused(t, err, test.want)
	}
}

// A name is judged by the address that is dialled.
func TestDialledAddresses(t *testing.T) {
	for _, test := range []struct{ own, address, want string }{
		{"93.184.216.34", "127.0.0.1", "an address of this machine"},
		{"93.184.216.34", "::1", "an address of this machine"},
		{"93.184.216.34", "10.0.0.1", "a private network"},
		{"93.184.216.34", "fd00::1", "a private network"},
		{"93.184.216.34", "169.254.169.254", "a link-local address"},
		{"93.184.216.34", "100.64.0.1", "a carrier's"},
		{"93.184.216.34", "0.0.0.0", "an unspecified address"},
		{"93.184.216.34", "::", "an unspecified address"},
		{"93.184.216.34", "::ffff:10.0.0.1", "a private network"},
		{"93.184.216.34", "64:ff9b::a00:1", "a private network"},
		{"10.0.0.1", "127.0.0.1", "an address of this machine"},
		{"10.0.0.1", "169.254.169.254", "a link-local address"},
		{"10.0.0.1 93.184.216.34", "10.0.0.2", "a private network"}, // a name of two kinds counts as public
		{"", "10.0.0.2", "a private network"},                       // the server's own name cannot be looked up
		{"93.184.216.34", "93.184.216.35", ""},
		{"10.0.0.1", "192.168.0.1", ""},
		{"fd00::1", "10.0.0.1", ""},
		{"100.64.0.1", "100.64.0.2", ""},
		{"127.0.0.1", "127.0.0.2", ""},
	} {
		g := newGuard(t, "https://mcp.example/mcp", Options{resolver: resolver(t, func(name string) []string {
			if name == "mcp.example" {
				return strings.Fields(test.own)
			}
			return []string{test.address}
		})})
		if test.want != "" {
			_, err := g.Get(t.Context(), "https://as.example/x?key=hidden")
			wantRefused(t, err, "https://as.example/x was not contacted: it leads to ")
			wantRefused(t, err, test.want)
			continue
		}
		if err := g.admit(t.Context(), "as.example", bracketed(test.address)+":443"); err != nil {
			t.Errorf("%s for a server at %s: %v", test.address, test.own, err)
		}
	}
}

func bracketed(address string) string {
	if strings.Contains(address, ":") {
		return "[" + address + "]"
	}
	return address
}

// The name of localhost leads to this machine, or nowhere: http is used because of its name.
func TestLocalhostElsewhere(t *testing.T) {
	g := newGuard(t, "http://localhost:3000/mcp", Options{})
	wantRefused(t, g.admit(t.Context(), "localhost", "93.184.216.34:80"), "a public address")
}

// A name that leads to a public address when it is first looked up, and to this machine later, gets nowhere.
func TestRebinding(t *testing.T) {
	target := newSecureServer(t, func(http.ResponseWriter, *http.Request) {}, "as.example")
	var lookups atomic.Int64
	names := resolver(t, func(name string) []string {
		if name == "as.example" && lookups.Add(1) > 2 { // the first lookup asks for both kinds of addresses
			return []string{"127.0.0.1"}
		}
		return []string{"93.184.216.34"}
	})
	g := newGuard(t, "https://mcp.example/mcp", Options{resolver: names, Environ: []string{"SSL_CERT_FILE=" + target.caFile}})
	if found, err := names.LookupHost(t.Context(), "as.example"); err != nil || found[0] != "93.184.216.34" {
		t.Fatal(found, err)
	}
	address := "https://as.example" + target.port() + "/x"
	if err := g.Check(address); err != nil {
		t.Fatal(err)
	}
	_, err := g.Get(t.Context(), address)
	wantRefused(t, err, "an address of this machine")
	if n := target.requests.Load(); n != 0 {
		t.Errorf("it got %d requests", n)
	}
}

// An authorization server of the configuration may be in a network that the server is not in.
func TestTrustedAddresses(t *testing.T) {
	as := newSecureServer(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{}`) }, "as.example")
	names := resolver(t, func(name string) []string {
		if name == "as.example" {
			return []string{"127.0.0.1"}
		}
		return []string{"93.184.216.34"}
	})
	options := Options{resolver: names, Environ: []string{"SSL_CERT_FILE=" + as.caFile}}
	address := "https://as.example" + as.port() + "/x"
	_, err := newGuard(t, "https://mcp.example/mcp", options).Get(t.Context(), address)
	wantRefused(t, err, "an address of this machine, and the server itself does not have such an address; if that is right, set 'oauth.authorizationServer'")
	options.Trusted = []string{"not an address", "", "https://AS.example" + as.port()}
	g := newGuard(t, "https://mcp.example/mcp", options)
	if _, err := g.Get(t.Context(), address); err != nil {
		t.Error(err)
	}
	wantRefused(t, g.Check("https://10.0.0.1/x"), "a private network")
	wantRefused(t, g.Check("http://127.0.0.1/x"), "only https")
	options.Trusted = []string{"http://127.0.0.1:9000"}
	if err := newGuard(t, "https://mcp.example/mcp", options).Check("http://localhost:9000/token"); err != nil {
		t.Error(err)
	}
}

// 0.0.0.0 in the address of a server means this machine.
func TestUnspecifiedServer(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{}`) }))
	defer server.Close()
	_, port, _ := strings.Cut(strings.TrimPrefix(server.URL, "http://"), ":")
	g := newGuard(t, "http://0.0.0.0:"+port+"/mcp", Options{})
	for _, host := range []string{"0.0.0.0", "127.0.0.1"} {
		if _, err := g.Get(t.Context(), "http://"+host+":"+port+"/x"); err != nil {
			t.Error(err)
		}
	}
}

func TestDocuments(t *testing.T) {
	type request struct{ method, path, body, agent, accept, encoding, kind string }
	got := make(chan request, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := make([]byte, 100)
		n, _ := r.Body.Read(body)
		got <- request{r.Method, r.URL.RequestURI(), string(body[:n]), r.UserAgent(), r.Header.Get("Accept"), r.Header.Get("Accept-Encoding"), r.Header.Get("Content-Type")}
		w.Header().Set("Content-Type", "Application/JSON; charset=utf-8")
		w.WriteHeader(http.StatusTeapot)
		fmt.Fprint(w, `{"a":1}`)
	}))
	defer server.Close()
	g := newGuard(t, server.URL+"/mcp", Options{Version: "1.2"})
	document, err := g.Get(t.Context(), server.URL+"/doc?x=y")
	if err != nil || document.Status != http.StatusTeapot || string(document.Body) != `{"a":1}` || document.MediaType != "application/json" {
		t.Errorf("got %+v, %v", document, err)
	}
	if r, want := <-got, (request{"GET", "/doc?x=y", "", "mcp-workbench/1.2", "application/json", "identity", ""}); r != want {
		t.Errorf("it got %+v, want %+v", r, want)
	}
	header := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}
	if _, err := g.Post(t.Context(), server.URL+"/token", header, []byte("grant=x"), time.Minute); err != nil {
		t.Error(err)
	}
	if r, want := <-got, (request{"POST", "/token", "grant=x", "mcp-workbench/1.2", "application/json", "identity", "application/x-www-form-urlencoded"}); r != want {
		t.Errorf("it got %+v, want %+v", r, want)
	}
	if len(header) != 1 {
		t.Errorf("the caller's header was changed: %v", header)
	}
}

func TestRedirects(t *testing.T) {
	var elsewhere atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	defer other.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var n int
		switch {
		case r.URL.Path == "/other":
			http.Redirect(w, r, other.URL+"/x", http.StatusFound)
		case r.URL.Path == "/user":
			http.Redirect(w, r, "http://user@"+r.Host+"/0", http.StatusFound)
		case r.URL.Path == "/scheme":
			http.Redirect(w, r, "https://"+r.Host+"/0", http.StatusFound)
		case strings.HasPrefix(r.URL.Path, "/same"):
			http.Redirect(w, r, "/0", http.StatusTemporaryRedirect)
		default:
			fmt.Sscanf(r.URL.Path, "/%d", &n)
			if n > 0 {
				http.Redirect(w, r, fmt.Sprintf("/%d", n-1), http.StatusMovedPermanently)
			}
		}
	}))
	defer server.Close()
	g := newGuard(t, server.URL, Options{})
	for path, want := range map[string]int{"/0": 200, "/3": 200, "/4": 301, "/other": 302, "/user": 302, "/scheme": 302} {
		document, err := g.Get(t.Context(), server.URL+path)
		if err != nil || document.Status != want {
			t.Errorf("%s: got %+v, %v, want status %d", path, document, err, want)
		}
	}
	for _, path := range []string{"/same", "/other", "/1"} {
		document, err := g.Post(t.Context(), server.URL+path, nil, []byte("code=hidden"), time.Minute)
		if err != nil || document.Status/100 != 3 {
			t.Errorf("POST %s: got %+v, %v, want the redirect itself", path, document, err)
		}
	}
	if n := elsewhere.Load(); n != 0 {
		t.Errorf("the other server got %d requests", n)
	}
}

func TestCallerWhoGivesUp(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	}))
	defer server.Close()
	if _, err := newGuard(t, server.URL, Options{}).Get(ctx, server.URL); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestGuardOfNoServer(t *testing.T) {
	if _, err := NewGuard(nil, Options{}); err == nil {
		t.Error("no error")
	}
}
