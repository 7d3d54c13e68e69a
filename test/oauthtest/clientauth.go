package oauthtest

import (
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/url"
	"time"
)

// assertionType is that of a client that authenticates itself with a key.
const assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

// authenticate finds the client of a request to the token endpoint, and checks that it is that client, by the method
// that it registered.
func (a *authority) authenticate(r *http.Request, event *Event) (*Client, *oauthError) {
	form := r.PostForm
	id, secret := form.Get("client_id"), ""
	event.Auth = "none"
	name, password, basic := r.BasicAuth()
	switch {
	case basic:
		event.Auth = "client_secret_basic"
		if form.Has("client_secret") {
			return nil, refusal("invalid_request", "there are two ways of authentication")
		}
		var errName, errSecret error
		id, errName = url.QueryUnescape(name)
		secret, errSecret = url.QueryUnescape(password)
		if errName != nil || errSecret != nil {
			return nil, invalidClient("the id and the secret have to be encoded as in a form")
		}
	case form.Get("client_assertion") != "":
		event.Auth = "private_key_jwt"
		if id == "" {
			id = subjectOf(form.Get("client_assertion"))
		}
	case form.Get("client_secret") != "":
		event.Auth, secret = "client_secret_post", form.Get("client_secret")
	}
	event.Client = id
	client := a.client(id)
	if client == nil && id == "" && form.Get("grant_type") == assertionGrant {
		return &Client{}, nil // RFC 7523: authentication is optional
	}
	if client == nil {
		return nil, invalidClient("the client is unknown")
	}
	wanted := client.Method
	if wanted == "" {
		wanted = "none"
	}
	a.provider.mu.Lock()
	now := a.provider.clock()
	a.provider.mu.Unlock()
	switch {
	case event.Auth != wanted:
		return nil, invalidClient("the client has to authenticate itself by " + wanted)
	case secret != client.Secret && wanted != "private_key_jwt" && wanted != "none":
		return nil, invalidClient("the secret is wrong")
	case !client.SecretExpires.IsZero() && now.After(client.SecretExpires):
		return nil, invalidClient("the secret has expired")
	case wanted == "private_key_jwt":
		return client, a.checkAssertion(client, form)
	}
	return client, nil
}

func invalidClient(description string) *oauthError {
	return &oauthError{status: http.StatusUnauthorized, code: "invalid_client", description: description}
}

// subjectOf reads who an assertion is of, which is checked later.
func subjectOf(assertion string) string {
	token, err := parseJWS(assertion)
	if err != nil {
		return ""
	}
	return token.text("sub")
}

func (a *authority) checkAssertion(client *Client, form url.Values) *oauthError {
	block, _ := pem.Decode([]byte(client.Key))
	if block == nil || form.Get("client_assertion_type") != assertionType {
		return invalidClient("there is no key, or client_assertion_type is not " + assertionType)
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return invalidClient(err.Error())
	}
	token, err := parseJWS(form.Get("client_assertion"))
	if err != nil {
		return invalidClient(err.Error())
	}
	if err := token.verify(key); err != nil {
		return invalidClient(err.Error())
	}
	issuer := a.base()
	a.provider.mu.Lock()
	defer a.provider.mu.Unlock()
	id := token.text("jti")
	expires, _ := token.claims["exp"].(float64)
	switch {
	case token.text("iss") != client.ID || token.text("sub") != client.ID:
		return invalidClient("iss and sub have to be the client id")
	case !isAudience(token.claims["aud"], issuer):
		return invalidClient("aud has to be the issuer")
	case time.Unix(int64(expires), 0).Before(time.Now()):
		return invalidClient("the assertion has expired")
	case id == "" || a.provider.proofs[id]:
		return invalidClient("jti is missing, or was used before")
	}
	a.provider.proofs[id] = true
	return nil
}

// isAudience reports whether a claim "aud", a string or an array of one, is the issuer.
func isAudience(claim any, issuer string) bool {
	if all, ok := claim.([]any); ok && len(all) == 1 {
		claim = all[0]
	}
	return claim == issuer
}
