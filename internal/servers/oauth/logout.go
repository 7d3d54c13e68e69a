package oauth

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/access/credentials"
)

// revokeTime bounds a request that revokes a token; then the login is removed without it.
const revokeTime = 10 * time.Second

// LogoutResult says what a logout did.
type LogoutResult struct {
	Logins  int      // that were removed; 0: there was none
	Notices []string // complete sentences about tokens that an authorization server may still accept
}

// Logout revokes the tokens of the server's logins (RFC 7009), and removes them from the store, with their registrations.
// They are removed even if they cannot be revoked.
func (c *Credentials) Logout(ctx context.Context) (LogoutResult, error) {
	var result LogoutResult
	if c.problem != nil {
		return result, c.problem
	}
	store := c.manager.options.Store
	removed, err := store.RemoveUnusable(ctx, c.canonical, c.settings.Account)
	for _, path := range removed {
		result.Logins++
		result.Notices = append(result.Notices, fmt.Sprintf("The login in %s could not be read, and was removed. %s", path, notRevoked))
	}
	if err != nil {
		return result, err
	}
	all, err := store.Find(c.canonical, c.settings.Account)
	if err != nil {
		return result, err
	}
	for _, one := range all {
		hadTokens, notice, err := c.logout(ctx, one.Key)
		if err != nil {
			return result, err
		}
		if hadTokens {
			result.Logins++
		}
		if notice != "" {
			result.Notices = append(result.Notices, notice)
		}
	}
	c.reload()
	return result, nil
}

// logout removes one login. It holds the lock, so that no refresh gets a new token meanwhile.
func (c *Credentials) logout(ctx context.Context, key credentials.Key) (hadTokens bool, notice string, err error) {
	lock, err := c.manager.options.Store.Lock(ctx, key)
	if err != nil {
		return false, "", err
	}
	defer lock.Unlock()
	credential, err := lock.Load()
	if err != nil {
		return false, "", err
	}
	if credential != nil && (credential.Access != "" || credential.Refresh != "") {
		hadTokens = true
		if err := c.revoke(ctx, credential); err != nil && credential.Dead == "" {
			notice = fmt.Sprintf("The authorization server %s may still accept the tokens of the login: %v.", shown(key.Issuer), err)
		}
	}
	return hadTokens, notice, lock.Delete()
}

// revoke revokes the refresh token first: with it, most authorization servers revoke all tokens of the login.
func (c *Credentials) revoke(ctx context.Context, credential *credentials.Credential) error {
	metadata, client, err := c.parties(credential)
	if err != nil {
		return err
	}
	if metadata.RevocationEndpoint == "" {
		return fmt.Errorf("it does not offer to revoke them")
	}
	var failure error
	for _, token := range []struct{ kind, value string }{{"refresh_token", credential.Refresh}, {"access_token", credential.Access}} {
		if token.value == "" {
			continue
		}
		if err := c.postRevocation(ctx, metadata, client, token.kind, token.value); err != nil && failure == nil {
			failure = err
		}
	}
	return failure
}

func (c *Credentials) postRevocation(ctx context.Context, metadata *serverMetadata, client credentials.Client, kind, token string) error {
	form, header := url.Values{"token": {token}, "token_type_hint": {kind}}, make(http.Header)
	header.Set("Content-Type", "application/x-www-form-urlencoded")
	client, err := c.withSecret(ctx, client)
	if err != nil {
		return err
	}
	if err := authenticate(client, &c.settings, metadata, form, header); err != nil {
		return err
	}
	document, err := c.guard.Post(ctx, metadata.RevocationEndpoint, header, []byte(form.Encode()), revokeTime)
	if err != nil {
		return err
	}
	if document.Status != http.StatusOK && document.Status != http.StatusNoContent {
		return fmt.Errorf("it answered the revocation with %s", status(document.Status))
	}
	return nil
}
