package oauth

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/webclient"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

const (
	serverTitle     = "authorization server metadata"
	offlineAccess   = "offline_access" // the scope that asks for a refresh token
	challengeMethod = "S256"           // of PKCE
)

// serverMetadata is what an authorization server says about itself (RFC 8414).
type serverMetadata struct {
	Issuer                   string   `json:"issuer"`
	AuthorizationEndpoint    string   `json:"authorization_endpoint,omitempty"`
	TokenEndpoint            string   `json:"token_endpoint,omitempty"`
	RegistrationEndpoint     string   `json:"registration_endpoint,omitempty"`
	RevocationEndpoint       string   `json:"revocation_endpoint,omitempty"`
	ScopesSupported          []string `json:"scopes_supported,omitempty"`
	TokenEndpointAuthMethods []string `json:"token_endpoint_auth_methods_supported,omitempty"`
	CodeChallengeMethods     []string `json:"code_challenge_methods_supported,omitempty"`
	GrantTypes               []string `json:"grant_types_supported,omitempty"`
	DPoPAlgs                 []string `json:"dpop_signing_alg_values_supported,omitempty"`
	SendsIssuer              bool     `json:"authorization_response_iss_parameter_supported,omitempty"`
	AcceptsClientDocument    bool     `json:"client_id_metadata_document_supported,omitempty"`
}

// bound drops what no honest document has: the metadata is kept with each login.
func (m *serverMetadata) bound() {
	scopes := scopeList(m.ScopesSupported)
	if len(scopes) > maxScopes {
		scopes = scopes[:maxScopes-1]
		if slices.Contains(m.ScopesSupported, offlineAccess) && !slices.Contains(scopes, offlineAccess) {
			scopes = append(scopes, offlineAccess)
		}
	}
	m.ScopesSupported = scopes
	for _, list := range []*[]string{&m.TokenEndpointAuthMethods, &m.CodeChallengeMethods, &m.GrantTypes, &m.DPoPAlgs} {
		*list = (*list)[:min(len(*list), maxScopes)]
	}
}

// authorizationServer fetches the metadata of an authorization server; nil if it has none. A failure of one address does
// not keep the others from being asked: all have to name the same issuer.
func (d *discoverer) authorizationServer(ctx context.Context, issuer string) (*serverMetadata, error) {
	if err := d.checkIssuer(issuer); err != nil {
		return nil, err
	}
	u, err := url.Parse(issuer)
	if err != nil {
		return nil, err
	}
	var temporary error
	for _, address := range webclient.MetadataOf(u) {
		metadata := &serverMetadata{}
		found, err := d.document(ctx, serverTitle, address, metadata)
		switch {
		case isTemporary(err) && !isUnreachable(err):
			temporary = err
		case err != nil:
			return nil, err
		case found:
			if err := d.checkServer(metadata, issuer, address); err != nil {
				return nil, err
			}
			metadata.bound()
			return metadata, nil
		}
	}
	return nil, temporary
}

// checkIssuer checks the address of an authorization server.
func (d *discoverer) checkIssuer(issuer string) error {
	if err := d.guard.Check(issuer); err != nil {
		return problem("Ask the server's operator to correct it, or set 'oauth.authorizationServer' to the right one.",
			"The authorization server '%s' cannot be used: %v", shown(issuer), err)
	}
	if strings.ContainsAny(issuer, "?#") {
		return problem("Ask the server's operator to correct it, or set 'oauth.authorizationServer' to the right one.",
			"The authorization server '%s' cannot be used: an issuer has no query and no fragment (RFC 8414, section 2)", shown(issuer))
	}
	return nil
}

// checkServer checks that metadata is that of the expected issuer, and that a login is possible with it.
func (d *discoverer) checkServer(m *serverMetadata, issuer, address string) error {
	const title = "The " + serverTitle + " at %s "
	const correct = "Ask the authorization server's operator to correct it."
	at, want, rule := shown(address), issuer, "the issuer that its address was made of (RFC 8414, section 3.3)"
	if d.settings.Issuer != "" {
		want, rule = d.settings.Issuer, "what 'oauth.issuer' says"
	}
	switch {
	case m.Issuer == "":
		return problem(correct, title+"has no 'issuer', which RFC 8414 (section 2) requires", at)
	case !equalButSlash(m.Issuer, want):
		return problem("Ask the authorization server's operator to correct it. If you know that this issuer is the right one, set 'oauth.issuer' to it.",
			title+"names the issuer '%s', and not '%s': it has to be %s", at, words(m.Issuer), words(want), rule)
	}
	person := d.settings.Grant == "" // others need no page to log in at
	for _, endpoint := range []struct {
		name, address string
		required      bool
	}{
		{"authorization_endpoint", m.AuthorizationEndpoint, person},
		{"token_endpoint", m.TokenEndpoint, true},
		{"registration_endpoint", m.RegistrationEndpoint, false},
		{"revocation_endpoint", m.RevocationEndpoint, false},
	} {
		if endpoint.address == "" {
			if endpoint.required {
				return problem(correct, title+"has no '%s', which a login needs", at, endpoint.name)
			}
			continue
		}
		if err := d.guard.Check(endpoint.address); err != nil {
			return problem(correct, title+"has a '%s' that cannot be used: %v", at, endpoint.name, err)
		}
	}
	if person && d.settings.PKCE != config.PKCEAssume && !slices.Contains(m.CodeChallengeMethods, challengeMethod) {
		return problem(`Ask the authorization server's operator to add it. If you know that it supports PKCE with S256, set 'oauth.pkce' to "assume".`,
			title+"does not list S256 in 'code_challenge_methods_supported': without PKCE a login is not safe, and the MCP specification forbids it", at)
	}
	return nil
}

// equalButSlash reports whether two issuers are identical, but for one slash at the end.
func equalButSlash(a, b string) bool {
	return strings.TrimSuffix(a, "/") == strings.TrimSuffix(b, "/")
}
