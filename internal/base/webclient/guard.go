package webclient

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Limits of a Guard.
const (
	maxDocument  = 256 << 10        // size of a document or a token response, unless the options say otherwise; a larger one fails
	documentTime = 5 * time.Second  // to fetch a document, redirects included
	clientTime   = 30 * time.Second // for a request of Client, its body included
	maxRedirects = 3                // redirects of a document that are followed; a further one is not
	lookupTime   = 2 * time.Second  // to look up the server's own name when a literal address is checked
)

// Guard fetches documents from addresses that others name, on behalf of one configured server. It uses https only, and
// connects to private addresses only if the server itself has one: what a server names must not lead into networks
// that the server could not reach. It is safe for concurrent use.
type Guard struct {
	options Options
	known   []string // hosts of the configuration: the server's, and trusted ones
	proxy   func(*http.Request) (*url.URL, error)
	direct  *http.Transport // with a check of what is dialled
	proxied *http.Transport // for requests that have a proxy, which is dialled whatever its address is
}

// Document is a response.
type Document struct {
	Status    int // of HTTP; redirects that are not followed are returned as they are
	Header    http.Header
	Body      []byte
	MediaType string // in lower case, without parameters; "" if there is none
}

// NewGuard returns a guard for what the server at an address names.
func NewGuard(server *url.URL, options Options) (*Guard, error) {
	if server == nil || server.Hostname() == "" {
		return nil, errors.New("the server's address has no host")
	}
	options.Largest, options.TrustedBy = cmp.Or(options.Largest, maxDocument), cmp.Or(options.TrustedBy, "oauth.authorizationServer")
	g := &Guard{options: options, known: []string{plainHost(server.Hostname())}, proxy: newProxy(options.Environ)}
	for _, address := range options.Trusted {
		if u, err := url.Parse(address); err == nil && u.Hostname() != "" {
			g.known = append(g.known, plainHost(u.Hostname()))
		}
	}
	g.proxied = NewTransport(options)
	g.proxied.DisableKeepAlives = true // requests are rare, and each connection is checked
	g.direct = g.proxied.Clone()
	g.direct.Proxy = nil
	g.direct.DialContext = g.dial
	return g, nil
}

// Check returns a *RefusedError if an address must not be used. It does not connect; whether the host's addresses are
// allowed is checked when they are dialled.
func (g *Guard) Check(address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return &RefusedError{plainText(address), "it is not a valid address"}
	}
	if strings.Contains(address, "#") {
		return &RefusedError{plainText(address), "it has a fragment"}
	}
	return g.check(u)
}

func (g *Guard) check(u *url.URL) error {
	refuse := func(reason string) error { return &RefusedError{excerpt(Plain(u)), reason} }
	switch {
	case u.Scheme != "https" && u.Scheme != "http" || u.Opaque != "":
		return refuse("only https addresses are used")
	case u.Hostname() == "":
		return refuse("it has no host")
	case u.User != nil:
		return refuse("it contains a user name or a password")
	}
	literal, isLiteral := literalKind(u.Hostname())
	if !isLiteral && !isName(u.Hostname()) {
		return refuse("its host is neither a name nor an IP address in its usual form")
	}
	if u.Scheme == "http" && (!isLocal(literal) || !g.isLocal()) {
		return refuse("only https addresses are used; http only to this machine, for a server on it")
	}
	if isLiteral {
		ctx, cancel := context.WithTimeout(context.Background(), lookupTime)
		defer cancel()
		if !g.allows(ctx, literal) {
			return refuse(g.refusal(literal))
		}
	}
	return nil
}

// isLocal reports whether the configuration itself names a host of this machine, without a lookup.
func (g *Guard) isLocal() bool {
	return slices.ContainsFunc(g.known, func(host string) bool {
		literal, _ := literalKind(host)
		return isLocal(literal)
	})
}

func isLocal(k kind) bool { return k == loopback || k == unspecified }

func (g *Guard) refusal(k kind) string {
	return "it leads to " + string(k) + ", and the server itself does not have such an address; if that is right, set '" + g.options.TrustedBy + "'"
}

// allows reports whether addresses of a kind may be dialled: public ones, and those of the kind that a host of the
// configuration has.
func (g *Guard) allows(ctx context.Context, k kind) bool {
	switch k {
	case public:
		return true
	case multicast, reserved:
		return false
	}
	return slices.ContainsFunc(g.known, func(host string) bool {
		own, ok := literalKind(host)
		if !ok {
			own = g.lookUp(ctx, host)
		}
		return own == k || own == unspecified && k == loopback
	})
}

