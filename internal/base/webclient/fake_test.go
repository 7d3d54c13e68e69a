package webclient

import (
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/net/dns/dnsmessage"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// secureServer is an HTTPS server on the loopback address, with a certificate for given names that only its own
// authority has signed.
type secureServer struct {
	*httptest.Server
	caFile   string
	requests atomic.Int64
}

func newSecureServer(t *testing.T, handler http.HandlerFunc, names ...string) *secureServer {
	t.Helper()
	pair, file := certificate(t, names...)
	s := &secureServer{caFile: file}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests.Add(1)
		handler(w, r)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

// port returns the port of the server with its colon.
func (s *secureServer) port() string {
	address := s.Listener.Addr().String()
	return address[strings.LastIndexByte(address, ':'):]
}

// certificate makes a self-signed one and a file with it.
func certificate(t *testing.T, names ...string) (tls.Certificate, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: names, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotBefore: time.Unix(0, 0), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
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

// newGuard makes a guard for a server's address.
func newGuard(t *testing.T, server string, options Options) *Guard {
	t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	g, err := NewGuard(u, options)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// resolver answers lookups from a function that may answer differently each time.
func resolver(t *testing.T, answer func(name string) []string) *net.Resolver {
	t.Helper()
	var serving sync.WaitGroup
	t.Cleanup(serving.Wait)
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		serving.Go(func() {
			defer ours.Close()
			for answerOne(ours, answer) == nil {
			}
		})
		return theirs, nil
	}}
}

// answerOne answers one query in the form that DNS has over TCP.
func answerOne(conn net.Conn, answer func(name string) []string) error {
	var size [2]byte
	if _, err := io.ReadFull(conn, size[:]); err != nil {
		return err
	}
	query := make([]byte, binary.BigEndian.Uint16(size[:]))
	if _, err := io.ReadFull(conn, query); err != nil {
		return err
	}
	var message dnsmessage.Message
	if err := message.Unpack(query); err != nil {
		return err
	}
	question := message.Questions[0]
	message.Response, message.RecursionAvailable = true, true
	message.Additionals = nil
	for _, text := range answer(strings.TrimSuffix(question.Name.String(), ".")) {
		address := netip.MustParseAddr(text)
		head := dnsmessage.ResourceHeader{Name: question.Name, Type: question.Type, Class: question.Class}
		switch {
		case question.Type == dnsmessage.TypeA && address.Is4():
			message.Answers = append(message.Answers, dnsmessage.Resource{Header: head, Body: &dnsmessage.AResource{A: address.As4()}})
		case question.Type == dnsmessage.TypeAAAA && address.Is6():
			message.Answers = append(message.Answers, dnsmessage.Resource{Header: head, Body: &dnsmessage.AAAAResource{AAAA: address.As16()}})
		}
	}
	reply, err := message.Pack()
	if err != nil {
		return err
	}
	_, err = conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(reply))), reply...))
	return err
}

// proxy is an HTTP proxy that leads every host to one address.
type proxy struct {
	*httptest.Server
	mu      sync.Mutex
	asked   []string // what was asked for with CONNECT, or the address of a plain request
	logins  []string // Proxy-Authorization of each
	refuse  int      // not 0: the status that it refuses with
	tunnels sync.WaitGroup
	leadsTo string
}

func newProxyServer(t *testing.T, leadsTo string) *proxy {
	t.Helper()
	p := &proxy{leadsTo: leadsTo}
	p.Server = httptest.NewServer(http.HandlerFunc(p.serve))
	t.Cleanup(func() {
		p.CloseClientConnections()
		p.Close()
		p.tunnels.Wait()
	})
	return p
}

func (p *proxy) serve(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.asked = append(p.asked, r.Host)
	p.logins = append(p.logins, r.Header.Get("Proxy-Authorization"))
	p.mu.Unlock()
	if p.refuse != 0 || r.Method != http.MethodConnect {
		w.WriteHeader(cmp.Or(p.refuse, http.StatusMethodNotAllowed))
		return
	}
	there, err := net.Dial("tcp", p.leadsTo)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	here, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		there.Close()
		return
	}
	io.WriteString(here, "HTTP/1.1 200 OK\r\n\r\n")
	p.tunnels.Go(func() { io.Copy(there, here); there.Close() })
	p.tunnels.Go(func() { io.Copy(here, there); here.Close() })
}

func (p *proxy) hosts() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.asked...)
}

// wantRefused fails unless an error is a *RefusedError with some words.
func wantRefused(t *testing.T, err error, words string) {
	t.Helper()
	refused, ok := errors.AsType[*RefusedError](err)
	if !ok || !strings.Contains(refused.Error(), words) {
		t.Errorf("error %v, want a refusal with %q", err, words)
	}
}

// wantUnreachable fails unless an error is an *UnreachableError with some words.
func wantUnreachable(t *testing.T, err error, words string) {
	t.Helper()
	unreachable, ok := errors.AsType[*UnreachableError](err)
	if !ok || !strings.Contains(unreachable.Error(), words) {
		t.Errorf("error %v, want an unreachable address with %q", err, words)
	}
}
