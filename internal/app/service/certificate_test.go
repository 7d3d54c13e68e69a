package service

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// issued is a certificate with its key.
type issued struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

var serial atomic.Int64

// issue makes a certificate, signed by an authority; nil: by itself, as an authority.
func issue(t *testing.T, name string, until time.Time, by *issued, usage ...x509.ExtKeyUsage) *issued {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial.Add(1)), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: until,
		DNSNames: []string{name}, ExtKeyUsage: usage, KeyUsage: x509.KeyUsageDigitalSignature,
	}
	parent, signer := template, key
	if by == nil {
		template.IsCA, template.BasicConstraintsValid, template.KeyUsage, template.DNSNames = true, true, x509.KeyUsageCertSign, nil
	} else {
		parent, signer = by.cert, by.key
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	return &issued{cert, key}
}

func (i *issued) pem(t *testing.T) (cert, key []byte) {
	t.Helper()
	raw, err := x509.MarshalPKCS8PrivateKey(i.key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: i.cert.Raw}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw})
}

func (i *issued) pair() tls.Certificate {
	return tls.Certificate{Certificate: [][]byte{i.cert.Raw}, PrivateKey: i.key}
}

// secured is a TLS listener whose files a test changes.
type secured struct {
	t        *testing.T
	files    config.TLS
	listener *Listener
	log      *bytes.Buffer
	states   chan tls.ConnectionState
}