// lookUp returns what kind of address a name has. Several kinds count as public, so that a name cannot get at more than
// one network.
func (g *Guard) lookUp(ctx context.Context, host string) kind {
	addresses, err := g.resolver().LookupNetIP(ctx, "ip", host)
	if err != nil || len(addresses) == 0 {
		return public
	}
	own := kindOf(addresses[0])
	for _, address := range addresses[1:] {
		if kindOf(address) != own {
			return public
		}
	}
	return own
}

func (g *Guard) resolver() *net.Resolver {
	if g.options.resolver != nil {
		return g.options.resolver
	}
	return net.DefaultResolver
}

// dial connects to a host after its name was looked up, if the address that is then dialled may be used. Checking it
// earlier would allow the name to lead elsewhere at the second lookup.
func (g *Guard) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	dialer := newDialer()
	dialer.Resolver = g.resolver()
	dialer.ControlContext = func(ctx context.Context, _, address string, _ syscall.RawConn) error {
		return g.admit(ctx, host, address)
	}
	return dialer.DialContext(ctx, network, address)
}

// admit decides on an address that a host has.
func (g *Guard) admit(ctx context.Context, host, address string) error {
	dialled, err := netip.ParseAddrPort(address)
	if err != nil {
		return &RefusedError{excerpt(host), "its address is not an IP address"}
	}
	k := kindOf(dialled.Addr())
	if expected, ok := literalKind(host); ok && isLocal(expected) && !isLocal(k) { // http is used only because of the name
		return &RefusedError{excerpt(host), "it leads to " + string(k)}
	}
	if !g.allows(ctx, k) {
		return &RefusedError{excerpt(host), g.refusal(k)}
	}
	return nil
}

// roundTrip sends one request, through the proxy or with a check of what is dialled.
func (g *Guard) roundTrip(request *http.Request) (*http.Response, error) {
	literal, _ := literalKind(request.URL.Hostname())
	if g.proxy != nil && !isLocal(literal) { // what is on this machine is not reached from another one
		proxy, err := g.proxy(request)
		if err != nil {
			return nil, err
		}
		if proxy != nil {
			return g.proxied.RoundTrip(request)
		}
	}
	return g.direct.RoundTrip(request)
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

// Get fetches a document within 5 s. It follows up to three redirects within the origin; another redirect is returned
// as it is.
func (g *Guard) Get(ctx context.Context, address string) (*Document, error) {
	client := &http.Client{Transport: roundTripper(g.roundTrip), CheckRedirect: checkRedirect}
	return g.fetch(ctx, client, http.MethodGet, address, make(http.Header), nil, documentTime)
}

// Post sends a body once, and returns the response. It follows no redirects.
func (g *Guard) Post(ctx context.Context, address string, header http.Header, body []byte, limit time.Duration) (*Document, error) {
	client := &http.Client{Transport: roundTripper(g.roundTrip), CheckRedirect: followNone}
	header = header.Clone()
	if header == nil {
		header = make(http.Header)
	}
	return g.fetch(ctx, client, http.MethodPost, address, header, body, limit)
}

func followNone(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// checkRedirect stops at redirects that are not followed. They are no errors: a server may redirect whatever it does not
// know to its home page.
func checkRedirect(next *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects || !SameOrigin(next.URL, via[0].URL) || next.URL.User != nil {
		return http.ErrUseLastResponse
	}
	return nil
}

func (g *Guard) fetch(ctx context.Context, client *http.Client, method, address string, header http.Header, body []byte, limit time.Duration) (*Document, error) {
	if err := g.Check(address); err != nil {
		return nil, err
	}
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var content io.Reader
	if body != nil {
		content = bytes.NewReader(body)
	}
	request, err := http.NewRequestWithContext(bounded, method, address, content)
	if err != nil {
		return nil, &RefusedError{plainText(address), "it is not a valid address"}
	}
	request.Header = header
	header.Set("User-Agent", "mcp-workbench/"+g.options.Version)
	header.Set("Accept-Encoding", "identity")
	if header.Get("Accept") == "" {
		header.Set("Accept", "application/json")
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, g.failure(ctx, address, limit, err)
	}
	defer response.Body.Close()
	most := g.options.Largest
	if response.ContentLength > int64(most) {
		return nil, &TooLargeError{plainText(address), most}
	}
	read, err := io.ReadAll(io.LimitReader(response.Body, int64(most)+1))
	if err != nil {
		return nil, g.failure(ctx, address, limit, err)
	}
	if len(read) > most {
		return nil, &TooLargeError{plainText(address), most}
	}
	mediaType, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	return &Document{Status: response.StatusCode, Header: response.Header, Body: read, MediaType: mediaType}, nil
}
