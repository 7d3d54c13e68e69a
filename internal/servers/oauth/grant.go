package oauth

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/access/credentials"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// The names of grants and token types in requests.
const (
	grantClientCredentials = "client_credentials"
	grantJWTBearer         = "urn:ietf:params:oauth:grant-type:jwt-bearer"
	grantTokenExchange     = "urn:ietf:params:oauth:grant-type:token-exchange"
	typeIDJAG              = "urn:ietf:params:oauth:token-type:id-jag"
	typeIDToken            = "urn:ietf:params:oauth:token-type:id_token"
)

// refusedTime is how long a grant is not tried again that was refused with the same input.
const refusedTime = time.Minute

// machine gets tokens without a person. Its tokens are kept in memory: they can be had again at any time.
type machine struct {
	mu      sync.Mutex
	dpopKey []byte // nil: none was needed yet
	issuer  string // that the secrets of the configuration were sent to; "": none yet
	refused error  // the last refusal
	input   string // what was refused
	until   time.Time
}

// grantToken gets a token by the grant of the configuration. It is the renewer of such a server, and so runs once at a
// time.
func (c *Credentials) grantToken(ctx context.Context, _ *holding) (*credentials.Credential, error) {
	assertion, err := ownAssertion(&c.settings)
	if err != nil {
		return nil, err
	}
	input, err := c.grantInput(ctx, assertion)
	if err != nil {
		return nil, err
	}
	if err := c.machine.isRefused(input, time.Now()); err != nil {
		return nil, err
	}
	credential, err := c.requestGrant(ctx, assertion)
	if refusal, ok := errors.AsType[*refusalError](err); ok {
		err = c.explainRefusal(refusal)
		c.machine.remember(input, err, time.Now())
	}
	if _, ok := errors.AsType[*exchangeError](err); ok {
		c.machine.remember(input, err, time.Now())
	}
	return credential, err
}

// grantInput returns what a refusal is about: the assertion, and secrets that the configuration names, since another value may
// not be refused.
func (c *Credentials) grantInput(ctx context.Context, assertion string) (string, error) {
	if c.server.Confidential == nil {
		return assertion, nil
	}
	settings, err := c.server.Confidential.Fill(ctx)
	if err != nil {
		return "", &TemporaryError{"The secret of the client is missing: " + err.Error(), err}
	}
	input := assertion + "\x00" + settings.ClientSecret
	if provider := settings.IdentityProvider; provider != nil {
		input += "\x00" + provider.ClientSecret
	}
	return input, nil
}

// ownAssertion reads what the configuration has to show: the assertion or the identity token; "" if the client is enough.
func ownAssertion(settings *config.OAuth) (string, error) {
	switch settings.Grant {
	case config.GrantClientCredentials:
		return "", nil
	case config.GrantJWTBearer:
		return readAssertion(settings.AssertionFile, "oauth.assertionFile")
	case config.GrantIDJAG:
		if settings.IdentityProvider == nil {
			return "", errors.New("the grant id-jag needs the identity provider; set 'oauth.identityProvider'")
		}
		return readAssertion(settings.IdentityProvider.IDTokenFile, "oauth.identityProvider.idTokenFile")
	}
	return "", fmt.Errorf("the grant '%.100s' is not supported; correct 'oauth.grant'", settings.Grant)
}

// ownClient is the client of the configuration.
func ownClient(settings *config.OAuth) credentials.Client {
	return credentials.Client{ID: settings.ClientID, Secret: settings.ClientSecret, Source: credentials.SourceConfigured}
}

// grantStep says whether the configuration has what its grant needs. Nothing is sent.
func grantStep(settings *config.OAuth, server *serverMetadata) Step {
	const title = "grant"
	if _, err := ownAssertion(settings); err != nil {
		return failed(title, err)
	}
	client := ownClient(settings)
	if err := authenticate(client, settings, server, make(url.Values), make(http.Header)); err != nil {
		return failed(title, err)
	}
	return Step{Title: title, Detail: settings.Grant + ", client authentication " + chooseMethod(settings, client.Secret, server) + ": no login by a person is needed"}
}

