package identity

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/hidden"
	"github.com/mcp-workbench/mcp-workbench/internal/base/webclient"
)

// metadata is what the provider says about itself (RFC 8414 and OpenID Connect Discovery).
type metadata struct {
	Issuer                string `json:"issuer"`
	JWKSURI               string `json:"jwks_uri"`
	AuthorizationEndpoint string `json:"authorization_endpoint"`
	TokenEndpoint         string `json:"token_endpoint"`
	IntrospectionEndpoint string `json:"introspection_endpoint"`
	SendsIssuer           bool   `json:"authorization_response_iss_parameter_supported"`
}

// discover fetches the metadata from the first place that has that of the issuer, and says which it was.
func (p *provider) discover(ctx context.Context) (*metadata, string, error) {
	issuer, err := url.Parse(p.issuer)
	if err != nil {
		return nil, "", err
	}
	var failure error
	for _, address := range webclient.MetadataOf(issuer) {
		found, err := p.metadataAt(ctx, address)
		if err == nil {
			return found, address, nil
		}
		if _, ok := errors.AsType[*webclient.UnreachableError](err); ok || ctx.Err() != nil {
			return nil, "", fmt.Errorf("the metadata of %s cannot be fetched: %w", p.issuer, err)
		}
		if failure == nil || isMissing(failure) && !isMissing(err) {
			failure = err
		}
	}
	return nil, "", failure
}

// missingError says that there is no metadata at an address, which says little: there are several places for it.
type missingError struct{ text string }

func (e *missingError) Error() string { return e.text }

func isMissing(err error) bool {
	_, ok := errors.AsType[*missingError](err)
	return ok
}

func (p *provider) metadataAt(ctx context.Context, address string) (*metadata, error) {
	document, err := p.fetcher.Get(ctx, address)
	if err != nil {
		return nil, err
	}
	at := shown(address)
	if document.Status != http.StatusOK {
		text := fmt.Sprintf("the metadata of %s cannot be fetched: HTTP status %d from %s", p.issuer, document.Status, at)
		if document.Status >= http.StatusInternalServerError {
			return nil, errors.New(text)
		}
		return nil, &missingError{text}
	}
	found := new(metadata)
	if err := webclient.DecodeJSON(document.Body, found); err != nil {
		return nil, &missingError{fmt.Sprintf("the metadata of %s at %s cannot be used: %v", p.issuer, at, err)}
	}
	if found.Issuer != p.issuer {
		return nil, problem("Set 'http.oauth.issuer' to exactly what the provider calls itself, down to a slash at its end, if that is your provider.",
			"the metadata at %s is that of '%s', not of '%s'", at, plain(found.Issuer), p.issuer)
	}
	return found, nil
}

// metadata returns what the provider says about itself.
func (p *provider) metadata(ctx context.Context) (*metadata, error) {
	p.mu.Lock()
	known := p.known
	p.mu.Unlock()
	if known != nil {
		return known, nil
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	known, _, err := p.discover(ctx)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	p.known = known
	p.mu.Unlock()
	return known, nil
}

// problemError is an error with a hint for the operator.
type problemError struct{ text, hint string }

func (e *problemError) Error() string { return e.text }

func problem(hint, format string, arguments ...any) error {
	return &problemError{fmt.Sprintf(format, arguments...), hint}
}

// shown returns an address without the parts that may be secret.
func shown(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "an address that is not valid"
	}
	return hidden.Clean(webclient.Plain(u))
}

// Provider returns what the page /connect signs people in with: the endpoints of the provider, and whether its answers name the
// issuer.
func (v *Verifier) Provider(ctx context.Context) (authorizationEndpoint, tokenEndpoint string, sendsIssuer bool, err error) {
	found, err := v.provider.metadata(ctx)
	if err != nil {
		return "", "", false, err
	}
	for name, address := range map[string]string{"authorization_endpoint": found.AuthorizationEndpoint, "token_endpoint": found.TokenEndpoint} {
		if err := v.provider.fetcher.Check(address); err != nil {
			return "", "", false, problem("", "the metadata of %s has no '%s' that can be used: %v", v.settings.Issuer, name, err)
		}
	}
	return found.AuthorizationEndpoint, found.TokenEndpoint, found.SendsIssuer, nil
}

// IDToken verifies an ID token that the provider issued to the client of the page /connect (OpenID Connect Core, section 3.1.3.7),
// and returns whom it is about. The error says nothing of the token.
func (v *Verifier) IDToken(ctx context.Context, token, nonce string) (issuer, subject, name string, err error) {
	claims, refusal := v.verifyID(ctx, token, nonce)
	if refusal != nil {
		return "", "", "", refusal
	}
	return claims.person.Issuer, claims.person.Subject, claims.person.Name, nil
}

func (v *Verifier) verifyID(ctx context.Context, token, nonce string) (*claims, *Refusal) {
	if refusal := checkForm(token); refusal != nil {
		return nil, refusal
	}
	if !isJWT(token) {
		return nil, refuse(reasonForm)
	}
	t, refusal := parseJWT(token)
	if refusal != nil {
		return nil, refusal
	}
	if t.kind != "" && t.kind != "jwt" {
		return nil, refuse(reasonKind)
	}
	claims, refusal := readClaims(t.payload, v.settings.Issuer, time.Now())
	if refusal != nil {
		return nil, refusal
	}
	client, party := v.settings.ClientID, t.payload.text("azp")
	switch {
	case client == "" || !intersect([]string{client}, claims.audience),
		t.payload.has("azp") && party != client, len(claims.audience) > 1 && party != client:
		return nil, refuse(reasonAudience)
	case nonce == "" || t.payload.text("nonce") != nonce:
		return nil, refuse(reasonNonce)
	case strings.ToLower(t.payload.text("token_use")) == "access":
		return nil, refuse(reasonKind)
	}
	if _, refusal := v.checkSignature(ctx, t); refusal != nil {
		return nil, refusal
	}
	return claims, nil
}
