package oauth

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/access/credentials"
)

// exchange gets the tokens for a code, and saves them.
func (a *Attempt) exchange(ctx context.Context, code string) (*Outcome, error) {
	c := a.credentials
	form := url.Values{
		"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {a.redirectURI}, "code_verifier": {a.verifier},
	}
	if a.target.resource != "" {
		form.Set("resource", a.target.resource)
	}
	key, err := a.bindTokens()
	if err != nil {
		return nil, err
	}
	answer, err := c.requestToken(ctx, a.target.server, &a.client, key, form)
	if refusal, ok := errors.AsType[*refusalError](err); ok && refusal.isClient() {
		return nil, a.clientRefused(ctx, refusal)
	}
	if err != nil {
		return nil, a.explainExchange(err)
	}
	c.manager.hide(answer.access, answer.refresh)
	saved, err := a.save(ctx, answer)
	if err != nil {
		return nil, fmt.Errorf("the login could not be saved: %w", err)
	}
	c.mu.Lock()
	c.hold(saved)
	c.challenge = nil // the scopes in it are requested
	c.mu.Unlock()
	a.clearOthers(ctx)
	a.noteUse(ctx)
	return &Outcome{
		Issuer: saved.Issuer, Account: saved.Account, Scopes: saved.Granted, Missing: a.notGranted(saved), Expires: saved.Expires, Refreshable: saved.Refresh != "",
	}, nil
}

// notGranted returns the scopes that were requested and not granted. A refresh token shows that offline_access was.
func (a *Attempt) notGranted(saved *credentials.Credential) (missing []string) {
	for _, scope := range a.scopes {
		if !slices.Contains(saved.Granted, scope) && (scope != "offline_access" || saved.Refresh == "") {
			missing = append(missing, scope)
		}
	}
	return missing
}

// explainExchange adds what to do to the refusal of a code.
func (a *Attempt) explainExchange(err error) error {
	if refusal, ok := errors.AsType[*refusalError](err); ok {
		return loginFailed(a.advice(refusal), "%s", refusal)
	}
	if unknown, ok := errors.AsType[*tokenTypeError](err); ok {
		return loginFailed("Tell the operator of the authorization server: 'token_type' has to be Bearer or DPoP.", "%s", unknown)
	}
	return err
}

// clientRefused forgets a registration that the authorization server does not know, so that the next login registers anew.
func (a *Attempt) clientRefused(ctx context.Context, refusal *refusalError) error {
	if a.client.Source != credentials.SourceDynamic {
		return loginFailed("Check 'oauth.clientId' and 'oauth.clientSecret' of the server.", "the authorization server refused the client of the configuration: %s", refusal.words())
	}
	err := a.credentials.change(ctx, a.clientKey(), func(kept *credentials.Credential) bool {
		switch {
		case kept.Client.ID != a.client.ID:
			return false
		case rank(kept) == rankAlive: // its tokens may still be refreshed
			kept.Client.SecretExpires = time.Now()
		default:
			kept.Client = credentials.Client{RedirectURI: a.redirectURI}
		}
		return true
	})
	if err != nil {
		return err
	}
	hint := "Log in again, which registers another one."
	if a.isHosted() {
		hint = a.again("") + " The workbench registers anew then."
	}
	return loginFailed(hint, "the authorization server does not accept the client that was registered: %s", refusal.words())
}

// save puts the tokens into the store, whatever is there.
func (a *Attempt) save(ctx context.Context, answer *tokenAnswer) (*credentials.Credential, error) {
	metadata, err := json.Marshal(a.target.server)
	if err != nil {
		return nil, err
	}
	var saved *credentials.Credential
	err = a.credentials.change(ctx, a.key, func(kept *credentials.Credential) bool {
		next := &credentials.Credential{
			Key: a.key, Generation: kept.Generation, Login: random(), Resource: a.target.resource, Metadata: metadata,
			Client: withoutConfigured(a.client), Scopes: a.scopes, Granted: a.scopes, Refresh: "", DPoPKey: a.dpopKey,
		}
		if a.isStepUp && kept.Dead == "" {
			next.Login = cmp.Or(kept.Login, next.Login)
			if kept.Client.ID == a.client.ID {
				next.Refresh = kept.Refresh // if no other one came
			}
		}
		answer.update(next)
		*kept = *next
		saved = kept
		return true
	})
	return saved, err
}

// clearOthers removes the tokens of logins at other authorization servers, which the server does not use any more. The
// registrations are kept.
func (a *Attempt) clearOthers(ctx context.Context) {
	c := a.credentials
	all, _ := c.manager.options.Store.Find(c.canonical, c.settings.Account) // what cannot be read is of no use anyway
	for _, one := range all {
		if one.Issuer == a.key.Issuer || one.Access == "" && one.Refresh == "" {
			continue
		}
		err := c.change(ctx, one.Key, func(kept *credentials.Credential) bool {
			*kept = credentials.Credential{Key: kept.Key, Generation: kept.Generation, Metadata: kept.Metadata, Client: kept.Client}
			return true
		})
		if err != nil {
			c.manager.options.Log.Warn("the login at an earlier authorization server was not removed", "server", c.server.Name, "reason", err)
		}
	}
}
