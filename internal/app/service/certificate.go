package service

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/safefile"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

const (
	// certificateInterval is the time between two looks at the files of http.tls; connections in between use what was read.
	certificateInterval = time.Second
	// maxCertificateFile is the size of a file of http.tls; a larger one cannot be used.
	maxCertificateFile = 1 << 20
)

// Certificates are the server's certificate, and the authorities of client certificates. They follow their files: new
// connections get what the files hold now. Files that cannot be used change nothing.
//
// The files are looked at when a client connects, so nothing runs meanwhile.
type Certificates struct {
	files config.TLS
	log   *slog.Logger
	used  atomic.Pointer[usedCertificates]

	checking sync.Mutex // held by the one who looks at the files
	checked  time.Time
	seen     [3]fs.FileInfo // the files that were read last, usable or not; nil: there was none
}

// usedCertificates are what new connections get.
type usedCertificates struct {
	config      *tls.Config
	expires     time.Time
	authorities map[string]bool // their certificates; nil: client certificates are not asked for
}

// OpenCertificates reads the files. Without a certificate it returns nil. log may be nil.
func OpenCertificates(files config.TLS, log *slog.Logger) (*Certificates, error) {
	if files.Cert == "" {
		return nil, nil
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	c := &Certificates{files: files, log: log, checked: time.Now()}
	c.seen = c.stat()
	used, err := c.read()
	if err != nil {
		return nil, err
	}
	c.used.Store(used)
	return c, nil
}

// Expires returns when the certificate in use ends. For nil it is the zero time.
func (c *Certificates) Expires() time.Time {
	if c == nil {
		return time.Time{}
	}
	return c.current().expires
}

// Serves returns why clients refuse the certificate in use under the name of a host; "": any host.
func (c *Certificates) Serves(host string) error {
	leaf := c.current().config.Certificates[0].Leaf
	usages := leaf.ExtKeyUsage
	isForServers := len(usages)+len(leaf.UnknownExtKeyUsage) == 0 || slices.Contains(usages, x509.ExtKeyUsageServerAuth) || slices.Contains(usages, x509.ExtKeyUsageAny)
	if !isForServers {
		return errors.New("it is not for servers (extended key usage)")
	}
	if host == "" {
		return nil
	}
	if err := leaf.VerifyHostname(host); err != nil {
		return fmt.Errorf("it is not for %s, but for %s", host, namesOf(leaf))
	}
	return nil
}

// namesOf returns the names that clients accept a certificate for.
func namesOf(leaf *x509.Certificate) string {
	names := slices.Clone(leaf.DNSNames)
	for _, address := range leaf.IPAddresses {
		names = append(names, address.String())
	}
	const most = 5
	switch {
	case len(names) == 0:
		return "no host at all: hosts are read from the alternative names alone"
	case len(names) > most:
		names = append(names[:most], "others")
	}
	return strings.Join(names, ", ")
}

// Authorities returns how many authorities of client certificates there are.
func (c *Certificates) Authorities() int { return len(c.current().authorities) }

// Trusts reports whether a connection's client certificate is still one of an authority in use, and nothing that vouches for
// it has expired: a connection may be older than the file.
func (c *Certificates) Trusts(state *tls.ConnectionState) bool {
	if c == nil || state == nil {
		return false
	}
	authorities, now := c.current().authorities, time.Now()
	return slices.ContainsFunc(state.VerifiedChains, func(chain []*x509.Certificate) bool {
		hasExpired := func(certificate *x509.Certificate) bool { return now.After(certificate.NotAfter) } // of whoever signed it, too
		return len(chain) > 0 && authorities[string(chain[len(chain)-1].Raw)] && !slices.ContainsFunc(chain, hasExpired)
	})
}

// config returns the settings of a new connection. Its signature is that of tls.Config.GetConfigForClient.
func (c *Certificates) config(*tls.ClientHelloInfo) (*tls.Config, error) {
	return c.current().config, nil
}

// current returns what the files hold. While one connection looks at them, others use what was read before.
func (c *Certificates) current() *usedCertificates {
	if c.checking.TryLock() {
		defer c.checking.Unlock()
		if time.Since(c.checked) >= certificateInterval {
			c.check()
			c.checked = time.Now()
		}
	}
	return c.used.Load()
}

// check reads the files again if they changed. Called with checking held.
func (c *Certificates) check() {
	now := c.stat()
	if isSame := sameFile(now[0], c.seen[0]) && sameFile(now[1], c.seen[1]) && sameFile(now[2], c.seen[2]); isSame {
		return
	}
	c.seen = now // what is written while they are read is seen at the next look
	used, err := c.read()
	if err != nil {
		c.log.Warn("the files of http.tls changed and cannot be used; the certificate that was read before stays in use", "reason", err)
		return
	}
	c.used.Store(used)
	c.log.Info("the certificate was read again", "file", c.files.Cert, "expires", used.expires.UTC().Format(time.RFC3339))
}

// stat returns the files as they are now.
func (c *Certificates) stat() (files [3]fs.FileInfo) {
	for i, name := range []string{c.files.Cert, c.files.Key, c.files.ClientCA} {
		if name == "" {
			continue
		}
		if info, err := os.Stat(name); err == nil {
			files[i] = info
		}
	}
	return files
}

func sameFile(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == b
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// read reads the files.
func (c *Certificates) read() (*usedCertificates, error) {
	invalid := func(err error) error {
		return &toolbox.Error{
			Code:    toolbox.CertificateInvalid,
			Message: fmt.Sprintf("the certificate of http.tls cannot be used: %v", err),
			Hint:    "http.tls.cert and http.tls.key name the files of one certificate and its key, in PEM form.",
			Cause:   err,
		}
	}
	certificate, err := readCertificateFile(c.files.Cert)
	if err != nil {
		return nil, invalid(err)
	}
	key, err := readCertificateFile(c.files.Key)
	if err != nil {
		return nil, invalid(err)
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, invalid(err)
	}
	used := &usedCertificates{
		config:  &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}},
		expires: pair.Leaf.NotAfter,
	}
	if c.files.ClientCA != "" {
		err = used.addAuthorities(c.files.ClientCA)
	}
	return used, err
}

