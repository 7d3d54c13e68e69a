package oauth

import (
	"crypto/elliptic"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/test/oauthtest"
)

const testAssertion = "workload.assertion.hidden"

// failedCall returns the error of a call that a person cannot help with.
func (b *bench) failedCall() error {
	b.t.Helper()
	_, err := b.call("echo")
	if err == nil {
		b.t.Fatal("no error")
	}
	if _, ok := errors.AsType[*downstream.LoginError](err); ok {
		b.t.Errorf("a person has to log in: %v", err)
	}
	b.refuseSecrets("the error", err.Error())
	if strings.Contains(strings.ReplaceAll(err.Error(), "[hidden]", ""), "hidden") {
		b.t.Errorf("the error has a secret: %v", err)
	}
	return err
}

func (b *bench) wantCount(kind string, want int) {
	b.t.Helper()
	if n := b.provider.Count(kind); n != want {
		b.t.Errorf("%d requests of the kind %s, want %d", n, kind, want)
	}
}

// A client gets its token by itself, with each way to authenticate.
func TestClientCredentials(t *testing.T) {
	key := newECKey(t, elliptic.P256())
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	publicPEM := string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}))
	for _, test := range []struct {
		method   string
		settings config.OAuth
	}{
		{"client_secret_basic", config.OAuth{ClientSecret: "hidden:&+"}},
		{"client_secret_post", config.OAuth{ClientSecret: "hidden:&+", TokenAuth: "client_secret_post"}},
		{"private_key_jwt", config.OAuth{PrivateKeyFile: keyFile(t, key, "PRIVATE KEY")}},
	} {
		t.Run(test.method, func(t *testing.T) {
			settings := test.settings
			settings.Grant, settings.ClientID = config.GrantClientCredentials, "machine"
			client := oauthtest.Client{ID: "machine", Secret: settings.ClientSecret, Method: test.method, Key: publicPEM}
			b := newBench(t, oauthtest.Options{
				ClientOptions:   oauthtest.ClientOptions{Clients: []oauthtest.Client{client}, NoRegistration: true},
				ResourceOptions: oauthtest.ResourceOptions{ChallengeScope: "read write"},
			}, &settings)
			b.mustCall("echo")
			b.mustCall("echo")
			b.wantCount(oauthtest.Machine, 1)
			b.wantCount(oauthtest.Authorize, 0)
			b.wantCount(oauthtest.Register, 0)
			got := b.provider.Last(oauthtest.Machine)
			if got.Grant != "client_credentials" || got.Client != "machine" || got.Form.Get("scope") != "read write" || got.Form.Get("resource") != b.provider.URL() || got.Auth != test.method {
				t.Errorf("the request is %+v", got)
			}
			b.provider.ExpireAccess()
			b.mustCall("echo")
			b.wantCount(oauthtest.Machine, 2)
			if kept := b.kept(); kept.Access != "" || kept.Refresh != "" || kept.Client.Secret != "" {
				t.Errorf("the store has secrets of %v", kept)
			}
			if state := b.Status().State; state != StateMachine {
				t.Errorf("the state is %s", state)
			}
		})
	}
}

func machineBench(t *testing.T, change func(*oauthtest.Options)) *bench {
	t.Helper()
	options := oauthtest.Options{ClientOptions: oauthtest.ClientOptions{Clients: []oauthtest.Client{{ID: "machine", Secret: "hidden"}}}}
	if change != nil {
		change(&options)
	}
	return newBench(t, options, &config.OAuth{Grant: config.GrantClientCredentials, ClientID: "machine", ClientSecret: "hidden"})
}

func TestMachinesShareARequest(t *testing.T) {
	b := machineBench(t, nil)
	var calling sync.WaitGroup
	for range 20 {
		calling.Go(func() {
			if status, err := b.call("echo"); err != nil || status == http.StatusUnauthorized {
				t.Errorf("got %d, %v", status, err)
			}
		})
	}
	calling.Wait()
	b.wantCount(oauthtest.Machine, 1)
}

// A token is replaced before the server refuses it.
func TestMachineTokenThatExpires(t *testing.T) {
	b := machineBench(t, nil)
	b.mustCall("echo")
	before := b.provider.Count(oauthtest.MCP)
	expired := *b.held.Load().credential
	expired.Expires = time.Now().Add(-time.Second)
	b.Credentials.mu.Lock()
	b.hold(&expired)
	b.Credentials.mu.Unlock()
	b.mustCall("echo")
	b.wantCount(oauthtest.Machine, 2)
	b.wantCount(oauthtest.MCP, before+1)
}

