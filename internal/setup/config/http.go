package config

import (
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Values that hold where the file says nothing.
const (
	DefaultListen      = "127.0.0.1:7420"
	DefaultSessionIdle = time.Hour        // without a request before a session ends; http.sessionIdle
	DefaultClientIdle  = 10 * time.Minute // without a request before the servers of one client end; http.clientIdle
)

// HTTP is how 'serve' listens. What it says of hosts and origins is checked for each
// request, so that it can change while the program runs; the rest holds from the start.
type HTTP struct {
	Listen         string   // address and port; the address is "" for all
	AllowedHosts   []string // names and addresses, without a port
	AllowedOrigins []string // such as https://app.example.com, in small letters
	TLS            TLS
	SessionIdle    time.Duration // after which an unused session ends; never zero
	ClientIdle     time.Duration // after which nothing runs for an unused session alone; never zero
}

// TLS names the files of the certificate, by absolute paths. Without one, both are "".
type TLS struct{ Cert, Key string }

func defaultHTTP() HTTP {
	return HTTP{Listen: DefaultListen, SessionIdle: DefaultSessionIdle, ClientIdle: DefaultClientIdle}
}

var httpKey = key{
	name: "http", kinds: []kind{kindObject}, members: &httpObject, example: `{"listen": "127.0.0.1:7420"}`,
	description: "How 'mcp-workbench serve' listens for clients over HTTP. Nothing of it matters to a workbench that a client starts.",
}

var httpObject = object{keys: []key{
	{
		name: "listen", kinds: []kind{kindString}, check: checkListen, pattern: `:[0-9]+$|\$\{`, example: `"127.0.0.1:7420"`, fallback: `"127.0.0.1:7420"`,
		description: "The address and port to listen on. With ':7420' that is every address of the machine.",
	},
	{
		name: "allowedHosts", kinds: []kind{kindArray}, nonEmpty: true, check: checkHost, pattern: `^\[?[A-Za-z0-9:._-]+\]?$|\$\{`, example: `["mcp.example.com"]`,
		description: "Further names by which requests may call the workbench, on any port: what a reverse proxy passes on, or the machine's name. Allowed anyway are localhost and 127.0.0.1 on this machine, and from elsewhere the address that is connected to.",
	},
	{
		name: "allowedOrigins", kinds: []kind{kindArray}, nonEmpty: true, check: checkOrigin, pattern: `^[a-z][a-z0-9+.-]*://[^/*]+$|\$\{`, example: `["https://app.example.com"]`,
		description: "The origins of web pages that may use the workbench from a browser. They still need a token.",
	},
	{
		name: "tls", kinds: []kind{kindObject}, members: &tlsObject, example: `{"cert": "cert.pem", "key": "key.pem"}`,
		description: "The certificate to serve HTTPS with. Without it, the workbench serves HTTP.",
	},
	{
		name: "sessionIdle", kinds: []kind{kindString}, check: checkPositiveDuration, pattern: durationPattern, example: `"1h"`, fallback: `"1h"`,
		description: "After how long without a request the session of a client ends.",
	},
	{
		name: "clientIdle", kinds: []kind{kindString}, check: checkPositiveDuration, pattern: durationPattern, example: `"10m"`, fallback: `"10m"`,
		description: "After how long without a request, and with no stream open, servers are stopped that run for this client alone. Its session goes on; what it needs starts again with its next request.",
	},
}}

var tlsObject = object{keys: []key{
	{
		name: "cert", kinds: []kind{kindString}, nonEmpty: true, required: "must name the file 'http.tls.cert'", example: `"cert.pem"`,
		description: "The file with the certificate and those that vouch for it, in PEM form, from the configuration file's folder; a leading ~/ is the home folder.",
	},
	{
		name: "key", kinds: []kind{kindString}, nonEmpty: true, required: "must name the file 'http.tls.key'", example: `"key.pem"`,
		description: "The file with the certificate's private key, in PEM form, from the configuration file's folder; a leading ~/ is the home folder.",
	},
}}

func (b *builder) http(n *node) HTTP {
	h := defaultHTTP()
	if n == nil {
		return h
	}
	if listen := n.get("listen").string(); listen != "" {
		h.Listen = listen
	}
	h.AllowedHosts = n.get("allowedHosts").strings()
	h.AllowedOrigins = n.get("allowedOrigins").strings()
	n.duration("sessionIdle", &h.SessionIdle)
	n.duration("clientIdle", &h.ClientIdle)
	if files := n.get("tls"); files != nil {
		p := rootPlace.member("http").member("tls")
		h.TLS = TLS{Cert: b.file(files.get("cert"), p.member("cert")), Key: b.file(files.get("key"), p.member("key"))}
	}
	return h
}

// file returns a file's absolute name; a relative one starts in the configuration's folder.
func (b *builder) file(n *node, p place) string {
	name := b.home(n, p)
	if name == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(b.opts.Dir, name)
}

func checkListen(text string) string {
	host, port, err := net.SplitHostPort(text)
	_, badPort := strconv.ParseUint(port, 10, 16)
	switch {
	case err != nil || badPort != nil:
		return `must be an address and a port from 0 to 65535, such as "127.0.0.1:7420"`
	case host != "" && !isAddress(host) && !isHostName(host):
		return `names no address; use one such as "127.0.0.1:7420", or ":7420" for all`
	}
	return ""
}

func checkHost(text string) string {
	address := text
	if strings.HasPrefix(text, "[") && strings.HasSuffix(text, "]") {
		address = text[1 : len(text)-1]
	}
	switch {
	case isAddress(address) || isHostName(text):
		return ""
	case strings.Contains(text, "*"):
		return "cannot hold '*'; name each host"
	case strings.Contains(text, "://"), strings.Contains(text, ":"):
		return "must be a host alone, without a scheme or a port"
	}
	return "must be a host name or an IP address"
}

// checkOrigin asks for the form in which a browser sends an origin, since any other would
// never match.
func checkOrigin(text string) string {
	u, err := url.Parse(text)
	switch {
	case strings.Contains(text, "*"):
		return "cannot hold '*': pages that nobody knows could use the workbench"
	case err != nil || u.Scheme == "" || u.Host == "" || u.Scheme+"://"+u.Host != text || u.Hostname() == "":
		return `must be an origin in small letters: scheme, host and port, without a path, such as "https://app.example.com"`
	case strings.ToLower(text) != text:
		return "must be in small letters"
	case u.Scheme == "http" && u.Port() == "80", u.Scheme == "https" && u.Port() == "443", strings.HasSuffix(u.Host, ":"):
		return "must not name the usual port of its scheme, since browsers leave it out"
	}
	return ""
}

func isAddress(text string) bool {
	addr, err := netip.ParseAddr(text)
	return err == nil && addr.Zone() == ""
}

// isHostName accepts the names that the DNS has, without a dot at the end. What ends in a
// number is an address, or a mistyped one.
func isHostName(text string) bool {
	for label := range strings.SplitSeq(text, ".") {
		isOdd := func(r rune) bool { return r >= 0x80 || !isNameByte(byte(r)) && r != '-' }
		if label == "" || len(label) > 63 || strings.ContainsFunc(label, isOdd) {
			return false
		}
	}
	last := text[strings.LastIndexByte(text, '.')+1:]
	return len(text) <= 253 && strings.Trim(last, "0123456789") != "" && !strings.HasPrefix(strings.ToLower(last), "0x")
}