// requestGrant finds the authorization server and asks it for a token.
func (c *Credentials) requestGrant(ctx context.Context, assertion string) (*credentials.Credential, error) {
	bound, err := c.boundIssuer()
	if err != nil {
		return nil, err
	}
	held := func(issuer string) bool { return issuer == bound }
	target, err := newDiscoverer(c.guard, c.address, &c.settings, nil).find(ctx, c.lastChallenge(), held, false)
	if err != nil {
		return nil, err
	}
	if err := c.bind(ctx, bound, target.server.Issuer); err != nil {
		return nil, err
	}
	form := url.Values{"grant_type": {grantJWTBearer}}
	switch c.settings.Grant {
	case config.GrantClientCredentials:
		form.Set("grant_type", grantClientCredentials)
	case config.GrantIDJAG:
		if assertion, err = c.exchangeIDToken(ctx, target, assertion); err != nil {
			return nil, err
		}
	}
	if assertion != "" {
		form.Set("assertion", assertion)
	}
	target.addTo(form)
	client := ownClient(&c.settings)
	stored, err := c.machine.key(target.server)
	if err != nil {
		return nil, err
	}
	key, err := loadDPoPKey(stored)
	if err != nil {
		return nil, err
	}
	answer, err := c.requestToken(ctx, target.server, &client, key, form)
	if err != nil {
		return nil, err
	}
	metadata, err := json.Marshal(target.server)
	if err != nil {
		return nil, err
	}
	credential := &credentials.Credential{
		Key:      credentials.Key{Server: c.canonical, Issuer: target.server.Issuer, Account: c.settings.Account},
		Resource: target.resource, Metadata: metadata, Client: withoutConfigured(client), Scopes: target.scopes, Granted: target.scopes, DPoPKey: stored,
	}
	answer.update(credential)
	return credential, nil
}

// addTo adds to a token request what the token is for.
func (t *target) addTo(form url.Values) {
	if t.resource != "" {
		form.Set("resource", t.resource)
	}
	if len(t.scopes) > 0 {
		form.Set("scope", strings.Join(t.scopes, " "))
	}
}

// key returns the key that tokens are bound to, if the authorization server supports it; nil otherwise.
func (m *machine) key(server *serverMetadata) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !server.bindsTokens() {
		return nil, nil
	}
	if m.dpopKey == nil {
		key, err := newDPoPKey()
		if err != nil {
			return nil, err
		}
		m.dpopKey = key
	}
	return m.dpopKey, nil
}

// isRefused returns the refusal of the same input, which is not sent again for a while.
func (m *machine) isRefused(input string, now time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.refused == nil || m.input != fingerprint(input) || !now.Before(m.until) {
		return nil
	}
	return m.refused
}

func (m *machine) remember(input string, refused error, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refused, m.input, m.until = refused, fingerprint(input), now.Add(refusedTime)
}

func fingerprint(text string) string {
	sum := sha256.Sum256([]byte(text))
	return string(sum[:])
}

// explainRefusal says which setting is wrong.
func (c *Credentials) explainRefusal(refusal *refusalError) error {
	check := "'oauth.clientId' and 'oauth.clientSecret'"
	switch {
	case refusal.isClient() && c.settings.PrivateKeyFile != "":
		check = "'oauth.clientId', 'oauth.privateKeyFile' and 'oauth.keyId'"
	case refusal.isClient():
	case refusal.isGrant() && c.settings.Grant == config.GrantJWTBearer:
		check = "the JWT of 'oauth.assertionFile': its issuer, audience and expiry"
	case refusal.isGrant() && c.settings.Grant == config.GrantIDJAG:
		check = "'oauth.identityProvider', whose users and clients the authorization server has to know"
	case refusal.code == "invalid_scope":
		check = "'oauth.scopes'"
	case refusal.code == "invalid_target":
		check = "'oauth.resource'"
	default:
		check = "whether the client may use the grant '" + c.settings.Grant + "' ('oauth.grant')"
	}
	return fmt.Errorf("the authorization server gave no token for the grant '%s': %s; check %s", c.settings.Grant, refusal.words(), check)
}

// readAssertion reads the JWT in a file, which another program may replace at any time.
func readAssertion(file, setting string) (string, error) {
	if file == "" {
		return "", fmt.Errorf("the file with the JWT is missing; set '%s'", setting)
	}
	wrong := func(what string) error {
		return fmt.Errorf("the JWT of '%s' (%s) cannot be used: %s", setting, file, what)
	}
	content, err := readSmall(file)
	if err != nil {
		return "", wrong(err.Error())
	}
	text := strings.TrimSpace(string(content))
	switch {
	case text == "":
		return "", wrong("the file is empty")
	case !isToken(text):
		return "", wrong("the file has to hold the JWT and nothing else")
	}
	if until := expiryOf(text); !until.IsZero() && !time.Now().Before(until) {
		return "", wrong("it expired at " + until.UTC().Format(time.RFC3339) + "; the file has to be renewed")
	}
	return text, nil
}

// expiryOf returns when a JWT expires, for a better error than that of whoever checks it; zero if it does not say.
func expiryOf(text string) time.Time {
	parts := strings.Split(text, ".")
	if len(parts) != 3 {
		return time.Time{}
	}
	payload, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	if err != nil {
		return time.Time{}
	}
	var claims struct {
		Expires float64 `json:"exp"`
	}
	if json.Unmarshal(payload, &claims) != nil || !(claims.Expires > 0) || claims.Expires > 1<<40 {
		return time.Time{}
	}
	return time.Unix(int64(claims.Expires), 0)
}
