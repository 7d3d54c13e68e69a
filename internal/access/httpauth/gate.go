// Package httpauth authenticates HTTP requests to the workbench: it stores the tokens, and provides the gate that every
// request passes first.
package httpauth

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// GateOptions configure a gate.
type GateOptions struct {
	Store *Store       // the tokens; nil: none is required
	Rules Rules        // what is allowed beyond the defaults
	Log   *slog.Logger // nil: discard

	// NeedsNoToken reports whether a path, as sent, is public, such as /healthz. Host and origin are still checked.
	// Nil: no path is.
	NeedsNoToken func(path string) bool
	// Needs returns the right that a path requires. Nil: Calls for all.
	Needs func(path string) Right
	// Refused is told about each request that is refused for its token: with the address of the client, the name of the token
	// if it is known, and the reason. It must not block. Nil: nobody is told.
	Refused func(remote, token, reason string)
}

// Rules are the access rules of the configuration.
type Rules struct {
	// Hosts are accepted in the Host header with any port, besides localhost and the loopback addresses or, for a
	// connection from elsewhere, the local address of the connection.
	Hosts []string
	// Origins of web pages that may send requests, such as https://app.example.com, besides the workbench's own.
	Origins []string
}

// Gate passes a request on or refuses it.
type Gate struct {
	next     http.Handler
	store    *Store
	exempt   func(path string) bool
	needs    func(path string) Right
	refused  func(remote, token, reason string)
	running  watched
	log      *slog.Logger
	rules    atomic.Pointer[rules]
	wrong    *limiter
	logLimit *rate.Limiter // limits the refusals logged as warnings
}

// rules are Rules in parsed form.
type rules struct {
	hosts   []host
	origins []string
}

// NewGate returns a gate in front of next. It must receive every request, whatever its path.
func NewGate(next http.Handler, options GateOptions) *Gate {
	g := &Gate{
		next: next, store: options.Store, exempt: options.NeedsNoToken, refused: options.Refused, log: options.Log,
		wrong: newLimiter(), logLimit: rate.NewLimiter(rate.Every(time.Second), 1),
	}
	if g.needs = options.Needs; g.needs == nil {
		g.needs = func(string) Right { return Calls }
	}
	if g.refused == nil {
		g.refused = func(string, string, string) {}
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
	next := &rules{}
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
	status int
	reason string // for the log
	Error  string `json:"error"`
	Hint   string `json:"hint"`
}

// ServeHTTP checks host and origin before the token, so that a page of another site does not even learn whether a token
// is required.
func (g *Gate) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	rules := g.rules.Load()
	if reason := rules.checkHost(request); reason != "" {
		g.refuse(w, request, refusal{
			http.StatusForbidden, reason, "The Host header of the request is not allowed here",
			"Use the address that the workbench listens on, or add the host to 'http.allowedHosts' in its configuration.",
		})
		return
	}
	foreign, reason := rules.checkOrigin(request)
	if reason != "" {
		g.refuse(w, request, refusal{
			http.StatusForbidden, reason, "Web pages of this origin may not use the workbench",
			"To allow it, add the origin to 'http.allowedOrigins' in the workbench's configuration.",
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
	identity, refused := g.identify(request)
	if refused != nil {
		g.refused(request.RemoteAddr, "", refused.reason)
		g.refuse(w, request, *refused)
		return
	}
	ctx := context.WithValue(request.Context(), identityKey{}, identity)
	if g.store != nil {
		if right := g.needs(request.URL.EscapedPath()); !slices.Contains(identity.Rights, right) {
			g.refused(request.RemoteAddr, identity.Name, "the token is not for "+string(right))
			g.refuse(w, request, refusal{
				http.StatusForbidden, "the token is not for " + string(right), "The token is for " + JoinRights(identity.Rights) + ", and this needs one for " + string(right),
				"Make another one: mcp-workbench token add NAME --for " + string(right),
			})
			return
		}
		var leave func()
		ctx, leave = g.running.watch(ctx, identity.ID)
		defer leave()
	}
	defer useConnection(ctx)()
	g.next.ServeHTTP(w, request.WithContext(ctx))
	if errors.Is(context.Cause(ctx), ErrTokenEnded) {
		panic(http.ErrAbortHandler) // a missing response must not look like an empty one
	}
}

// identify returns the owner of the request's token. A valid token passes regardless of earlier failures, so that
// nobody can lock others out.
func (g *Gate) identify(request *http.Request) (Identity, *refusal) {
	if g.store == nil {
		return Identity{}, nil
	}
	const how = "Send the header 'Authorization: Bearer TOKEN' once. To make a token: mcp-workbench token add NAME"
	values := request.Header["Authorization"]
	if len(values) != 1 {
		return Identity{}, &refusal{http.StatusUnauthorized, "there is not exactly one token", "The workbench needs a token", how}
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	if lower(scheme) != "bearer" {
		return Identity{}, &refusal{http.StatusUnauthorized, "there is no bearer token", "The workbench needs a bearer token", how}
	}
	if identity, ok := g.store.Verify(strings.TrimLeft(token, " ")); ok {
		return identity, nil
	}
	if !g.wrong.allow(request.RemoteAddr) {
		return Identity{}, &refusal{
			http.StatusTooManyRequests, "too many wrong tokens", "Too many wrong tokens came from this address",
			"Wait a second. A right token is always accepted; to make one: mcp-workbench token add NAME",
		}
	}
	return Identity{}, &refusal{
		http.StatusUnauthorized, "the token is unknown", "The workbench does not know this token",
		"It may have been removed, see: mcp-workbench token list. To make one: mcp-workbench token add NAME",
	}
}

func (g *Gate) refuse(w http.ResponseWriter, request *http.Request, r refusal) {
	level := slog.LevelDebug
	if g.logLimit.Allow() {
		level = slog.LevelWarn
	}
	g.log.Log(request.Context(), level, "refused a request", "reason", r.reason, "status", r.status,
		"remote", request.RemoteAddr, "host", shown(request.Host), "origin", shown(request.Header.Get("Origin")))
	header := w.Header()
	switch r.status {
	case http.StatusUnauthorized:
		header.Set("WWW-Authenticate", "Bearer")
	case http.StatusTooManyRequests:
		header.Set("Retry-After", "1")
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
