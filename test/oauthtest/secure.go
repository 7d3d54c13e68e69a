package oauthtest

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
	"slices"
	"sync"
	"time"
)

// The names of a proxied provider, which only its proxy knows.
const (
	resourceHost = "mcp.example"
	firstHost    = "login.example"
	otherHost    = "other.example"
)

// secured is what a provider with https has: an authority that nobody else knows, and a proxy that leads to its names.
type secured struct {
	authority []byte // its certificate in PEM
	config    *tls.Config
	proxy     net.Listener
	leads     map[string]net.Listener
	tunnels   sync.WaitGroup

	mu    sync.Mutex
	asked []string // the hosts of CONNECT
}

func newSecured() (*secured, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{resourceHost, firstHost, otherHost}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Unix(0, 0), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	proxy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	return &secured{
		authority: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}),
		config:    &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{raw}, PrivateKey: key}}, MinVersion: tls.VersionTLS12},
		proxy:     proxy, leads: make(map[string]net.Listener),
	}, nil
}

// secure makes the listeners those of https, and begins the proxy.
func (p *Provider) secure() (err error) {
	if p.secured, err = newSecured(); err != nil {
		return err
	}
	for name, listener := range map[string]*net.Listener{resourceHost: &p.resource, firstHost: &p.first.listener, otherHost: &p.other.listener} {
		*listener = tls.NewListener(*listener, p.secured.config)
		p.secured.leads[name+":443"] = *listener
	}
	proxy := &http.Server{Handler: p.secured, ErrorLog: log.New(io.Discard, "", 0)}
	p.servers = append(p.servers, proxy)
	p.work.Go(func() { _ = proxy.Serve(p.secured.proxy) }) // until it is closed
	return nil
}

// ServeHTTP is the proxy.
func (s *secured) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked = append(s.asked, r.Host)
	s.mu.Unlock()
	target := s.leads[r.Host]
	if r.Method != http.MethodConnect || target == nil {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	there, err := net.Dial("tcp", target.Addr().String())
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	here, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		_ = there.Close()
		return
	}
	_, _ = io.WriteString(here, "HTTP/1.1 200 OK\r\n\r\n") // a client that is gone is noticed below
	pump := func(to, from net.Conn) {
		_, _ = io.Copy(to, from) // until one of them ends
		_ = to.Close()
		_ = from.Close()
	}
	s.tunnels.Go(func() { pump(there, here) })
	s.tunnels.Go(func() { pump(here, there) })
}

// originOf returns the origin of a listener, whose host is name if there is a proxy.
func (p *Provider) originOf(listener net.Listener, name string) string {
	switch p.network {
	case "proxied":
		return "https://" + name
	case "secure":
		return "https://" + listener.Addr().String()
	}
	return "http://" + listener.Addr().String()
}

// Authority is the certificate of the authority that signed those of the provider, in PEM; nil over plain http.
func (p *Provider) Authority() []byte {
	if p.secured == nil {
		return nil
	}
	return p.secured.authority
}

// Proxy is the address of the proxy; "" over plain http.
func (p *Provider) Proxy() string {
	if p.secured == nil {
		return ""
	}
	return "http://" + p.secured.proxy.Addr().String()
}

// Proxied are the hosts that the proxy was asked for, each once, in alphabetical order.
func (p *Provider) Proxied() []string {
	if p.secured == nil {
		return nil
	}
	p.secured.mu.Lock()
	defer p.secured.mu.Unlock()
	hosts := slices.Clone(p.secured.asked)
	slices.Sort(hosts)
	return slices.Compact(hosts)
}
