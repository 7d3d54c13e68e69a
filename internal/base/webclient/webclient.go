// Package webclient builds the HTTP clients for remote servers and for the addresses that they name. It decides on
// proxies and certificate authorities, and fetches documents from addresses that others chose, with limits and a check
// of what is dialled.
package webclient

import (
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"time"
)

// Options configure an HTTP client.
type Options struct {
	// Environ is the environment to read HTTPS_PROXY, HTTP_PROXY, NO_PROXY, SSL_CERT_FILE, SSL_CERT_DIR and
	// NODE_EXTRA_CA_CERTS from.
	Environ []string
	Log     *slog.Logger // default: none

	// The rest is for a Guard.

	// Version of the workbench, for User-Agent.
	Version string
	// Trusted are addresses of the configuration besides the server's own, such as that of an authorization server. The
	// networks that they are in count as the server's.
	Trusted []string
	// TrustedBy is the setting that adds to Trusted, for errors; "": 'oauth.authorizationServer'.
	TrustedBy string
	// Largest is the size of the largest document that is accepted; 0: 256 KiB.
	Largest int

	resolver *net.Resolver // for tests
}

// Limits of a connection. The time until a response begins is not limited here: a call may take long, and its caller
// watches it.
const (
	dialTime        = 10 * time.Second // to connect to a remote server
	tlsTime         = 10 * time.Second // for a TLS handshake
	idleTime        = 90 * time.Second // after which an unused connection is closed
	maxHeader       = 64 << 10         // size of the headers of a response; larger ones fail the request
	maxConnections  = 512              // connections to one server; further requests wait for one of them
	maxIdle         = 64               // idle connections to one server that are kept open
	connectionCheck = 30 * time.Second // of silence before an HTTP/2 connection is pinged
)

// NewTransport returns a transport that goes through the proxy and accepts the certificates that the environment names.
func NewTransport(options Options) *http.Transport {
	return &http.Transport{
		Proxy:                  newProxy(options.Environ),
		OnProxyConnectResponse: checkProxy,
		DialContext:            newDialer().DialContext,
		TLSClientConfig:        &tls.Config{RootCAs: authorities(options.Environ, options.log()), MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    tlsTime,
		ForceAttemptHTTP2:      true,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: connectionCheck, PingTimeout: dialTime},
		// Forwarded bytes must be unchanged, and events must arrive at once. A document cannot grow by decompression.
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxHeader,
		MaxConnsPerHost:        maxConnections,
		MaxIdleConnsPerHost:    maxIdle,
		IdleConnTimeout:        idleTime,
	}
}

func newDialer() *net.Dialer { return &net.Dialer{Timeout: dialTime, KeepAlive: connectionCheck} }

func (o *Options) log() *slog.Logger {
	if o.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return o.Log
}

// variable returns the value of a variable of an environment. The last value of a name wins.
func variable(environ []string, name string) (value string) {
	for _, entry := range environ {
		key, text, _ := strings.Cut(entry, "=")
		if key == name || runtime.GOOS == "windows" && strings.EqualFold(key, name) {
			value = text
		}
	}
	return value
}

// SameOrigin reports whether two addresses have the same scheme, host and port.
func SameOrigin(a, b *url.URL) bool {
	return strings.EqualFold(a.Scheme, b.Scheme) && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

func port(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case strings.EqualFold(u.Scheme, "https"):
		return "443"
	default:
		return "80"
	}
}

// Plain returns an address without the parts that may be secret: user, query and fragment.
func Plain(u *url.URL) string {
	plain := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	return plain.String()
}

// plainText returns an address as Plain does, or words if it is none.
func plainText(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return "an address that cannot be used"
	}
	return excerpt(Plain(u))
}
