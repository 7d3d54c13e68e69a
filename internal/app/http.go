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

// ServeHTTP serves the clients of a listener until ctx ends, and closes the listener. Without a
// token store, clients need no token.
func (a *App) ServeHTTP(ctx context.Context, listener net.Listener, tokens *httpauth.Store) error {
	a.Prefetch()
	a.tokens.Store(tokens)
	a.warnOfTokens(tokens)
	settings := a.config.Load().HTTP
	watching, stop := context.WithCancel(ctx)
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
				Refused:      a.tokenRefused(),
				NeedsNoToken: func(path string) bool { return path == front.HealthPath || path == front.ReadyPath },
				Needs:        rightFor,
			})
			a.gate.Store(gate)
			watcher.Go(func() { gate.Watch(watching) })
			return gate
		},
		Identify: func(r *http.Request) front.Identity {
			who, _ := httpauth.IdentityFrom(r.Context())
			return front.Identity{ID: who.ID, Name: who.Name, Toolboxes: who.Toolboxes}
		},
		Metrics: a.metricsHandler(visibleTo),
		Exists: func(audience front.Audience) bool {
			_, ok := a.view(audience).Toolbox(audience.Only)
			return ok
		},
		SessionIdle: settings.SessionIdle, ClientIdle: settings.ClientIdle,
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
