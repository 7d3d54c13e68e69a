package downstream

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"
)

// Limits of the HTTP client. The time until a response begins is not limited: a call may take long, and the session
// watches it.
const (
	dialTime        = 10 * time.Second // to connect to a remote server
	tlsTime         = 10 * time.Second // for a TLS handshake
	idleTime        = 90 * time.Second // after which an unused connection is closed
	maxHeader       = 64 << 10         // size of the headers of a response; larger ones fail the request
	maxConnections  = 512              // connections to one server; further requests wait for one of them
	maxIdle         = 64               // idle connections to one server that are kept open
	maxRedirects    = 5                // redirects of a request; a further one fails it
	connectionCheck = 30 * time.Second // of silence before an HTTP/2 connection is pinged
)

// newClient returns the HTTP client of one session.
func newClient(options *Remote, log *slog.Logger) *http.Client {
	dial := options.dial
	if dial == nil {
		dial = (&net.Dialer{Timeout: dialTime, KeepAlive: connectionCheck}).DialContext
	}
	return &http.Client{
		CheckRedirect: checkRedirect,
		Transport: &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			DialContext:         dial,
			TLSClientConfig:     &tls.Config{RootCAs: authorities(options.ExtraCA, log), MinVersion: tls.VersionTLS12},
			TLSHandshakeTimeout: tlsTime,
			ForceAttemptHTTP2:   true,
			HTTP2:               &http.HTTP2Config{SendPingTimeout: connectionCheck, PingTimeout: dialTime},
			// Forwarded bytes must be unchanged, and events must arrive at once.
			DisableCompression:     true,
			MaxResponseHeaderBytes: maxHeader,
			MaxConnsPerHost:        maxConnections,
			MaxIdleConnsPerHost:    maxIdle,
			IdleConnTimeout:        idleTime,
		},
	}
}

// authorities returns the CAs that are accepted; nil means those of the system, which include SSL_CERT_FILE and
// SSL_CERT_DIR where Go supports them.
func authorities(extraCA string, log *slog.Logger) *x509.CertPool {
	if extraCA == "" {
		return nil
	}
	certificates, err := os.ReadFile(extraCA)
	if err != nil {
		log.Warn("ignored NODE_EXTRA_CA_CERTS", "reason", err)
		return nil
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(certificates) {
		log.Warn("ignored NODE_EXTRA_CA_CERTS", "reason", "the file holds no certificate")
	}
	return pool
}

// checkRedirect follows only redirects to the same origin with the same request. Nothing is sent elsewhere: it may
// contain a token, and contains arguments.
func checkRedirect(next *http.Request, via []*http.Request) error {
	first := via[0]
	switch {
	case !sameOrigin(next.URL, first.URL):
		return &redirectError{next.URL, "another server"}
	case next.Method != first.Method:
		return &redirectError{next.URL, "another kind of request"}
	case len(via) > maxRedirects:
		return &redirectError{next.URL, "one more address after many"}
	}
	return nil
}

func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && a.Hostname() == b.Hostname() && port(a) == port(b)
}

func port(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	default:
		return "80"
	}
}

// redirectError is a redirect that was not followed.
type redirectError struct {
	target *url.URL
	kind   string
}

func (e *redirectError) Error() string {
	return fmt.Sprintf("the server redirects to %s, which was not followed; if this address is right, put it into 'url': %s", e.kind, e.Words())
}

// Words returns the part of the text that comes from the server.
func (e *redirectError) Words() string { return brief(plainAddress(e.target)) }

// plainAddress returns a URL without the parts that may be secret.
func plainAddress(u *url.URL) string {
	plain := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	return plain.String()
}

// UnreachableError means that no connection to the server could be made.
type UnreachableError struct {
	text string
	err  error
}

func (e *UnreachableError) Error() string { return "cannot connect to the server: " + e.text }

// Unwrap returns the error of the system.
func (e *UnreachableError) Unwrap() error { return e.err }

// brokenError means that a request got no response, or part of one.
type brokenError struct{ err error }

func (e *brokenError) Error() string { return "the connection to the server broke off: " + e.Words() }

// Words returns the part of the text that may come from the server.
func (e *brokenError) Words() string { return brief(e.err.Error()) }

func (e *brokenError) Unwrap() error { return e.err }

// clientError converts an error of the HTTP client to one for people. It drops the client's own text, which contains
// the whole URL.
func clientError(err error) error {
	if outer, ok := errors.AsType[*url.Error](err); ok {
		err = outer.Err
	}
	if redirect, ok := errors.AsType[*redirectError](err); ok {
		return redirect
	}
	if text := certificateProblem(err); text != "" {
		return &UnreachableError{text, err}
	}
	if network, ok := errors.AsType[*net.OpError](err); ok && (network.Op == "dial" || network.Op == "proxyconnect" || network.Op == "socks connect") {
		return &UnreachableError{network.Error() + "; is it running, and is 'url' right?", err}
	}
	return &brokenError{err}
}

// certificateProblem returns what is wrong with TLS, or "".
func certificateProblem(err error) string {
	const hint = "; if you trust it, name a file with its certificate in SSL_CERT_FILE (instead of the system's) or NODE_EXTRA_CA_CERTS (beside them)"
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return "its certificate is self-signed, or signed by an unknown authority" + hint
	}
	if name, ok := errors.AsType[x509.HostnameError](err); ok {
		return fmt.Sprintf("its certificate is not valid for the host name '%.200s'; use the name that it was issued for in 'url'", name.Host)
	}
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok {
		if invalid.Reason == x509.Expired {
			return "its certificate has expired or is not valid yet; renew it, or set this machine's clock"
		}
		return "its certificate is not valid: " + invalid.Error() + hint
	}
	if verification, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return verification.Err.Error() + hint
	}
	if errors.Is(err, http.ErrSchemeMismatch) {
		return "it does not speak TLS; does 'url' have to begin with http://?"
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return "it does not speak TLS; does 'url' have to begin with http://?"
	}
	if alert, ok := errors.AsType[tls.AlertError](err); ok {
		return "it refuses TLS: " + alert.Error()
	}
	return ""
}
