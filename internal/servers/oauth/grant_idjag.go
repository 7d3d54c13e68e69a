package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/mcp-workbench/mcp-workbench/internal/access/credentials"
	"github.com/mcp-workbench/mcp-workbench/internal/base/secret"
	"github.com/mcp-workbench/mcp-workbench/internal/base/webclient"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// exchangeError means that the identity provider refused an identity token.
type exchangeError struct{ said string }

func (e *exchangeError) Error() string {
	return fmt.Sprintf("the identity provider gave no assertion for the identity token: %s; check 'oauth.identityProvider', and renew the token in its 'idTokenFile'", e.said)
}

// exchangeIDToken gets an assertion for the authorization server from the identity provider (RFC 8693).
func (c *Credentials) exchangeIDToken(ctx context.Context, target *target, idToken string) (string, error) {
	provider := c.settings.IdentityProvider
	guard, metadata, err := c.identityProvider(ctx)
	if err != nil {
		return "", err
	}
	form := url.Values{
		"grant_type": {grantTokenExchange}, "requested_token_type": {typeIDJAG}, "audience": {target.server.Issuer},
		"subject_token": {idToken}, "subject_token_type": {typeIDToken},
	}
	target.addTo(form)
	header := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "Accept": {"application/json"}}
	if c.server.Confidential != nil {
		settings, err := c.server.Confidential.Fill(ctx)
		if err != nil {
			return "", &TemporaryError{"The secret of the client at the identity provider is missing: " + err.Error(), err}
		}
		provider = settings.IdentityProvider
	}
	client := credentials.Client{ID: provider.ClientID, Secret: provider.ClientSecret}
	if client.ID == "" && client.Secret != "" {
		return "", errors.New("the client at the identity provider has a secret and no id; set 'oauth.identityProvider.clientId'")
	}
	if err := authenticate(client, &config.OAuth{}, metadata, form, header); err != nil {
		return "", err
	}
	document, err := guard.Post(ctx, metadata.TokenEndpoint, header, []byte(form.Encode()), tokenTime)
	if err != nil {
		return "", &TemporaryError{"The identity provider gave no assertion: " + err.Error(), err}
	}
	return readExchange(document, secret.NewMasker([]string{idToken, provider.ClientSecret}))
}

// identityProvider returns the metadata of the identity provider, and the guard for its addresses, which are those of the
// configuration.
func (c *Credentials) identityProvider(ctx context.Context) (*webclient.Guard, *serverMetadata, error) {
	provider := c.settings.IdentityProvider
	address := provider.Issuer
	if address == "" {
		address = provider.TokenEndpoint
	}
	parsed, err := url.Parse(address)
	if err != nil || parsed.Host == "" {
		return nil, nil, errors.New("'oauth.identityProvider.issuer' is not an address that can be used")
	}
	guard, err := webclient.NewGuard(parsed, c.guardOptions(provider.TokenEndpoint))
	if err != nil {
		return nil, nil, err
	}
	if provider.TokenEndpoint != "" {
		return guard, &serverMetadata{Issuer: provider.Issuer, TokenEndpoint: provider.TokenEndpoint}, nil
	}
	metadata, err := newDiscoverer(guard, parsed, &config.OAuth{Grant: config.GrantIDJAG}, nil).authorizationServer(ctx, provider.Issuer)
	if err != nil {
		return nil, nil, err
	}
	if metadata == nil {
		return nil, nil, problem("Correct 'oauth.identityProvider.issuer', or set 'oauth.identityProvider.tokenEndpoint'.",
			"The identity provider %s has no metadata", shown(provider.Issuer))
	}
	return guard, metadata, nil
}

// readExchange reads the answer of an identity provider.
func readExchange(document *webclient.Document, masker *secret.Masker) (string, error) {
	var answer struct {
		tokenDocument
		Issued string `json:"issued_token_type"`
	}
	err := webclient.DecodeJSON(document.Body, &answer)
	switch {
	case isTemporaryStatus(document.Status):
		return "", &TemporaryError{"The identity provider gave no assertion: " + status(document.Status), nil}
	case err == nil && answer.Error != "":
		said := words(masker.Mask(answer.Error))
		if answer.Description != "" {
			said += " (" + words(masker.Mask(answer.Description)) + ")"
		}
		return "", &exchangeError{said}
	case err != nil || document.Status != http.StatusOK:
		return "", fmt.Errorf("the identity provider gave no assertion: it answered with %s, and not with what RFC 8693 (section 2.2) describes; check 'oauth.identityProvider'", status(document.Status))
	case !isToken(answer.Access):
		return "", errors.New("the identity provider gave no assertion: its answer has no 'access_token' that can be used")
	case answer.Issued != "" && answer.Issued != typeIDJAG:
		return "", fmt.Errorf("the identity provider gave a token of the type '%s', and not an ID-JAG; it has to support enterprise-managed authorization", words(answer.Issued))
	}
	return answer.Access, nil
}
