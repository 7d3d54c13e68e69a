package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/access/credentials"
	"github.com/mcp-workbench/mcp-workbench/internal/base/secret"
	"github.com/mcp-workbench/mcp-workbench/internal/base/webclient"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// How an access token is sent.
const (
	kindBearer = "Bearer"
	kindDPoP   = "DPoP"
)

const (
	maxToken    = 32 << 10                  // bytes of a token; a longer one is refused
	maxLifetime = 10 * 365 * 24 * time.Hour // of a token; a longer one counts as this
)

// tokenAnswer is what a token endpoint gave.
type tokenAnswer struct {
	access, kind, refresh string
	expires, issued       time.Time
	scopes                []string // nil: it said nothing
}

// update puts the answer to a refresh into the credential.
func (a *tokenAnswer) update(c *credentials.Credential) {
	c.Access, c.Kind, c.Expires, c.Issued = a.access, a.kind, a.expires, a.issued
	if a.refresh != "" {
		c.Refresh = a.refresh
	}
	if a.scopes != nil {
		c.Granted = a.scopes
	}
	c.Dead, c.Refreshing = "", nil
}

// refusalError is an error of OAuth that a token endpoint answered with.
type refusalError struct {
	code        string
	description string // cleaned
}

func (e *refusalError) Error() string { return "the authorization server refused: " + e.words() }

func (e *refusalError) words() string {
	if e.description == "" {
		return e.code
	}
	return e.code + " (" + e.description + ")"
}

// isGrant reports whether the refresh token or the code is not valid. Some servers have codes of their own for it.
func (e *refusalError) isGrant() bool {
	return slices.Contains([]string{"invalid_grant", "bad_refresh_token", "invalid_refresh_token"}, e.code)
}

// isClient reports whether the client is unknown, or was not authenticated.
func (e *refusalError) isClient() bool { return e.code == "invalid_client" }

// aboutClient is the error for a client of the configuration.
func (e *refusalError) aboutClient() error {
	return fmt.Errorf("the authorization server refused the client of the configuration: %s; check 'oauth.clientId' and 'oauth.clientSecret'", e.words())
}

// parties returns the authorization server that a login was made at, and the client that it was made with. A secret of the
// configuration is not in the store.
func (c *Credentials) parties(credential *credentials.Credential) (*serverMetadata, credentials.Client, error) {
	client := credential.Client
	metadata := new(serverMetadata)
	if err := json.Unmarshal(credential.Metadata, metadata); err != nil || metadata.TokenEndpoint == "" {
		return nil, client, errors.New("the stored login does not say where its tokens come from; log in again")
	}
	if client.Source == credentials.SourceConfigured {
		if client.ID != c.settings.ClientID {
			return nil, client, &downstream.LoginError{Reason: "the login was made with another client than that of the configuration ('oauth.clientId')"}
		}
		client.Secret = c.settings.ClientSecret
	}
	return metadata, client, nil
}

// requestToken sends a form to the token endpoint. A server that said that it needs no secret, and gave one, gets it after it
// refused the client.
func (c *Credentials) requestToken(ctx context.Context, metadata *serverMetadata, client *credentials.Client, key *dpopKey, form url.Values) (*tokenAnswer, error) {
	answer, err := c.postToken(ctx, metadata, *client, key, form)
	refusal, isRefused := errors.AsType[*refusalError](err)
	if isRefused && refusal.code == codeNonce && key != nil { // which came with the refusal
		answer, err = c.postToken(ctx, metadata, *client, key, form)
		refusal, isRefused = errors.AsType[*refusalError](err)
	}
	if isRefused && refusal.isClient() && client.Method == config.TokenAuthNone && client.Secret != "" {
		client.Method = config.TokenAuthPost
		answer, err = c.postToken(ctx, metadata, *client, key, form)
	}
	if err == nil && answer.kind == kindDPoP && key == nil {
		return nil, problem("Ask its operator to list ES256 in 'dpop_signing_alg_values_supported' of the metadata.",
			"The authorization server %s sent a token that is bound to a key, although it was shown none", shown(metadata.Issuer))
	}
	return answer, err
}

