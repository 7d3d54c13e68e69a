package oauth

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/base/webclient"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/test/oauthtest"
)

// Discovery, registration and tokens go through the proxy, and accept the authority of the environment, as calls do.
func TestLoginThroughAProxy(t *testing.T) {
	b := newBench(t, oauthtest.Options{Network: "proxied"}, nil)
	b.environ = []string{"HTTPS_PROXY=" + b.provider.Proxy(), "SSL_CERT_FILE=" + file(t, string(b.provider.Authority()))}
	b.restart()
	transport := webclient.NewTransport(webclient.Options{Environ: b.environ})
	defer transport.CloseIdleConnections()
	attempt := b.begin(LoginOptions{})
	if _, err := (&oauthtest.Person{Transport: transport}).Visit(attempt.Page()); err != nil {
		t.Fatal(err)
	}
	if _, err := attempt.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := b.renew(t.Context(), b.held.Load()); err != nil {
		t.Error(err)
	}
	if got, want := b.provider.Proxied(), []string{"login.example:443", "mcp.example:443"}; !slices.Equal(got, want) {
		t.Errorf("the proxy was asked for %q, want %q", got, want)
	}
	if result, err := b.Logout(t.Context()); err != nil {
		t.Errorf("got %+v, %v", result, err)
	}
	b.wantCount(oauthtest.Revoke, 2)
}

func TestLoginWithoutTheAuthority(t *testing.T) {
	b := newBench(t, oauthtest.Options{Network: "secure"}, nil)
	_, err := b.Begin(t.Context(), LoginOptions{})
	if err == nil || !strings.Contains(err.Error(), "name a file with its certificate in SSL_CERT_FILE") {
		t.Errorf("error %v", err)
	}
	if !isTemporary(err) {
		t.Errorf("%v is not temporary", err)
	}
}

// Machines use the same network.
func TestGrantThroughAProxy(t *testing.T) {
	b := newBench(t, oauthtest.Options{
		Network:       "proxied",
		ClientOptions: oauthtest.ClientOptions{Clients: []oauthtest.Client{{ID: "machine", Secret: "hidden"}, {ID: "at-idp"}}},
		TokenOptions:  oauthtest.TokenOptions{IDTokens: []string{"id.token.hidden"}},
	}, nil)
	b.environ = []string{"HTTPS_PROXY=" + b.provider.Proxy(), "SSL_CERT_FILE=" + file(t, string(b.provider.Authority()))}
	b.settings = &config.OAuth{
		Grant: config.GrantIDJAG, ClientID: "machine", ClientSecret: "hidden",
		IdentityProvider: &config.IdentityProvider{Issuer: b.provider.OtherIssuer(), ClientID: "at-idp", IDTokenFile: file(t, "id.token.hidden")},
	}
	b.restart()
	if credential, err := b.grantToken(t.Context(), nil); err != nil || credential.Access == "" {
		t.Error(err)
	}
	if got, want := b.provider.Proxied(), []string{"login.example:443", "mcp.example:443", "other.example:443"}; !slices.Equal(got, want) {
		t.Errorf("the proxy was asked for %q, want %q", got, want)
	}
}

// Neither tokens nor proofs are added to requests to other origins.
func TestProofsStayInTheOrigin(t *testing.T) {
	b := newBench(t, dpopOptions(false), nil)
	b.mustLogIn(LoginOptions{})
	for _, address := range []string{b.provider.Issuer() + "/mcp", "https" + strings.TrimPrefix(b.provider.URL(), "http"), "http://other.example/mcp"} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Authorize(t.Context(), request); err != nil || len(request.Header) != 0 {
			t.Errorf("%s got %v, %v", address, request.Header, err)
		}
	}
}