func secure(t *testing.T, server, clientCA *issued) *secured {
	t.Helper()
	dir := t.TempDir()
	s := &secured{t: t, log: new(bytes.Buffer), states: make(chan tls.ConnectionState, 1)}
	s.files = config.TLS{Cert: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem")}
	if clientCA != nil {
		s.files.ClientCA = filepath.Join(dir, "ca.pem")
		authority, _ := clientCA.pem(t)
		s.write(s.files.ClientCA, authority)
	}
	s.use(server)
	listener, err := Listen("127.0.0.1:0", s.files, slog.New(slog.NewTextHandler(s.log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	s.listener = listener
	served := make(chan struct{})
	go func() { // ends with the listener
		defer close(served)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			secure := conn.(*tls.Conn)
			if secure.Handshake() == nil {
				s.states <- secure.ConnectionState()
				_, _ = secure.Write([]byte("x"))
			}
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() {
		_ = listener.Close()
		<-served
	})
	return s
}

// use writes the server's certificate and key.
func (s *secured) use(server *issued) {
	s.t.Helper()
	cert, key := server.pem(s.t)
	s.write(s.files.Cert, cert)
	s.write(s.files.Key, key)
}

// write replaces a file, with a time of its own.
func (s *secured) write(name string, data []byte) {
	s.t.Helper()
	if err := os.WriteFile(name, data, 0o600); err != nil {
		s.t.Fatal(err)
	}
	at := time.Now().Add(time.Duration(serial.Add(1)) * time.Second)
	if err := os.Chtimes(name, at, at); err != nil {
		s.t.Fatal(err)
	}
}

// due has the next connection look at the files.
func (s *secured) due() {
	c := s.listener.Certificates
	c.checking.Lock()
	defer c.checking.Unlock()
	c.checked = time.Time{}
}

// connect returns the name in the certificate that the server shows, and how it sees the client.
func (s *secured) connect(client *issued) (name string, state tls.ConnectionState, err error) {
	settings := &tls.Config{InsecureSkipVerify: true} // the test looks at the certificate itself
	if client != nil {
		settings.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { pair := client.pair(); return &pair, nil }
	}
	conn, err := tls.Dial("tcp", s.listener.Addr().String(), settings)
	if err != nil {
		return "", state, err
	}
	defer conn.Close()
	if _, err = io.ReadFull(conn, make([]byte, 1)); err != nil {
		return "", state, err
	}
	return conn.ConnectionState().PeerCertificates[0].Subject.CommonName, <-s.states, nil
}

func (s *secured) expect(want string) {
	s.t.Helper()
	s.due()
	if got, _, err := s.connect(nil); got != want || err != nil {
		s.t.Errorf("the certificate is that of %q, %v; want %q", got, err, want)
	}
}

func TestCertificateFollowsItsFiles(t *testing.T) {
	authority := issue(t, "authority", time.Now().Add(time.Hour), nil)
	first := issue(t, "first", time.Now().Add(time.Hour), authority)
	second := issue(t, "second", time.Now().Add(2*time.Hour).Truncate(time.Second), authority)
	s := secure(t, first, nil)
	s.expect("first")
	s.use(second)
	if got, _, _ := s.connect(nil); got != "first" { // the files were looked at just now
		t.Errorf("the files are read for each connection: %s", got)
	}
	s.expect("second")
	if got := s.listener.Certificates.Expires(); !got.Equal(second.cert.NotAfter) {
		t.Errorf("it expires %v, want %v", got, second.cert.NotAfter)
	}

	// A key that does not fit, as in the middle of a renewal, changes nothing, and is told of once.
	_, key := first.pem(t)
	s.write(s.files.Key, key)
	for range 3 {
		s.expect("second")
	}
	if got := strings.Count(s.log.String(), "level=WARN"); got != 1 {
		t.Errorf("%d warnings: %s", got, s.log)
	}
	s.use(first)
	s.expect("first")
	if err := os.Remove(s.files.Cert); err != nil {
		t.Fatal(err)
	}
	s.expect("first")
	if got := strings.Count(s.log.String(), "level=WARN"); got != 2 {
		t.Errorf("%d warnings: %s", got, s.log)
	}
}

func TestClientCertificates(t *testing.T) {
	hour := time.Now().Add(time.Hour)
	ours, others := issue(t, "ours", hour, nil), issue(t, "others", hour, nil)
	s := secure(t, issue(t, "server", hour, ours), ours)
	client := issue(t, "client", hour, ours, x509.ExtKeyUsageClientAuth)
	for _, test := range []struct {
		name   string
		client *issued
		works  bool
	}{
		{"none", nil, true},
		{"ours", client, true},
		{"of another authority", issue(t, "client", hour, others, x509.ExtKeyUsageClientAuth), false},
		{"for servers", issue(t, "client", hour, ours, x509.ExtKeyUsageServerAuth), false},
		{"expired", issue(t, "client", time.Now().Add(-time.Minute), ours, x509.ExtKeyUsageClientAuth), false},
	} {
		_, state, err := s.connect(test.client)
		if (err == nil) != test.works {
			t.Errorf("%s: %v", test.name, err)
		}
		isNamed := len(state.VerifiedChains) > 0
		if test.works && isNamed != (test.client != nil) || isNamed != s.listener.Certificates.Trusts(&state) {
			t.Errorf("%s: verified %v", test.name, isNamed)
		}
	}

	// Nor does one count that was begun before somebody on the way to the authority expired.
	late := issue(t, "middle", time.Now().Add(-time.Second), ours)
	if chain := []*x509.Certificate{client.cert, late.cert, ours.cert}; s.listener.Certificates.Trusts(&tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{chain}}) {
		t.Error("a chain counts that has expired in the middle")
	}

	// A connection that is older than the file with the authorities counts no more.
	_, state, err := s.connect(client)
	if err != nil || !s.listener.Certificates.Trusts(&state) {
		t.Fatal("the certificate does not count", err)
	}
	authority, _ := others.pem(t)
	s.write(s.files.ClientCA, authority)
	s.due()
	if s.listener.Certificates.Trusts(&state) {
		t.Error("the certificate of a former authority counts")
	}
	if _, _, err := s.connect(client); err == nil {
		t.Error("the certificate of a former authority is accepted")
	}
	s.write(s.files.ClientCA, []byte("nothing"))
	s.due()
	if _, _, err := s.connect(issue(t, "client", hour, others, x509.ExtKeyUsageClientAuth)); err != nil {
		t.Errorf("an unusable file took the authorities away: %v", err)
	}
}

// A session of TLS is not resumed with a certificate: it was verified against the authorities of then.
func TestClientCertificateIsVerifiedEachTime(t *testing.T) {
	hour := time.Now().Add(time.Hour)
	authority := issue(t, "authority", hour, nil)
	s := secure(t, issue(t, "server", hour, authority), authority)
	client := issue(t, "client", hour, authority, x509.ExtKeyUsageClientAuth)
	settings := &tls.Config{InsecureSkipVerify: true, ClientSessionCache: tls.NewLRUClientSessionCache(1), Certificates: []tls.Certificate{client.pair()}}
	for range 2 {
		conn, err := tls.Dial("tcp", s.listener.Addr().String(), settings)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(conn, make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		if (<-s.states).DidResume {
			t.Error("the session was resumed")
		}
		_ = conn.Close()
	}
}

func TestListenTellsWhatIsWrong(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	authority := issue(t, "authority", time.Now().Add(time.Hour), nil)
	dir := t.TempDir()
	cert, key := authority.pem(t)
	for name, data := range map[string][]byte{"cert": cert, "key": key, "empty": nil} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, test := range []struct {
		address string
		files   config.TLS
		want    string
	}{
		{taken.Addr().String(), config.TLS{}, "another program does"},
		{"192.0.2.1:0", config.TLS{}, "cannot listen on 192.0.2.1:0"},
		{"127.0.0.1:0", config.TLS{Cert: at("none"), Key: at("key")}, "the certificate of http.tls cannot be used"},
		{"127.0.0.1:0", config.TLS{Cert: at("cert"), Key: at("cert")}, "the certificate of http.tls cannot be used"},
		{"127.0.0.1:0", config.TLS{Cert: at("cert"), Key: at("key"), ClientCA: at("empty")}, "holds no certificate"},
	} {
		listener, err := Listen(test.address, test.files, slog.New(slog.DiscardHandler))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s, %+v: %v", test.address, test.files, err)
		}
		if listener != nil {
			_ = listener.Close()
		}
	}
}

// A certificate that clients refuse is told of before they do.
func TestCertificateThatClientsRefuse(t *testing.T) {
	hour := time.Now().Add(time.Hour)
	authority := issue(t, "authority", hour, nil)
	for _, test := range []struct {
		name, host, want string
		server           *issued
	}{
		{"its host", "mcp.example.com", "", issue(t, "mcp.example.com", hour, authority, x509.ExtKeyUsageServerAuth)},
		{"without a usage", "mcp.example.com", "", issue(t, "mcp.example.com", hour, authority)},
		{"a host below", "a.mcp.example.com", "", issue(t, "*.mcp.example.com", hour, authority, x509.ExtKeyUsageServerAuth)},
		{"any host", "", "", issue(t, "mcp.example.com", hour, authority, x509.ExtKeyUsageServerAuth)},
		{"another host", "mcp.example.com", "it is not for mcp.example.com, but for example.com", issue(t, "example.com", hour, authority, x509.ExtKeyUsageServerAuth)},
		{"a common name alone", "authority", "but for no host at all", authority},
		{"for clients", "mcp.example.com", "not for servers", issue(t, "mcp.example.com", hour, authority, x509.ExtKeyUsageClientAuth)},
	} {
		err := secure(t, test.server, nil).listener.Certificates.Serves(test.host)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}
