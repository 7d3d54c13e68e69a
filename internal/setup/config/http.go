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

// Defaults of keys that the file does not set.
const (
	DefaultListen      = "127.0.0.1:7420"
	DefaultDrain       = 2 * time.Second  // for calls in flight at the end; http.drain
	DefaultTeamDrain   = 30 * time.Second // the same with http.oauth
	DefaultSessionIdle = time.Hour        // for a session without requests; http.sessionIdle
	DefaultClientIdle  = 10 * time.Minute // for the servers of one client without requests; http.clientIdle
)

// HTTP is the configuration of 'serve'. Hosts and origins are checked for each request and can change while the program
// runs; everything else is read at the start.
type HTTP struct {
	Listen         string   // address and port; the address is "" for all
	AllowedHosts   []string // names and addresses, without a port
	AllowedOrigins []string // such as https://app.example.com, in small letters
	TLS            TLS
	SessionIdle    time.Duration // ends an unused session; never zero
	ClientIdle     time.Duration // stops the servers that run for one unused session only; never zero
	OAuth          *HTTPOAuth    // nil: there are no people, only tokens
	TrustedProxies []netip.Prefix
	Drain          time.Duration // for calls in flight when 'serve' ends; never zero
	Limits         PersonLimits
}

// TLS holds the absolute paths of the certificate and its key; "" without TLS.
type TLS struct {
	Cert, Key string
	ClientCA  string         // the file with the authorities of client certificates; "": none is asked for
	Clients   []ToolboxGrant // by the name in a client certificate
}

func defaultHTTP() HTTP {
	return HTTP{Listen: DefaultListen, SessionIdle: DefaultSessionIdle, ClientIdle: DefaultClientIdle, Drain: DefaultDrain}
}

var httpKey = key{
	name: "http", kinds: []kind{kindObject}, members: &httpObject, example: `{"listen": "127.0.0.1:7420"}`,
	description: "The HTTP settings of 'mcp-workbench serve'. They have no effect on a workbench that a client starts.",
}

var httpObject = object{keys: []key{
	{
		name: "listen", kinds: []kind{kindString}, check: checkListen, pattern: `:[0-9]+$|\$\{`, example: `"127.0.0.1:7420"`, fallback: `"127.0.0.1:7420"`,
		description: "The address and port to listen on. ':7420' listens on every address of the machine.",
	},
	{
		name: "allowedHosts", kinds: []kind{kindArray}, nonEmpty: true, check: checkHost, pattern: `^\[?[A-Za-z0-9:._-]+\]?$|\$\{`, example: `["mcp.example.com"]`,
		description: "Additional host names that requests may use, on any port, such as the one that a reverse proxy forwards or the machine's name. Always allowed are localhost and 127.0.0.1 on this machine, the host of 'http.oauth.resource' and, from elsewhere, the address that the client connects to.",
	},
	{
		name: "allowedOrigins", kinds: []kind{kindArray}, nonEmpty: true, check: checkOrigin, pattern: `^[a-z][a-z0-9+.-]*://[^/*]+$|\$\{`, example: `["https://app.example.com"]`,
		description: "The origins of web pages that may use the workbench from a browser. Their requests still need a token.",
	},
	{
		name: "tls", kinds: []kind{kindObject}, members: &tlsObject, example: `{"cert": "cert.pem", "key": "key.pem"}`,
		description: "The certificate for HTTPS. Without it, the workbench serves HTTP.",
	},
	{
		name: "sessionIdle", kinds: []kind{kindString}, check: checkPositiveDuration, pattern: durationPattern, example: `"1h"`, fallback: `"1h"`,
		description: "How long a client's session lasts without a request.",
	},
	{
		name: "clientIdle", kinds: []kind{kindString}, check: checkPositiveDuration, pattern: durationPattern, example: `"10m"`, fallback: `"10m"`,
		description: "How long servers that run for one client only keep running without a request or an open stream. The session continues, and its next request restarts the servers that it needs.",
	},
	httpOAuthKey,
	{
		name: "trustedProxies", kinds: []kind{kindArray}, nonEmpty: true, check: checkProxy, pattern: `^[0-9A-Fa-f.:]+(/[0-9]+)?$|\$\{`, example: `["127.0.0.1", "10.0.0.0/8"]`,
		description: "The addresses, or networks, of reverse proxies in front of the workbench. Only what they say in X-Forwarded-For counts as the address of a client.",
	},
	{
		name: "drain", kinds: []kind{kindString}, check: checkDrain, pattern: durationPattern, example: `"30s"`,
		description: "How long calls in flight may take when 'serve' is told to end, at most 1h; a second signal ends it at once. The default is \"30s\" with 'oauth', otherwise \"2s\".",
	},
	{
		name: "limits", kinds: []kind{kindObject}, members: &personLimitsObject, example: `{"sessions": 50, "calls": 32, "memory": "4GiB"}`,
		description: "What one person, token or client certificate may use at once.",
	},
}}