// A server that needs no token gets none.
func TestMachineWithoutNeed(t *testing.T) {
	b := machineBench(t, func(o *oauthtest.Options) { o.TokenFor = []string{} })
	b.mustCall("echo")
	b.wantCount(oauthtest.Machine, 0)
}

func TestMachineThatIsRefused(t *testing.T) {
	for _, test := range []struct {
		fault, want string
		settings    config.OAuth
	}{
		{"invalid_client", "the authorization server gave no token for the grant 'client_credentials': invalid_client (said); check 'oauth.clientId' and 'oauth.clientSecret'", config.OAuth{}},
		{"invalid_client", "check 'oauth.clientId', 'oauth.privateKeyFile' and 'oauth.keyId'", config.OAuth{PrivateKeyFile: keyFile(t, newECKey(t, elliptic.P256()), "PRIVATE KEY")}},
		{"invalid_scope", "invalid_scope (said); check 'oauth.scopes'", config.OAuth{}},
		{"invalid_target", "check 'oauth.resource'", config.OAuth{}},
		{"unauthorized_client", "check whether the client may use the grant 'client_credentials' ('oauth.grant')", config.OAuth{}},
		{"invalid_grant", "the grant 'jwt-bearer': invalid_grant (said); check the JWT of 'oauth.assertionFile': its issuer, audience and expiry", config.OAuth{Grant: config.GrantJWTBearer, AssertionFile: file(t, testAssertion)}},
	} {
		settings := test.settings
		if settings.Grant == "" {
			settings.Grant, settings.ClientID, settings.ClientSecret = config.GrantClientCredentials, "machine", "hidden"
		}
		b := newBench(t, oauthtest.Options{Faults: map[string]oauthtest.Fault{
			oauthtest.Machine: {Status: http.StatusBadRequest, Body: fmt.Sprintf(`{"error":%q,"error_description":"said"}`, test.fault)},
		}}, &settings)
		if err := b.failedCall(); !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want %q", test.fault, err, test.want)
		}
		b.failedCall() // the same input is not sent again
		b.wantCount(oauthtest.Machine, 1)
		b.wantCount(oauthtest.Authorize, 0)
	}
}

func TestRefusalIsForgotten(t *testing.T) {
	var m machine
	now := time.Now()
	m.remember("input", errors.New("refused"), now)
	for input, want := range map[string]bool{"input": true, "other": false, "": false} {
		if got := m.isRefused(input, now.Add(refusedTime-1)) != nil; got != want {
			t.Errorf("%q is refused: %v", input, got)
		}
	}
	if err := m.isRefused("input", now.Add(refusedTime)); err != nil {
		t.Errorf("it is still refused: %v", err)
	}
}

// A fault of the authorization server says nothing about the settings: the next call tries again.
func TestMachineAtAFaultyServer(t *testing.T) {
	b := machineBench(t, func(o *oauthtest.Options) {
		o.Faults = map[string]oauthtest.Fault{oauthtest.Machine: {Status: http.StatusBadGateway, Type: "text/html", Body: "<h1>hidden", Times: 1}}
	})
	if err := b.failedCall(); !isTemporary(err) {
		t.Errorf("error %v, want a temporary one", err)
	}
	b.mustCall("echo")
	b.wantCount(oauthtest.Machine, 2)
}

func TestTokenOfAMachineThatIsRefused(t *testing.T) {
	b := machineBench(t, func(o *oauthtest.Options) {
		o.Faults = map[string]oauthtest.Fault{oauthtest.MCP: {Status: http.StatusUnauthorized, Header: map[string]string{"WWW-Authenticate": "Bearer"}}}
	})
	if err := b.failedCall(); err.Error() != "the server refuses the token that the authorization server gave for the grant 'client_credentials'" {
		t.Errorf("error %v", err)
	}
	b.wantCount(oauthtest.Machine, 1)
}

func TestMachineWithTooFewScopes(t *testing.T) {
	b := machineBench(t, func(o *oauthtest.Options) { o.ToolScopes = map[string]string{"echo": "admin"} })
	if err := b.failedCall(); !strings.Contains(err.Error(), "the server asks for the scope admin; add them to 'oauth.scopes'") {
		t.Errorf("error %v", err)
	}
}

