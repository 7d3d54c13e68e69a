package oauth

import (
	"context"

	"github.com/mcp-workbench/mcp-workbench/internal/access/credentials"
)

// Without a person, nobody notices that a server names another authorization server, which would get the secret or the
// assertion of the configuration. So they are bound to the first one that they are sent to, unless the configuration
// names it.

// boundIssuer returns the authorization server that the secrets of the configuration are bound to; "" if it is none yet.
func (c *Credentials) boundIssuer() (string, error) {
	if c.settings.Issuer != "" || c.settings.AuthorizationServer != "" {
		return "", nil
	}
	c.machine.mu.Lock()
	issuer := c.machine.issuer
	c.machine.mu.Unlock()
	if issuer != "" {
		return issuer, nil
	}
	all, err := c.manager.options.Store.Find(c.canonical, c.settings.Account)
	if err != nil {
		return "", err
	}
	for _, one := range all {
		if one.Client.Source == credentials.SourceConfigured && one.Client.ID == c.settings.ClientID {
			return one.Issuer, nil
		}
	}
	return "", nil
}

// bind binds the secrets of the configuration to an authorization server, or refuses it because they are bound to another.
func (c *Credentials) bind(ctx context.Context, bound, issuer string) error {
	if c.settings.Issuer != "" || c.settings.AuthorizationServer != "" {
		return nil
	}
	if bound != "" && bound != issuer {
		return problem("If this is right, set 'oauth.issuer' of the server to the new one.",
			"The server at %s now names the authorization server %s instead of %s, for which the client of the configuration is: nothing was sent to it",
			shown(c.server.URL), words(issuer), words(bound))
	}
	c.machine.mu.Lock()
	c.machine.issuer = issuer
	c.machine.mu.Unlock()
	if bound != "" {
		return nil
	}
	key := credentials.Key{Server: c.canonical, Issuer: issuer, Account: c.settings.Account}
	err := c.change(ctx, key, func(kept *credentials.Credential) bool {
		if kept.Access != "" || kept.Refresh != "" {
			return false // the login of a person, from before the configuration changed
		}
		kept.Client = credentials.Client{ID: c.settings.ClientID, Source: credentials.SourceConfigured}
		return true
	})
	if err != nil { // it holds for this process
		c.manager.options.Log.Warn("the authorization server of a client could not be recorded", "server", c.server.Name, "reason", err)
	}
	return nil
}
