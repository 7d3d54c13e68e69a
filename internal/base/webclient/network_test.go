package webclient

import (
	"bytes"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func hello(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{}`) }

// The name is resolved by the proxy, which is itself on this machine.
func TestProxy(t *testing.T) {
	server := newSecureServer(t, hello, "as.example")
	proxy := newProxyServer(t, server.Listener.Addr().String())
	nowhere := resolver(t, func(string) []string { return nil })
	environ := []string{"SSL_CERT_FILE=" + server.caFile, "HTTPS_PROXY=http://me:pass@" + proxy.Listener.Addr().String()}
	g := newGuard(t, "https://mcp.example/mcp", Options{Environ: environ, resolver: nowhere})
	if document, err := g.Get(t.Context(), "https://as.example/x"); err != nil || string(document.Body) != `{}` {
		t.Errorf("got %+v, %v", document, err)
	}
	if _, err := g.Post(t.Context(), "https://as.example/token", nil, []byte("x"), documentTime); err != nil {
		t.Error(err)
	}
	if got, want := proxy.hosts(), []string{"as.example:443", "as.example:443"}; !slices.Equal(got, want) {
		t.Errorf("the proxy was asked for %q, want %q", got, want)
	}
	if proxy.logins[0] == "" {
		t.Error("the proxy got no password")
	}
	// The proxy does not make private addresses public.
	for _, address := range []string{"https://10.0.0.1/x", "https://169.254.169.254/x", "https://localhost/x", "https://0x7f.1/x"} {
		_, err := g.Get(t.Context(), address)
		wantRefused(t, err, "was not contacted")
	}
	if got := proxy.hosts(); len(got) != 2 {
		t.Errorf("the proxy was asked for %q", got)
	}
}

func TestNoProxy(t *testing.T) {
	server := newSecureServer(t, hello, "as.example", "mcp.example")
	proxy := newProxyServer(t, server.Listener.Addr().String())
	local := resolver(t, func(string) []string { return []string{"127.0.0.1"} })
	g := newGuard(t, "https://mcp.example/mcp", Options{resolver: local, Environ: []string{
		"ssl_cert_file=ignored", "SSL_CERT_FILE=" + server.caFile, "https_proxy=" + proxy.URL, "no_proxy=.example",
	}})
	if _, err := g.Get(t.Context(), "https://as.example"+server.port()+"/x"); err != nil {
		t.Error(err)
	}
	if got := proxy.hosts(); len(got) != 0 {
		t.Errorf("the proxy was asked for %q", got)
	}
}

// Plain http goes to this machine, and to no proxy.
func TestNoProxyForThisMachine(t *testing.T) {
	proxy := newProxyServer(t, "")
	g := newGuard(t, "http://localhost:3000", Options{
		Environ: []string{"HTTP_PROXY=" + proxy.URL}, resolver: resolver(t, func(string) []string { return []string{"93.184.216.34"} }),
	})
	_, err := g.Get(t.Context(), "http://a.localhost:9/x")
	wantRefused(t, err, "it leads to a public address")
	if got := proxy.hosts(); len(got) != 0 {
		t.Errorf("the proxy was asked for %q", got)
	}
}

func TestProxyThatFails(t *testing.T) {
	server := newSecureServer(t, hello, "as.example")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := listener.Addr().String()
	listener.Close()
	refusing := newProxyServer(t, server.Listener.Addr().String())
	refusing.refuse = http.StatusForbidden
	asking := newProxyServer(t, server.Listener.Addr().String())
	asking.refuse = http.StatusProxyAuthRequired
	host := func(p *proxy) string { return p.Listener.Addr().String() }
	for _, test := range []struct{ proxy, want string }{
		{"http://me:hidden@" + closed, "proxyconnect tcp: dial tcp " + closed},
		{"http://me:hidden@" + host(refusing), "the proxy " + host(refusing) + " refused the connection with status 403; add the host to NO_PROXY if it can be reached without the proxy"},
		{"http://me:hidden@" + host(asking), "the proxy " + host(asking) + " refused the connection with status 407; put the user and the password into HTTPS_PROXY"},
		{"me:hidden@%zz", "HTTPS_PROXY is not an address that can be used; write it as http://HOST:PORT"},
		{":::bad", "HTTPS_PROXY is not an address that can be used; write it as http://HOST:PORT"},
		{"http://%zz", "HTTPS_PROXY is not an address that can be used; write it as http://HOST:PORT"},
		{"http://me:hidden@host:port", "HTTPS_PROXY is not an address that can be used; write it as http://HOST:PORT"},
		{"me:hid den@host", "HTTPS_PROXY is not an address that can be used; write it as http://HOST:PORT"},
		{"socks9://hidden:1", "HTTPS_PROXY is not an address that can be used; write it as http://HOST:PORT"},
		{"http://me:hidden@ho st", "HTTPS_PROXY is not an address that can be used; write it as http://HOST:PORT"},
	} {
		g := newGuard(t, "https://mcp.example/mcp", Options{Environ: []string{"HTTPS_PROXY=" + test.proxy}})
		_, err := g.Get(t.Context(), "https://as.example/x?key=hidden")
		wantUnreachable(t, err, test.want)
		if strings.Contains(fmt.Sprint(err), "hidden") {
			t.Errorf("the error shows the password: %v", err)
		}
	}
}

func TestAuthorities(t *testing.T) {
	server := newSecureServer(t, hello)
	folder := filepath.Dir(server.caFile)
	if err := os.WriteFile(filepath.Join(folder, "README"), []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, environ := range [][]string{
		{"SSL_CERT_FILE=" + server.caFile},
		{"SSL_CERT_DIR=" + folder},
		{"SSL_CERT_DIR=" + strings.Join([]string{folder + "-missing", folder}, string(os.PathListSeparator))},
		{"NODE_EXTRA_CA_CERTS=" + server.caFile},
		{"SSL_CERT_FILE=missing", "NODE_EXTRA_CA_CERTS=old", "NODE_EXTRA_CA_CERTS=" + server.caFile},
	} {
		if _, err := newGuard(t, server.URL, Options{Environ: environ}).Get(t.Context(), server.URL); err != nil {
			t.Errorf("%q: %v", environ, err)
		}
	}
	_, err := newGuard(t, server.URL, Options{}).Get(t.Context(), server.URL)
	wantUnreachable(t, err, "its certificate is self-signed, or signed by an unknown authority; if you trust it, name a file with its certificate in SSL_CERT_FILE")
}

func TestAuthoritiesThatCannotBeUsed(t *testing.T) {
	folder := t.TempDir()
	empty := filepath.Join(folder, "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ entry, want string }{
		{"SSL_CERT_FILE=" + empty, "ignored SSL_CERT_FILE"},
		{"NODE_EXTRA_CA_CERTS=" + empty, "the file holds no certificate"},
		{"NODE_EXTRA_CA_CERTS=" + folder, "not a file of at most 16 MiB"},
		{"SSL_CERT_FILE=" + empty + ".missing", "empty.pem.missing"},
		{"SSL_CERT_DIR=" + empty, "ignored a folder of SSL_CERT_DIR"},
	} {
		var log bytes.Buffer
		NewTransport(Options{Environ: []string{test.entry}, Log: slog.New(slog.NewTextHandler(&log, nil))})
		if !strings.Contains(log.String(), test.want) {
			t.Errorf("%s: logged %q, want %q", test.entry, log.String(), test.want)
		}
	}
}

func TestUnreachable(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := listener.Addr().String()
	listener.Close()
	server := newSecureServer(t, hello, "other.example")
	environ := []string{"SSL_CERT_FILE=" + server.caFile}
	plain := newProxyServer(t, "")
	names := resolver(t, func(name string) []string {
		if name == "missing.example" {
			return nil
		}
		return []string{"127.0.0.1"}
	})
	for address, want := range map[string]string{
		"http://" + closed + "/x?key=hidden":                     "cannot reach http://" + closed + "/x: dial tcp " + closed + ": ",
		"https://missing.example/x?key=hidden":                   "cannot reach https://missing.example/x: dial tcp: lookup missing.example",
		"https://a.localhost" + server.port() + "/x?key=hidden":  "its certificate is not valid for the host name 'a.localhost'",
		"https://" + plain.Listener.Addr().String() + "/?hidden": "it does not speak TLS",
	} {
		_, err := newGuard(t, "http://127.0.0.1:3000", Options{Environ: environ, resolver: names}).Get(t.Context(), address)
		wantUnreachable(t, err, want)
		if strings.Contains(fmt.Sprint(err), "hidden") || strings.Contains(fmt.Sprint(err), "'url'") {
			t.Errorf("error %v", err)
		}
	}
}

func TestExcerpt(t *testing.T) {
	for text, want := range map[string]string{
		"a\n b\t\x1b[31mred\u202e": "a b red",
		"\xff" + "x":               "x",
		strings.Repeat("ä", 400):   strings.Repeat("ä", 300) + "…",
		strings.Repeat("x", 1<<20): strings.Repeat("x", 300) + "…",
	} {
		if got := excerpt(text); got != want {
			t.Errorf("%.20q: got %q", text, got)
		}
	}
}

func TestPasses(t *testing.T) {
	for _, test := range []struct {
		err  error
		want bool
	}{
		{&net.OpError{Op: "dial", Err: errors.New("connection refused")}, true},
		{&net.DNSError{IsTimeout: true}, true},
		{&net.DNSError{IsNotFound: true}, false},
		{x509.UnknownAuthorityError{}, false},
		{&ProxyError{text: "HTTPS_PROXY is not an address"}, false},
		{&ProxyError{"refused", http.StatusForbidden}, false},
		{&ProxyError{"refused", http.StatusBadGateway}, true},
	} {
		if got := Passes(fmt.Errorf("wrapped: %w", test.err)); got != test.want {
			t.Errorf("%v: %v", test.err, got)
		}
	}
}
