package downstream

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// certificate makes a self-signed one for a host name.
func certificate(t *testing.T, name string, until time.Time) (tls.Certificate, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{name}, NotBefore: time.Unix(0, 0), NotAfter: until,
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	if name == "" {
		template.DNSNames, template.IPAddresses = nil, []net.IP{net.IPv4(127, 0, 0, 1)}
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key}, file
}

func TestTLS(t *testing.T) {
	later := time.Now().Add(time.Hour)
	for _, test := range []struct {
		name, host string
		until      time.Time
		trusted    bool
		plain      bool // the server does not speak TLS
		want       string
	}{
		{name: "trusted", until: later, trusted: true},
		{name: "self-signed", until: later, want: "its certificate is self-signed, or signed by an unknown authority; if you trust it, name a file with its certificate in SSL_CERT_FILE"},
		{name: "another name", host: "other.example", until: later, trusted: true, want: "not valid for the host name '127.0.0.1'"},
		{name: "expired", until: time.Now().Add(-time.Hour), trusted: true, want: "has expired or is not valid yet"},
		{name: "no TLS", until: later, plain: true, want: "it does not speak TLS; does 'url' have to begin with http://?"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newWeb(t)
			proto := make(chan string, 100)
			f.before = func(_ http.ResponseWriter, r *http.Request, _ string) bool {
				proto <- r.Proto
				return false
			}
			pair, file := certificate(t, test.host, test.until)
			server := httptest.NewUnstartedServer(f)
			server.Config.ErrorLog = log.New(io.Discard, "", 0)
			server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
			server.EnableHTTP2 = true
			if test.plain {
				server.Start()
			} else {
				server.StartTLS()
			}
			defer server.Close()
			remote := &Remote{URL: "https://" + server.Listener.Addr().String() + "/mcp"}
			if test.trusted {
				remote.Environ = []string{"NODE_EXTRA_CA_CERTS=" + file}
			}
			session, err := Connect(t.Context(), Options{Remote: remote})
			if test.want != "" {
				if err == nil || !strings.HasPrefix(err.Error(), "cannot connect to the server: ") || !strings.Contains(err.Error(), test.want) {
					t.Errorf("error %v, want %s", err, test.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			if got := result(t, session); got != `{"ok":true}` {
				t.Errorf("got %s", got)
			}
			if got := <-proto; got != "HTTP/2.0" {
				t.Errorf("it spoke %s", got)
			}
		})
	}
}

func TestUnreachable(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	free := listener.Addr().String()
	listener.Close()
	for address, want := range map[string]string{
		"http://" + free + "/mcp?key=hidden":    "connection refused",
		"http://no-such-host.invalid/?x=hidden": "cannot connect to the server: ",
		"http://[::1":                           "'url' is not an address that can be used",
	} {
		for _, sse := range []bool{false, true} {
			_, err := Connect(t.Context(), Options{Remote: &Remote{URL: address, SSE: sse, Headers: []Header{{"X", "hidden"}}}})
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hidden") {
				t.Errorf("%s: error %v, want %s", address, err, want)
			}
		}
	}
}

func TestExtraCAThatCannotBeUsed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{file, file + ".missing"} {
		f := newWeb(t)
		if got := result(t, f.mustConnect(Options{Remote: &Remote{Environ: []string{"NODE_EXTRA_CA_CERTS=" + name}}})); got != `{"ok":true}` {
			t.Errorf("%s: got %s", name, got)
		}
	}
}
