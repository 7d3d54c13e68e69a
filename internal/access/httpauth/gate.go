// Package httpauth authenticates HTTP requests to the workbench: it stores the tokens, and provides the gate that every
// request passes first.
package httpauth

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// GateOptions configure a gate.
type GateOptions struct {
	Store    *Store       // the tokens; nil: none is required, unless there is a verifier
	Verifier Verifier     // knows people; nil: there are none
	Rules    Rules        // what is allowed beyond the defaults
	Log      *slog.Logger // nil: discard

	// Trusts reports whether the client certificate of a connection still counts: it was verified when the connection began.
	// Nil: it does.
	Trusts func(*tls.ConnectionState) bool
	// NeedsNoToken reports whether a path, as sent, is public, such as /healthz. Host and origin are still checked.
	// Nil: no path is.
	NeedsNoToken func(path string) bool
	// Needs returns the right that a path requires. Nil: Calls for all.
	Needs func(path string) Right
	// Refused is told about each request that is refused for its token: with the address of the client, who sent it if that is
	// known, and the reason. It must not block. Nil: nobody is told.
	Refused func(remote string, who Identity, reason string)
}

// Rules are the access rules of the configuration.
type Rules struct {
	// Hosts are accepted in the Host header with any port, besides localhost and the loopback addresses or, for a
	// connection from elsewhere, the local address of the connection.
	Hosts []string
	// Origins of web pages that may send requests, such as https://app.example.com, besides the workbench's own.
	Origins []string
	// Clients are who may come with a certificate instead of a token, by the name in it.
	Clients []config.ToolboxGrant
}

// Gate passes a request on or refuses it.
type Gate struct {
	next     http.Handler
	store    *Store
	verifier Verifier
	trusts   func(*tls.ConnectionState) bool
	exempt   func(path string) bool
	needs    func(path string) Right
	refused  func(remote string, who Identity, reason string)
	running  watched
	log      *slog.Logger
	rules    atomic.Pointer[rules]
	wrong    *limiter
	refusals refusalLog
}

// rules are Rules in parsed form.
type rules struct {
	hosts   []host
	origins []string
	clients []config.ToolboxGrant
}

// NewGate returns a gate in front of next. It must receive every request, whatever its path.
func NewGate(next http.Handler, options GateOptions) *Gate {
	g := &Gate{
		next: next, store: options.Store, verifier: options.Verifier, exempt: options.NeedsNoToken, refused: options.Refused, log: options.Log,
		wrong: newLimiter(),
	}
	if g.needs = options.Needs; g.needs == nil {
		g.needs = func(string) Right { return Calls }
	}
	if g.refused == nil {
		g.refused = func(string, Identity, string) {}
	}
	if g.trusts = options.Trusts; g.trusts == nil {
		g.trusts = func(*tls.ConnectionState) bool { return true }
	}
	if g.log == nil {
		g.log = slog.New(slog.DiscardHandler)
	}
	if g.store != nil {
		g.store.reportTo(g.log)
	}
	g.SetRules(options.Rules)
	return g
}

// SetRules replaces the rules for new requests. Invalid hosts are ignored.
func (g *Gate) SetRules(to Rules) {
	next := &rules{clients: to.Clients}
	for _, text := range to.Hosts {
		if addr, err := netip.ParseAddr(text); err == nil {
			next.hosts = append(next.hosts, host{addr: addr})
		} else if named, port, ok := parseHost(text); ok && port == "" {
			next.hosts = append(next.hosts, named)
		}
	}
	for _, text := range to.Origins {
		next.origins = append(next.origins, lower(text))
	}
	g.rules.Store(next)
}

// refusal is the response to a refused request.
type refusal struct {
	status    int
	reason    string // for the log
	challenge string // how to get a token; "": with none
	// isInvitation says that nothing is wrong: no token came, and the challenge says where to sign in. Each sign-in begins so.
	isInvitation bool
	Error        string `json:"error"`
	Hint         string `json:"hint"`
}

