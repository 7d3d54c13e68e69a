package oauth

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/access/credentials"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// assertionType is the type of a JWT that authenticates a client (RFC 7523).
const assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

// authenticate adds to a token request what shows that the client is the registered one: members of the form, or the
// header Authorization.
func authenticate(client credentials.Client, settings *config.OAuth, metadata *serverMetadata, form url.Values, header http.Header) error {
	method := client.Method
	if method == "" {
		method = chooseMethod(settings, client.Secret, metadata)
	}
	if client.ID == "" && method != config.TokenAuthNone {
		return errors.New("the client has no id; set 'oauth.clientId'")
	}
	switch method {
	case config.TokenAuthNone:
		if client.ID != "" { // an assertion may be all that an authorization server wants
			form.Set("client_id", client.ID)
		}
	case config.TokenAuthBasic, config.TokenAuthPost:
		if client.Secret == "" {
			return fmt.Errorf("the client has to authenticate by %s, and has no secret; set 'oauth.clientSecret'", method)
		}
		if method == config.TokenAuthPost {
			form.Set("client_id", client.ID)
			form.Set("client_secret", client.Secret)
			return nil
		}
		// RFC 6749, section 2.3.1: both are encoded as in a form before they are joined.
		pair := url.QueryEscape(client.ID) + ":" + url.QueryEscape(client.Secret)
		header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(pair)))
	case config.TokenAuthPrivateKey:
		assertion, err := clientAssertion(client.ID, metadata.Issuer, settings, time.Now())
		if err != nil {
			return err
		}
		form.Set("client_id", client.ID)
		form.Set("client_assertion_type", assertionType)
		form.Set("client_assertion", assertion)
	default:
		return fmt.Errorf("the client has to authenticate by '%.100s', which is not supported; set 'oauth.tokenEndpointAuthMethod'", method)
	}
	return nil
}

// chooseMethod returns how a client authenticates that was not told how: as configured, else what the authorization
// server supports, else as RFC 7591 (section 2) assumes.
func chooseMethod(settings *config.OAuth, secret string, server *serverMetadata) string {
	switch {
	case settings.TokenAuth != "":
		return settings.TokenAuth
	case secret == "" && settings.PrivateKeyFile != "":
		return config.TokenAuthPrivateKey
	case secret == "":
		return config.TokenAuthNone
	}
	for _, method := range []string{config.TokenAuthBasic, config.TokenAuthPost, config.TokenAuthNone} {
		if slices.Contains(server.TokenEndpointAuthMethods, method) {
			return method
		}
	}
	return config.TokenAuthBasic
}