var tlsObject = object{keys: []key{
	{
		name: "cert", kinds: []kind{kindString}, nonEmpty: true, required: "must name the file 'http.tls.cert'", example: `"cert.pem"`,
		description: "The file with the certificate and its chain in PEM format, relative to the configuration file's folder; a leading ~/ is the home folder.",
	},
	{
		name: "key", kinds: []kind{kindString}, nonEmpty: true, required: "must name the file 'http.tls.key'", example: `"key.pem"`,
		description: "The file with the certificate's private key in PEM format, relative to the configuration file's folder; a leading ~/ is the home folder.",
	},
	{
		name: "clientCa", kinds: []kind{kindString}, nonEmpty: true, example: `"clients-ca.pem"`,
		description: "The file with the authorities whose client certificates count, in PEM format, relative to the configuration file's folder; a leading ~/ is the home folder. Clients may still have a token instead.",
	},
	{
		name: "clients", kinds: []kind{kindObject}, example: `{"ci.example.com": ["build"], "admin": ["*"]}`,
		entries:     &entries{noun: "Name", lists: true, checkName: checkGrantName, checkValue: checkNotEmpty},
		description: "The toolboxes that the owner of a client certificate may use, by the name in the certificate: a URI, DNS name or e-mail address among its alternative names, or else its common name. \"*\" is all of them; a certificate without an entry may use none.",
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
	p := rootPlace.member("http")
	h.TLS = b.tls(n.get("tls"), p.member("tls"))
	h.OAuth = b.httpOAuth(n.get("oauth"), p.member("oauth"))
	for _, text := range n.get("trustedProxies").strings() {
		if prefix, ok := parseProxy(text); ok {
			h.TrustedProxies = append(h.TrustedProxies, prefix)
		}
	}
	if h.OAuth != nil {
		h.Drain = DefaultTeamDrain
	}
	n.duration("drain", &h.Drain)
	h.Limits = personLimits(n.get("limits"))
	return h
}

func (b *builder) tls(n *node, p place) TLS {
	if n == nil || n.kind != kindObject {
		return TLS{}
	}
	files := TLS{
		Cert: b.file(n.get("cert"), p.member("cert")), Key: b.file(n.get("key"), p.member("key")),
		ClientCA: b.file(n.get("clientCa"), p.member("clientCa")), Clients: toolboxGrants(n.get("clients")),
	}
	clients := n.get("clients")
	switch {
	case clients != nil && n.lacks("clientCa"):
		b.report.fail(clients.offset, p.member("clients").at, p.member("clientCa").describe("must be set, because 'http.tls.clients' names client certificates"),
			exampleHint(tlsObject.key("clientCa")))
	case files.ClientCA != "" && len(files.Clients) == 0:
		b.report.warn(n.get("clientCa").offset, p.member("clientCa").at, p.member("clientCa").describe("lets nobody in, since 'http.tls.clients' has no names"),
			exampleHint(tlsObject.key("clients")))
	}
	return files
}

// file returns the absolute path of a file; a relative one starts in the configuration's folder.
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

// checkOrigin requires the form in which browsers send an origin, since any other would never match.
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

// isHostName accepts DNS names without a trailing dot. A name that ends in a number is an address, or a mistyped one.
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
