package oauthtest

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// The grants of the token endpoint.
const (
	codeGrant        = "authorization_code"
	refreshGrant     = "refresh_token"
	credentialsGrant = "client_credentials"
	assertionGrant   = "urn:ietf:params:oauth:grant-type:jwt-bearer"
	exchangeGrant    = "urn:ietf:params:oauth:grant-type:token-exchange"
)

var kindOfGrant = map[string]string{refreshGrant: Refresh, credentialsGrant: Machine, assertionGrant: Machine, exchangeGrant: Exchange}

func (a *authority) token(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm() // then there is no grant
	form := r.PostForm
	event := &Event{Kind: kindOfGrant[form.Get("grant_type")], Issuer: a.base(), Grant: form.Get("grant_type"), Refresh: Hash(form.Get("refresh_token"))}
	if event.Kind == "" {
		event.Kind = Token
	}
	event.setForm(form)
	if event.Kind == Refresh {
		defer a.provider.refreshing(r, event, form.Get("refresh_token"))()
	}
	a.provider.handle(w, r, event, func(w http.ResponseWriter) int {
		event.Gone = r.Context().Err() != nil
		if r.Method != http.MethodPost || r.URL.RawQuery != "" {
			return refusal("invalid_request", "a POST without a query is wanted").write(w, event)
		}
		client, problem := a.authenticate(r, event)
		if problem != nil {
			return problem.write(w, event)
		}
		key, problem := a.provider.proofAtTokenEndpoint(r, a.base()+"/token")
		if problem != nil {
			return problem.write(w, event)
		}
		answer, problem := a.grant(form, client, key, event)
		if problem != nil {
			return problem.write(w, event)
		}
		return writeJSON(w, http.StatusOK, answer)
	})
}

// refreshing counts the refreshes of a login that are under way; the returned function ends this one.
func (p *Provider) refreshing(r *http.Request, event *Event, token string) (done func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	found := p.tokens[token]
	if found == nil {
		return func() {}
	}
	one := found.login
	event.Login, event.Underway = one.id, one.refreshing
	one.refreshing++
	end := func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		one.refreshing--
	}
	stop := context.AfterFunc(r.Context(), end) // a client that died is not under way any more
	return func() {
		if stop() {
			end()
		}
	}
}

func (a *authority) grant(form url.Values, client *Client, key string, event *Event) (map[string]any, *oauthError) {
	options := a.provider.now()
	if problem := a.provider.resourceProblem(form, options); problem != nil && event.Kind != Exchange {
		return nil, problem
	}
	switch form.Get("grant_type") {
	case codeGrant:
		return a.redeem(form, client, key, event)
	case refreshGrant:
		return a.renew(form, client, key, event)
	case credentialsGrant:
		if client.Method == "none" || client.Method == "" {
			return nil, refusal("unauthorized_client", "a client without a secret cannot have this grant")
		}
		return a.forMachine(form, client, key, event), nil
	case assertionGrant:
		if !slices.Contains(options.Assertions, form.Get("assertion")) {
			return nil, refusal("invalid_grant", "the assertion is not good")
		}
		return a.forMachine(form, client, key, event), nil
	case exchangeGrant:
		return a.exchange(form, options)
	}
	return nil, refusal("unsupported_grant_type", "this grant is unknown")
}

// redeem exchanges a code.
func (a *authority) redeem(form url.Values, client *Client, key string, event *Event) (map[string]any, *oauthError) {
	p := a.provider
	p.mu.Lock()
	defer p.mu.Unlock()
	one := a.codes[form.Get("code")]
	if one == nil || one.client != client.ID {
		return nil, refusal("invalid_grant", "the code is unknown")
	}
	event.Login = one.login.id
	sum := sha256.Sum256([]byte(form.Get("code_verifier")))
	switch {
	case one.used:
		p.endLogin(one.login)
		return nil, refusal("invalid_grant", "the code was used before")
	case one.redirect != form.Get("redirect_uri"):
		return nil, refusal("invalid_grant", "redirect_uri is not that of the authorization request")
	case base64.RawURLEncoding.EncodeToString(sum[:]) != one.challenge:
		return nil, refusal("invalid_grant", "code_verifier does not fit")
	case one.resource != form.Get("resource"):
		return nil, refusal("invalid_target", "resource is not that of the authorization request")
	}
	one.used = true
	issued := one.grant
	issued.key = key
	return p.issue(issued, true, event), nil
}

// renew exchanges a refresh token.
func (a *authority) renew(form url.Values, client *Client, key string, event *Event) (map[string]any, *oauthError) {
	p := a.provider
	p.mu.Lock()
	defer p.mu.Unlock()
	one := p.tokens[form.Get("refresh_token")]
	switch {
	case one == nil || !one.refresh || one.client != client.ID || one.issuer != event.Issuer:
		return nil, refusal("invalid_grant", "the refresh token is unknown")
	case one.used:
		p.endLogin(one.login)
		return nil, refusal("invalid_grant", "the refresh token was used before: all tokens of this login have ended")
	case one.dead != "":
		return nil, refusal("invalid_grant", "the refresh token is not good any more: "+one.dead)
	case one.key != "" && one.key != key:
		return nil, refusal("invalid_dpop_proof", "the refresh token is bound to another key")
	}
	issued := *one
	issued.refresh = false
	if scope := form.Get("scope"); scope != "" {
		issued.scopes = strings.Fields(scope)
	}
	if p.options.Refresh == "kept" {
		return p.issue(issued, false, event), nil
	}
	one.used = p.options.Refresh != "rotated"
	return p.issue(issued, true, event), nil
}