func (c *Credentials) postToken(ctx context.Context, metadata *serverMetadata, client credentials.Client, key *dpopKey, form url.Values) (*tokenAnswer, error) {
	sent, header := make(url.Values), make(http.Header)
	for name, values := range form {
		sent[name] = values
	}
	header.Set("Content-Type", "application/x-www-form-urlencoded")
	header.Set("Accept", "application/json")
	client, err := c.withSecret(ctx, client)
	if err != nil {
		return nil, err
	}
	if err := authenticate(client, &c.settings, metadata, sent, header); err != nil {
		return nil, err
	}
	if err := c.proveTokenRequest(metadata, key, header); err != nil {
		return nil, err
	}
	issued := time.Now() // before the request: the token does not expire earlier than thought
	document, err := c.guard.Post(ctx, metadata.TokenEndpoint, header, []byte(sent.Encode()), tokenTime)
	if err != nil {
		return nil, &TemporaryError{"The authorization server gave no token: " + err.Error(), err}
	}
	if key != nil {
		c.learnTokenNonce(metadata, document.Header)
	}
	answer, err := readToken(document, issued)
	if refusal, ok := errors.AsType[*refusalError](err); ok { // some servers quote what they refuse
		masker := secret.NewMasker([]string{form.Get("code"), form.Get("code_verifier"), form.Get("refresh_token"), form.Get("assertion"), client.Secret})
		refusal.code, refusal.description = words(masker.Mask(refusal.code)), words(masker.Mask(refusal.description))
		if refusal.isClient() {
			c.forgetSecret()
		}
	}
	return answer, err
}

// tokenDocument is the answer of a token endpoint. Servers differ in the types of some members.
type tokenDocument struct {
	Access      string          `json:"access_token"`
	Kind        string          `json:"token_type"`
	Refresh     string          `json:"refresh_token"`
	Expires     json.RawMessage `json:"expires_in"`
	Scope       json.RawMessage `json:"scope"`
	Error       string          `json:"error"`
	Description string          `json:"error_description"`
}

// noToken is the error for an answer without a token, which is no refusal.
func noToken(format string, arguments ...any) error {
	return &TemporaryError{"The authorization server gave no token: it answered with " + fmt.Sprintf(format, arguments...), nil}
}

// readToken reads the answer of a token endpoint. An answer that is no answer of OAuth, such as the page of a proxy, is
// temporary: nothing follows from it about the login.
func readToken(document *webclient.Document, issued time.Time) (*tokenAnswer, error) {
	var d tokenDocument
	err := webclient.DecodeJSON(document.Body, &d)
	isTransient := isTemporaryStatus(document.Status) || slices.Contains([]string{"temporarily_unavailable", "server_error", "slow_down"}, d.Error)
	switch {
	case err == nil && d.Error != "" && !isTransient:
		return nil, &refusalError{code: d.Error, description: d.Description}
	case err != nil && document.Status == http.StatusOK:
		return nil, noToken("%s, and not with JSON: %s", status(document.Status), mediaType(document))
	case document.Status != http.StatusOK:
		return nil, noToken("%s", status(document.Status))
	case d.Access == "":
		return nil, noToken("%s, and without 'access_token'", status(document.Status))
	case !isToken(d.Access) || d.Refresh != "" && !isToken(d.Refresh):
		return nil, noToken("one that cannot be sent in a header")
	}
	a := &tokenAnswer{access: d.Access, refresh: d.Refresh, issued: issued, expires: expiry(d.Expires, issued), scopes: scopesOf(d.Scope)}
	switch {
	case strings.EqualFold(d.Kind, kindDPoP):
		a.kind = kindDPoP
	case d.Kind == "" || strings.EqualFold(d.Kind, kindBearer):
		a.kind = kindBearer
	default:
		return nil, &tokenTypeError{words(d.Kind)}
	}
	return a, nil
}

// tokenTypeError is a token that the workbench does not know how to send.
type tokenTypeError struct{ kind string }

func (e *tokenTypeError) Error() string {
	return fmt.Sprintf("the authorization server sent a token of the unknown type '%s'", e.kind)
}

// expiry reads expires_in, which is a number or a string with one. Zero: unknown.
func expiry(raw json.RawMessage, issued time.Time) time.Time {
	seconds, err := strconv.ParseFloat(strings.Trim(string(raw), `"`), 64)
	if err != nil || !(seconds > 0) {
		return time.Time{}
	}
	return issued.Add(time.Duration(min(seconds, maxLifetime.Seconds()) * float64(time.Second)))
}

// scopesOf reads scope, which is a string, or an array with some servers. nil: none is named.
func scopesOf(raw json.RawMessage) []string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return scopeList(strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' }))
	}
	var list []string
	if json.Unmarshal(raw, &list) == nil {
		return scopeList(list)
	}
	return nil
}

// isToken reports whether a text can be sent in a header as one word.
func isToken(text string) bool {
	for i := range len(text) {
		if text[i] <= ' ' || text[i] > '~' {
			return false
		}
	}
	return text != "" && len(text) <= maxToken
}