// The assertion is read again for each token, and one that was refused is not sent twice.
func TestJWTBearer(t *testing.T) {
	name := file(t, testAssertion+"\n")
	settings := &config.OAuth{Grant: config.GrantJWTBearer, AssertionFile: name, ClientID: "workload"}
	b := newBench(t, oauthtest.Options{
		ClientOptions: oauthtest.ClientOptions{Clients: []oauthtest.Client{{ID: "workload"}}, NoRegistration: true},
		TokenOptions:  oauthtest.TokenOptions{Assertions: []string{testAssertion, "the.next.one"}},
	}, settings)
	b.mustCall("echo")
	got := b.provider.Last(oauthtest.Machine)
	if got.Grant != grantJWTBearer || got.Form.Get("assertion") != oauthtest.Hash(testAssertion) || got.Form.Get("client_id") != "workload" || got.Form.Get("resource") != b.provider.URL() {
		t.Errorf("the request is %+v", got)
	}
	replace := func(text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		b.provider.ExpireAccess()
	}
	replace("the.next.one")
	b.mustCall("echo")
	b.wantCount(oauthtest.Machine, 2)
	replace("another.that.hidden")
	b.failedCall()
	b.failedCall()
	b.wantCount(oauthtest.Machine, 3)
	replace(testAssertion)
	b.mustCall("echo")
	b.wantCount(oauthtest.Machine, 4)
	b.wantCount(oauthtest.Authorize, 0)
}

func TestAssertionThatCannotBeUsed(t *testing.T) {
	payload := base64.RawURLEncoding.EncodeToString([]byte(`{"exp":1000000000,"sub":"hidden"}`))
	missing := filepath.Join(t.TempDir(), "missing")
	for file, want := range map[string]string{
		"":                             "the file with the JWT is missing; set 'oauth.assertionFile'",
		missing:                        "the JWT of 'oauth.assertionFile' (" + missing + ") cannot be used: ",
		file(t, " \n"):                 "cannot be used: the file is empty",
		file(t, "hidden hidden"):       "the file has to hold the JWT and nothing else",
		file(t, "e30."+payload+".abc"): "it expired at 2001-09-09T01:46:40Z; the file has to be renewed",
		t.TempDir():                    "it is not a file",
	} {
		b := newBench(t, oauthtest.Options{}, &config.OAuth{Grant: config.GrantJWTBearer, AssertionFile: file})
		if err := b.failedCall(); !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", file, err, want)
		}
		b.wantCount(oauthtest.Machine, 0)
	}
}

func idjagBench(t *testing.T, change func(*config.IdentityProvider, *oauthtest.Provider)) *bench {
	t.Helper()
	b := newBench(t, oauthtest.Options{
		ClientOptions: oauthtest.ClientOptions{Clients: []oauthtest.Client{{ID: "machine", Secret: "hidden"}, {ID: "at-idp"}}, NoRegistration: true},
		TokenOptions:  oauthtest.TokenOptions{IDTokens: []string{"id.token.hidden"}},
	}, nil)
	provider := &config.IdentityProvider{Issuer: b.provider.OtherIssuer(), ClientID: "at-idp", IDTokenFile: file(t, "id.token.hidden")}
	if change != nil {
		change(provider, b.provider)
	}
	b.settings = &config.OAuth{Grant: config.GrantIDJAG, ClientID: "machine", ClientSecret: "hidden", IdentityProvider: provider}
	b.restart()
	return b
}

// An identity token becomes an assertion at the identity provider, and that a token.
func TestIDJAG(t *testing.T) {
	for name, change := range map[string]func(*config.IdentityProvider, *oauthtest.Provider){
		"by its metadata": nil,
		"by its endpoint": func(i *config.IdentityProvider, _ *oauthtest.Provider) {
			i.TokenEndpoint, i.Issuer = i.Issuer+"/token", ""
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := idjagBench(t, change)
			b.mustCall("echo")
			exchange, grant := b.provider.Last(oauthtest.Exchange), b.provider.Last(oauthtest.Machine)
			if exchange.Issuer != b.provider.OtherIssuer() || exchange.Client != "at-idp" || exchange.Form.Get("audience") != b.provider.Issuer() || exchange.Form.Get("resource") != b.provider.URL() {
				t.Errorf("the exchange is %+v", exchange)
			}
			if grant.Issuer != b.provider.Issuer() || grant.Client != "machine" || grant.Auth != "client_secret_basic" || grant.Grant != grantJWTBearer {
				t.Errorf("the grant is %+v", grant)
			}
			b.provider.ExpireAccess()
			b.mustCall("echo")
			b.wantCount(oauthtest.Exchange, 2)
		})
	}
}