// endLogin ends all tokens of a login. Its caller holds the mutex.
func (p *Provider) endLogin(ended *login) {
	for _, token := range p.tokens {
		if token.login == ended {
			token.dead = "its login has ended"
		}
	}
}

// issue makes tokens. Its caller holds the mutex.
func (p *Provider) issue(issued grant, refreshable bool, event *Event) map[string]any {
	options := p.options
	lifetime := time.Hour
	if options.AccessSeconds != 0 {
		lifetime = time.Duration(options.AccessSeconds) * time.Second
	}
	access := issued
	access.expires = p.clock().Add(lifetime)
	name := p.next("access")
	p.tokens[name] = &access
	event.Login, event.NewAccess = issued.login.id, Hash(name)
	answer := map[string]any{"access_token": name, "token_type": "Bearer", "expires_in": int(lifetime / time.Second), "scope": strings.Join(issued.scopes, " ")}
	if issued.key != "" {
		answer["token_type"] = "DPoP"
	}
	if options.TokenType != "" {
		answer["token_type"] = options.TokenType
	}
	if options.NoExpiry {
		delete(answer, "expires_in")
	}
	if options.NoScope {
		delete(answer, "scope")
	}
	if !refreshable || options.Refresh == "none" || options.Refresh == "offline" && !slices.Contains(issued.scopes, "offline_access") {
		return answer
	}
	fresh := issued
	fresh.refresh = true
	name = p.next("refresh")
	p.tokens[name] = &fresh
	answer["refresh_token"], event.NewFresh = name, Hash(name)
	return answer
}

// forMachine issues a token without a person.
func (a *authority) forMachine(form url.Values, client *Client, key string, event *Event) map[string]any {
	p := a.provider
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.issue(grant{
		login: &login{id: p.next("machine")}, issuer: event.Issuer, client: client.ID,
		scopes: strings.Fields(form.Get("scope")), resource: form.Get("resource"), key: key,
	}, false, event)
}

// exchange makes an assertion for an authorization server of an ID token: what an identity provider does.
func (a *authority) exchange(form url.Values, options Options) (map[string]any, *oauthError) {
	const jag = "urn:ietf:params:oauth:token-type:id-jag"
	switch {
	case form.Get("requested_token_type") != jag:
		return nil, refusal("invalid_request", "requested_token_type has to be "+jag)
	case !slices.Contains(options.IDTokens, form.Get("subject_token")) || form.Get("subject_token_type") != "urn:ietf:params:oauth:token-type:id_token":
		return nil, refusal("invalid_grant", "the ID token is not good")
	case form.Get("audience") != a.provider.first.base() && form.Get("audience") != a.provider.other.base():
		return nil, refusal("invalid_target", "audience has to be the issuer of an authorization server")
	case form.Get("resource") != a.provider.resourceValue(options):
		return nil, refusal("invalid_target", "resource has to be "+a.provider.resourceValue(options))
	}
	a.provider.mu.Lock()
	defer a.provider.mu.Unlock()
	name := a.provider.next("id-jag")
	a.provider.options.Assertions = append(slices.Clone(options.Assertions), name)
	return map[string]any{"access_token": name, "issued_token_type": jag, "token_type": "N_A", "expires_in": 300}, nil
}

// revoke is RFC 7009: a refresh token takes its access tokens with it.
func (a *authority) revoke(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm() // then there is no token
	event := &Event{Kind: Revoke, Issuer: a.base()}
	event.setForm(r.PostForm)
	a.provider.handle(w, r, event, func(w http.ResponseWriter) int {
		if _, problem := a.authenticate(r, event); problem != nil {
			return problem.write(w, event)
		}
		a.provider.mu.Lock()
		defer a.provider.mu.Unlock()
		if one := a.provider.tokens[r.PostForm.Get("token")]; one != nil {
			event.Login, one.dead = one.login.id, "revoked"
			if one.refresh {
				a.provider.endLogin(one.login)
			}
		}
		w.WriteHeader(http.StatusOK)
		return http.StatusOK
	})
}

// introspect is RFC 7662, for anybody.
func (a *authority) introspect(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm() // then there is no token
	event := &Event{Kind: Introspect, Issuer: a.base()}
	a.provider.handle(w, r, event, func(w http.ResponseWriter) int {
		a.provider.mu.Lock()
		defer a.provider.mu.Unlock()
		if claims := a.provider.introspected(r.PostForm.Get("token")); claims != nil {
			return writeJSON(w, http.StatusOK, claims)
		}
		one := a.provider.tokens[r.PostForm.Get("token")]
		if one == nil || one.dead != "" || one.used || !one.refresh && a.provider.clock().After(one.expires) {
			return writeJSON(w, http.StatusOK, map[string]any{"active": false})
		}
		return writeJSON(w, http.StatusOK, map[string]any{"active": true, "client_id": one.client, "scope": strings.Join(one.scopes, " "), "aud": one.resource})
	})
}
