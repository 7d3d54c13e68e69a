package app

import (
	"reflect"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/access/httpauth"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// reloadHTTP takes over what can change while clients are served over HTTP, and warns of the rest.
func (a *App) reloadHTTP(before, now config.HTTP) {
	gate := a.gate.Load()
	if gate == nil {
		return
	}
	gate.SetRules(rules(now, a.verifier.Load()))
	a.reloadPeople(before.OAuth, now.OAuth)
	a.warnOfCallers(now)
	if keys := needRestart(before, now); len(keys) > 0 {
		a.log.Warn(strings.Join(keys, ", ") + " changed, which takes effect when the workbench is started again")
	}
}

// needRestart returns the keys that changed and are read at the start only.
func needRestart(before, now config.HTTP) (keys []string) {
	for _, key := range []struct {
		name    string
		changed bool
	}{
		{"http.listen", now.Listen != before.Listen},
		{"http.tls.cert", now.TLS.Cert != before.TLS.Cert},
		{"http.tls.key", now.TLS.Key != before.TLS.Key},
		{"http.tls.clientCa", now.TLS.ClientCA != before.TLS.ClientCA},
		{"http.trustedProxies", !slices.Equal(now.TrustedProxies, before.TrustedProxies)},
		{"http.drain", now.Drain != before.Drain && (!isDefaultDrain(now) || !isDefaultDrain(before))},
		{"http.sessionIdle", now.SessionIdle != before.SessionIdle},
		{"http.clientIdle", now.ClientIdle != before.ClientIdle},
	} {
		if key.changed {
			keys = append(keys, key.name)
		}
	}
	return keys
}

// isDefaultDrain reports whether the drain is the one of a file without it, which depends on http.oauth.
func isDefaultDrain(settings config.HTTP) bool {
	if settings.OAuth != nil {
		return settings.Drain == config.DefaultTeamDrain
	}
	return settings.Drain == config.DefaultDrain
}

// keepPeople returns a configuration that still says that people sign in, if they do: that ends with the next start only, and until
// then nobody may share servers with others by default.
func (a *App) keepPeople(cfg *config.Config, before *config.HTTPOAuth) *config.Config {
	if cfg.HTTP.OAuth != nil || a.verifier.Load() == nil {
		return cfg
	}
	kept := *cfg
	kept.HTTP.OAuth = before
	return &kept
}

// reloadPeople has people verified as the configuration says now, as far as that can change.
func (a *App) reloadPeople(before, now *config.HTTPOAuth) {
	verifier := a.verifier.Load()
	if verifier == nil || now == nil {
		if a.tokens.Load() != nil && (before == nil) != (now == nil) {
			a.log.Warn("http.oauth stays as it was until the next start")
		}
		return
	}
	if reflect.DeepEqual(before, now) {
		return
	}
	if err := verifier.Configure(*now); err != nil {
		a.log.Warn("not all of http.oauth could be reloaded", "reason", err)
	}
}

// warnOfCallers warns about rules of the policy for callers that cannot come: a mistyped name would silently deny nothing.
func (a *App) warnOfCallers(settings config.HTTP) {
	tokens := a.tokens.Load()
	var known []httpauth.Token
	if tokens != nil {
		known = tokens.List()
	}
	for _, caller := range a.policy.Load().Callers() {
		if name, ok := strings.CutPrefix(caller, config.CallerToken); ok {
			a.warnOfToken(name, tokens != nil, known)
		}
		if name, ok := strings.CutPrefix(caller, config.CallerPerson); ok && a.verifier.Load() == nil {
			a.log.Warn("the policy has rules for a person, which hold for nobody: nobody signs in here without http.oauth", "person", name)
		}
		name, ok := strings.CutPrefix(caller, config.CallerCertificate)
		if ok && !slices.ContainsFunc(settings.TLS.Clients, func(grant config.ToolboxGrant) bool { return grant.Value == name }) {
			a.log.Warn("the policy has rules for a certificate that http.tls.clients does not name, which hold for nobody", "certificate", name)
		}
	}
}

func (a *App) warnOfToken(name string, isNeeded bool, known []httpauth.Token) {
	switch {
	case slices.ContainsFunc(known, func(token httpauth.Token) bool { return token.Name == name }):
	case !isNeeded:
		a.log.Warn("the policy has rules for a token, which hold for nobody: clients need no token here", "token", name)
	default:
		a.log.Warn("the policy has rules for a token that does not exist, which hold for nobody; see: mcp-workbench token list", "token", name)
	}
}
