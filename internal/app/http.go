package app

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/access/connect"
	"github.com/mcp-workbench/mcp-workbench/internal/access/httpauth"
	"github.com/mcp-workbench/mcp-workbench/internal/access/identity"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/front"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// HTTPOptions are the options of serving over HTTP.
type HTTPOptions struct {
	Tokens *httpauth.Store // nil: clients need none, and nobody signs in
	Page   *Page           // nil: there is none

	// Trusts reports whether the client certificate of a connection still counts. Nil: it does.
	Trusts func(*tls.ConnectionState) bool
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
	settings := a.config.Load().HTTP
	verifier, err := a.newVerifier(settings, options)
	if err != nil {
		_ = listener.Close()
		return err
	}
	var pages *connect.Pages
	if verifier != nil {
		if pages, err = a.openPages(settings.OAuth, verifier); err != nil {
			_ = listener.Close()
			return err
		}
	}
	defer closePages(pages)
	defer context.AfterFunc(ctx, pages.Close)() // calls that wait for a person do not hold up the end
	a.Prefetch()
	a.tokens.Store(options.Tokens)
	a.verifier.Store(verifier)
	a.warnOfCallers(settings)
	watching, stop := context.WithCancel(context.WithoutCancel(ctx)) // also while calls are finished
	var watcher sync.WaitGroup
	defer watcher.Wait()
	defer stop()
	if verifier != nil {
		watcher.Go(func() { verifier.Run(watching) })
	}
	var gate *httpauth.Gate
	return a.front.ServeHTTP(ctx, listener, front.HTTPOptions{
		Valid:  func() func(id, credential string, expires time.Time) bool { return gate.Valid() },
		Limits: func() config.PersonLimits { return a.config.Load().HTTP.Limits },
		Gate: func(next http.Handler) http.Handler {
			gate = httpauth.NewGate(pages.Before(next), a.gateOptions(settings, options, verifier, pages))
			a.gate.Store(gate)
			watcher.Go(func() { gate.Watch(watching) })
			if options.Page != nil {
				return options.Page.Guard(pages.Guard(gate))
			}
			return pages.Guard(gate)
		},
		Identify: func(r *http.Request) front.Identity {
			who, _ := httpauth.IdentityFrom(r.Context())
			return front.Identity{
				ID: who.ID, Caller: who.Caller(), Display: who.Display, Issuer: who.Issuer, Toolboxes: who.Toolboxes, Credential: front.Credential{ID: who.Credential, Expires: who.Expires},
			}
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

// newVerifier returns who knows the people that sign in at the identity provider; nil if nobody does.
func (a *App) newVerifier(settings config.HTTP, options HTTPOptions) (*identity.Verifier, error) {
	if settings.OAuth == nil || options.Tokens == nil {
		return nil, nil
	}
	return identity.New(identity.Options{
		Settings: *settings.OAuth, Environ: a.environ, Version: a.version, Log: a.log, Secrets: func(values ...string) { a.fleet.Hide(values...) },
	})
}

func (a *App) gateOptions(settings config.HTTP, options HTTPOptions, verifier *identity.Verifier, pages *connect.Pages) httpauth.GateOptions {
	gate := httpauth.GateOptions{
		Store: options.Tokens, Rules: rules(settings, verifier), Log: a.log, Trusts: options.Trusts,
		Refused: a.tokenRefused(),
		NeedsNoToken: func(path string) bool {
			return path == front.HealthPath || path == front.ReadyPath || pages.IsPublic(path) || options.Page != nil && options.Page.IsPublic(path)
		},
		Needs: rightFor,
	}
	if verifier != nil {
		gate.Verifier = verifier
	}
	return gate
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

// rules returns what the gate allows. Clients know the workbench by the host of the resource, whatever else is allowed. verifier is
// nil if nobody signs in.
func rules(settings config.HTTP, verifier *identity.Verifier) httpauth.Rules {
	hosts := settings.AllowedHosts
	if verifier != nil { // not the settings: another resource takes effect with the next start
		hosts = append(slices.Clone(hosts), verifier.Host())
	}
	return httpauth.Rules{Hosts: hosts, Origins: settings.AllowedOrigins, Clients: settings.TLS.Clients}
}
