package app

import (
	"context"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/mcp-workbench/mcp-workbench/internal/access/httpauth"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/front"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// HTTPOptions are the options of serving over HTTP.
type HTTPOptions struct {
	Tokens *httpauth.Store // nil: clients need none
	Page   *Page           // nil: there is none

	// Checks return why nobody can be served, in words for anybody: /readyz fails with them. They must not block.
	Checks []func() error
	// Hurry is closed to end at once while calls are finished. Nil: nobody does.
	Hurry <-chan struct{}
}

// Page is what a browser gets below front.PagePath.
type Page struct {
	http.Handler
	// IsPublic reports whether a path, as sent, needs no token.
	IsPublic func(path string) bool
	// Guard wraps the gate.
	Guard func(http.Handler) http.Handler
}

// ServeHTTP serves the clients of a listener until ctx ends, and closes the listener.
func (a *App) ServeHTTP(ctx context.Context, listener net.Listener, options HTTPOptions) error {
	tokens := options.Tokens
	a.Prefetch()
	a.tokens.Store(tokens)
	a.warnOfTokens(tokens)
	settings := a.config.Load().HTTP
	watching, stop := context.WithCancel(context.WithoutCancel(ctx)) // also while calls are finished
	var watcher sync.WaitGroup
	defer watcher.Wait()
	defer stop()
	var validIDs func() map[string]bool
	if tokens != nil {
		validIDs = tokens.ValidIDs
	}
	return a.front.ServeHTTP(ctx, listener, front.HTTPOptions{
		ValidIDs: validIDs,
		Gate: func(next http.Handler) http.Handler {
			gate := httpauth.NewGate(next, httpauth.GateOptions{
				Store: tokens, Rules: rules(settings), Log: a.log,
				Refused: a.tokenRefused(),
				NeedsNoToken: func(path string) bool {
					return path == front.HealthPath || path == front.ReadyPath || options.Page != nil && options.Page.IsPublic(path)
				},
				Needs: rightFor,
			})
			a.gate.Store(gate)
			watcher.Go(func() { gate.Watch(watching) })
			if options.Page != nil {
				return options.Page.Guard(gate)
			}
			return gate
		},
		Identify: func(r *http.Request) front.Identity {
			who, _ := httpauth.IdentityFrom(r.Context())
			return front.Identity{ID: who.ID, Name: who.Name, Toolboxes: who.Toolboxes}
		},
		Metrics: a.metricsHandler(visibleTo),
		Page:    options.Page.until(ctx),
		Exists: func(audience front.Audience) bool {
			_, ok := a.view(audience).Toolbox(audience.Only)
			return ok
		},
		Ready:       a.newReadiness(options).why,
		Proxies:     httpauth.NewProxies(settings.TrustedProxies),
		Hurry:       options.Hurry,
		Drain:       settings.Drain,
		SessionIdle: settings.SessionIdle, ClientIdle: settings.ClientIdle,
	})
}

// until returns a handler whose requests end with ctx: a browser that watches would keep the workbench from ending.
func (p *Page) until(ctx context.Context) http.Handler {
	if p == nil {
		return nil
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		serving, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer context.AfterFunc(ctx, cancel)()
		p.ServeHTTP(w, r.WithContext(serving))
	})
}

func rules(settings config.HTTP) httpauth.Rules {
	return httpauth.Rules{Hosts: settings.AllowedHosts, Origins: settings.AllowedOrigins}
}

// warnOfTokens warns about rules of the policy for tokens that do not exist: a mistyped name would silently deny nothing.
func (a *App) warnOfTokens(tokens *httpauth.Store) {
	var known []httpauth.Token
	if tokens != nil {
		known = tokens.List()
	}
	for _, caller := range a.policy.Load().Callers() {
		name, isToken := strings.CutPrefix(caller, config.CallerToken)
		if !isToken || slices.ContainsFunc(known, func(token httpauth.Token) bool { return token.Name == name }) {
			continue
		}
		if tokens == nil {
			a.log.Warn("the policy has rules for a token, which hold for nobody: clients need no token here", "token", name)
			continue
		}
		a.log.Warn("the policy has rules for a token that does not exist, which hold for nobody; see: mcp-workbench token list", "token", name)
	}
}

// needsRestart reports whether settings changed that are read at the start only.
func needsRestart(now, before config.HTTP) bool {
	return now.Listen != before.Listen || now.SessionIdle != before.SessionIdle || now.ClientIdle != before.ClientIdle || now.Drain != before.Drain ||
		now.TLS.Cert != before.TLS.Cert || now.TLS.Key != before.TLS.Key || now.TLS.ClientCA != before.TLS.ClientCA ||
		!slices.Equal(now.TrustedProxies, before.TrustedProxies)
}