// ServeHTTP checks host and origin before the token, so that a page of another site does not even learn whether a token
// is required.
func (g *Gate) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	rules := g.rules.Load()
	if reason := rules.checkHost(request); reason != "" {
		g.refuse(w, request, Identity{}, refusal{
			status: http.StatusForbidden, reason: reason, Error: "The Host header of the request is not allowed here",
			Hint: "Use the address that the workbench listens on, or add the host to 'http.allowedHosts' in its configuration.",
		})
		return
	}
	if g.verifier != nil && g.verifier.IsMetadata(request.URL.EscapedPath()) {
		g.verifier.Metadata().ServeHTTP(w, request) // public, the same for everybody, and for pages of any origin
		return
	}
	foreign, reason := rules.checkOrigin(request)
	if reason != "" {
		g.refuse(w, request, Identity{}, refusal{
			status: http.StatusForbidden, reason: reason, Error: "Web pages of this origin may not use the workbench",
			Hint: "To allow it, add the origin to 'http.allowedOrigins' in the workbench's configuration.",
		})
		return
	}
	if foreign != "" {
		allowForeign(w.Header(), foreign)
		if isPreflight(request) {
			answerPreflight(w, request)
			return
		}
	}
	if g.exempt != nil && g.exempt(request.URL.EscapedPath()) {
		g.next.ServeHTTP(w, request)
		return
	}
	who, refused := g.identify(request)
	if refused == nil {
		refused = g.checkRight(request, who)
	}
	if refused != nil {
		g.refused(request.RemoteAddr, who, refused.reason)
		g.refuse(w, request, who, *refused)
		return
	}
	ctx := context.WithValue(request.Context(), identityKey{}, who)
	if who.Kind != Anonymous {
		var leave func()
		ctx, leave = g.running.watch(ctx, request, who)
		defer leave()
	}
	defer useConnection(ctx)()
	g.next.ServeHTTP(w, request.WithContext(ctx))
	if errors.Is(context.Cause(ctx), ErrTokenEnded) {
		panic(http.ErrAbortHandler) // a missing response must not look like an empty one
	}
}

// checkRight returns why the sender may not request the path; nil if they may.
func (g *Gate) checkRight(request *http.Request, who Identity) *refusal {
	right := g.needs(request.URL.EscapedPath())
	if who.Kind == Anonymous || slices.Contains(who.Rights, right) {
		return nil
	}
	return &refusal{
		status: http.StatusForbidden, reason: "the token is not for " + string(right),
		Error: "The token is for " + JoinRights(who.Rights) + ", and this needs one for " + string(right),
		Hint:  "Make another one: mcp-workbench token add NAME --for " + string(right),
	}
}

func (g *Gate) refuse(w http.ResponseWriter, request *http.Request, who Identity, r refusal) {
	g.logRefusal(request, who, &r)
	header := w.Header()
	if r.challenge != "" {
		header.Set("WWW-Authenticate", r.challenge)
	}
	switch r.status {
	case http.StatusTooManyRequests:
		header.Set("Retry-After", "1")
	case http.StatusServiceUnavailable:
		header.Set("Retry-After", "5")
	}
	header.Set("Content-Type", "application/json")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(r.status)
	_ = json.NewEncoder(w).Encode(r) // the client may be gone
}

// shown returns what the log may contain of a header: bounded, and without a password before an @.
func shown(text string) string {
	const longest = 100
	if strings.Contains(text, "@") {
		return "(with a user)"
	}
	return text[:min(len(text), longest)]
}

type identityKey struct{}

// IdentityFrom returns who made the request with this context. Without required tokens that is an anonymous identity
// that may see everything. ok is false for a request that did not pass the gate, or whose path is public.
func IdentityFrom(ctx context.Context) (identity Identity, ok bool) {
	identity, ok = ctx.Value(identityKey{}).(Identity)
	return identity, ok
}