func TestIDJAGThatIsRefused(t *testing.T) {
	answer := func(status int, kind, body string) func(*config.IdentityProvider, *oauthtest.Provider) {
		return func(_ *config.IdentityProvider, p *oauthtest.Provider) {
			p.Change(func(o *oauthtest.Options) {
				o.Faults = map[string]oauthtest.Fault{oauthtest.Exchange: {Status: status, Type: kind, Body: body}}
			})
		}
	}
	for _, test := range []struct {
		name, want string
		change     func(*config.IdentityProvider, *oauthtest.Provider)
		sent       int
	}{
		{"token", "the identity provider gave no assertion for the identity token: invalid_grant", func(i *config.IdentityProvider, _ *oauthtest.Provider) { i.IDTokenFile = file(t, "other.token.hidden") }, 1},
		{"quoted", "access_denied (the token", answer(400, "", `{"error":"access_denied","error_description":"the token id.token.hidden is bad"}`), 1},
		{"page", "it answered with HTTP status 200 (OK), and not with what RFC 8693 (section 2.2) describes; check 'oauth.identityProvider'", answer(200, "text/html", "<p>hidden"), 2},
		{"fault", "The identity provider gave no assertion: HTTP status 503 (Service Unavailable); try again later", answer(503, "text/html", "<p>hidden"), 2},
		{"empty", "its answer has no 'access_token' that can be used", answer(200, "", `{}`), 2},
		{"type", "gave a token of the type 'urn:x', and not an ID-JAG", answer(200, "", `{"access_token":"x","issued_token_type":"urn:x"}`), 2},
		{"nowhere", "has no metadata", func(i *config.IdentityProvider, _ *oauthtest.Provider) { i.Issuer += "/nowhere" }, 0},
		{"secret", "the client at the identity provider has a secret and no id; set 'oauth.identityProvider.clientId'", func(i *config.IdentityProvider, _ *oauthtest.Provider) { i.ClientID, i.ClientSecret = "", "x" }, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := idjagBench(t, test.change)
			if err := b.failedCall(); !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
			b.failedCall()
			b.wantCount(oauthtest.Exchange, test.sent)
			b.wantCount(oauthtest.Machine, 0)
		})
	}
}

// An identity provider may be in a network that the server is not in: its address is that of the configuration.
func TestGuardOfTheIdentityProvider(t *testing.T) {
	b := newBench(t, oauthtest.Options{}, &config.OAuth{Grant: config.GrantIDJAG, IdentityProvider: &config.IdentityProvider{TokenEndpoint: "https://10.1.2.3/token"}})
	guard, _, err := b.identityProvider(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := guard.Check("https://10.1.2.3/token"); err != nil {
		t.Error(err)
	}
	if err := b.guard.Check("https://10.1.2.3/token"); err == nil {
		t.Error("the server leads there as well")
	}
}

func TestMachinesNeedNoLogin(t *testing.T) {
	b := machineBench(t, nil)
	if _, err := b.Begin(t.Context(), LoginOptions{}); err == nil || !strings.Contains(err.Error(), "client_credentials") {
		t.Errorf("error %v", err)
	}
}

// doctor says whether the settings of a grant are complete, and asks for no token.
func TestExaminedGrant(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	for _, test := range []struct {
		settings config.OAuth
		want     string
	}{
		{config.OAuth{Grant: config.GrantClientCredentials, ClientID: "id", ClientSecret: "hidden"}, "client_credentials, client authentication client_secret_basic: no login by a person is needed"},
		{config.OAuth{Grant: config.GrantClientCredentials, ClientID: "id", PrivateKeyFile: missing}, "the private key of 'oauth.privateKeyFile' (" + missing + ") cannot be used: "},
		{config.OAuth{Grant: config.GrantJWTBearer, AssertionFile: missing}, "the JWT of 'oauth.assertionFile' (" + missing + ") cannot be used: "},
		{config.OAuth{Grant: config.GrantJWTBearer, AssertionFile: file(t, testAssertion)}, "jwt-bearer, client authentication none"},
		{config.OAuth{Grant: config.GrantIDJAG}, "the grant id-jag needs the identity provider; set 'oauth.identityProvider'"},
		{config.OAuth{Grant: "other"}, "the grant 'other' is not supported; correct 'oauth.grant'"},
	} {
		b := newBench(t, oauthtest.Options{}, &test.settings)
		steps := b.Examine(t.Context())
		last := steps[len(steps)-1]
		if text := fmt.Sprint(last.Detail, last.Err); last.Title != "grant" || !strings.Contains(text, test.want) {
			t.Errorf("%s: the last step is %+v, want %q", test.settings.Grant, last, test.want)
		}
		b.wantCount(oauthtest.Machine, 0)
	}
}