// addAuthorities has clients asked for a certificate. One that none of the authorities in the file vouches for ends the
// connection; none at all does not.
func (u *usedCertificates) addAuthorities(file string) error {
	invalid := func(err error) error {
		return &toolbox.Error{
			Code:    toolbox.CertificateInvalid,
			Message: fmt.Sprintf("the authorities of http.tls.clientCa cannot be used: %v", err),
			Hint:    "http.tls.clientCa names a file with the certificates of authorities, in PEM form.",
			Cause:   err,
		}
	}
	data, err := readCertificateFile(file)
	if err != nil {
		return invalid(err)
	}
	u.config.ClientCAs, u.authorities = x509.NewCertPool(), make(map[string]bool)
	for _, authority := range certificatesIn(data) {
		u.config.ClientCAs.AddCert(authority)
		u.authorities[string(authority.Raw)] = true
	}
	if len(u.authorities) == 0 {
		return invalid(fmt.Errorf("%s holds no certificate", file))
	}
	u.config.ClientAuth = tls.VerifyClientCertIfGiven
	u.config.SessionTicketsDisabled = true // a resumed session would bring a certificate that was verified against other authorities
	return nil
}

// readCertificateFile reads a file within the limit.
func readCertificateFile(name string) ([]byte, error) {
	data, _, err := safefile.Read(name, maxCertificateFile)
	return data, err
}

// certificatesIn returns the certificates in a PEM file. Other parts of it do not matter.
func certificatesIn(data []byte) (all []*x509.Certificate) {
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		if certificate, err := x509.ParseCertificate(block.Bytes); err == nil {
			all = append(all, certificate)
		}
	}
	return all
}
