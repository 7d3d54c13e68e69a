package oauth

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/access/credentials"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/test/oauthtest"
)

func dpopOptions(nonces bool) oauthtest.Options {
	return oauthtest.Options{TokenOptions: oauthtest.TokenOptions{DPoP: "required", Nonces: nonces}}
}

// statuses are those of the requests to the MCP server.
func (b *bench) statuses() (all []int) {
	for _, event := range b.provider.Events(oauthtest.MCP) {
		all = append(all, event.Status)
	}
	return all
}

// Tokens are bound to a key of the login, which outlives the process.
func TestBoundTokens(t *testing.T) {
	b := newBench(t, dpopOptions(false), nil)
	b.mustLogIn(LoginOptions{})
	before := len(b.statuses())
	b.mustCall("echo")
	b.mustCall("echo")
	kept := b.kept()
	if kept.Kind != kindDPoP || kept.DPoPKey == nil || b.provider.Last(oauthtest.MCP).Auth != "DPoP" {
		t.Errorf("the login is of the kind %s, sent as %s", kept.Kind, b.provider.Last(oauthtest.MCP).Auth)
	}
	if got := b.statuses()[before:]; !slices.Equal(got, []int{200, 200}) {
		t.Errorf("the calls got %v", got)
	}
	b.restart()
	b.provider.ExpireAccess()
	b.mustCall("echo")
	b.wantCount(oauthtest.Refresh, 1)
	if again := b.kept(); string(again.DPoPKey) != string(kept.DPoPKey) || again.Access == kept.Access {
		t.Error("the refresh changed the key, or not the token")
	}
	b.mustLogIn(LoginOptions{})
	if again := b.kept(); string(again.DPoPKey) == string(kept.DPoPKey) {
		t.Error("another login has the same key")
	}
}

// Both the authorization server and the server may ask for a nonce, and replace it at any time.
func TestNoncesOfBothServers(t *testing.T) {
	b := newBench(t, dpopOptions(true), nil)
	b.mustLogIn(LoginOptions{})
	b.wantCount(oauthtest.Token, 2)
	before := len(b.statuses())
	b.mustCall("echo")
	b.mustCall("echo")
	if got := b.statuses()[before:]; !slices.Equal(got, []int{401, 200, 200}) {
		t.Errorf("the calls got %v", got)
	}
	b.provider.NewNonce()
	b.mustCall("echo")
	b.wantCount(oauthtest.Refresh, 0)
	b.provider.NewNonce()
	b.provider.ExpireAccess()
	b.mustCall("echo")
	b.wantCount(oauthtest.Refresh, 2)
}

// A server may send the next nonce with any response.
func TestNonceOfAnAcceptedRequest(t *testing.T) {
	b := newBench(t, dpopOptions(false), nil)
	b.mustLogIn(LoginOptions{})
	request := b.authorized()
	if _, err := b.Accept(t.Context(), request, &http.Response{StatusCode: http.StatusOK, Request: request, Header: http.Header{"Dpop-Nonce": {"next"}}}); err != nil {
		t.Fatal(err)
	}
	if got := sentNonce(b.authorized()); got != "next" {
		t.Errorf("the nonce is %q", got)
	}
}

// A login that goes on with more scopes keeps its key: the refresh token may stay the same.
func TestKeyOfAStepUp(t *testing.T) {
	options := dpopOptions(false)
	options.ToolScopes = map[string]string{"echo": "admin"}
	b := newBench(t, options, nil)
	b.mustLogIn(LoginOptions{})
	before := b.kept().DPoPKey
	b.refusedCall("echo")
	b.mustLogIn(LoginOptions{})
	b.mustCall("echo")
	if string(b.kept().DPoPKey) != string(before) {
		t.Error("the key was replaced")
	}
}

// A nonce that is refused again and again does not lead to an endless loop.
func TestEndlessNonces(t *testing.T) {
	b := newBench(t, dpopOptions(true), nil)
	b.mustLogIn(LoginOptions{})
	b.provider.Change(func(o *oauthtest.Options) {
		o.Faults = map[string]oauthtest.Fault{
			oauthtest.MCP:     {Status: 401, Header: map[string]string{"WWW-Authenticate": `DPoP error="use_dpop_nonce"`, "DPoP-Nonce": "same"}},
			oauthtest.Refresh: {Status: 400, Body: `{"error":"use_dpop_nonce"}`, Header: map[string]string{"DPoP-Nonce": "same"}},
		}
	})
	if _, err := b.call("echo"); err == nil {
		t.Error("no error")
	}
	if n := b.provider.Count(oauthtest.Refresh); n > 2 {
		t.Errorf("%d refreshes", n)
	}
}

func TestBoundTokensOfMachines(t *testing.T) {
	options := dpopOptions(true)
	options.Clients = []oauthtest.Client{{ID: "machine", Secret: "hidden"}}
	b := newBench(t, options, &config.OAuth{Grant: config.GrantClientCredentials, ClientID: "machine", ClientSecret: "hidden"})
	b.mustCall("echo")
	if got := b.statuses(); !slices.Equal(got, []int{401, 401, 200}) {
		t.Errorf("the call got %v", got)
	}
	b.provider.ExpireAccess()
	b.mustCall("echo")
	b.wantCount(oauthtest.Machine, 3) // the first one twice, because of the nonce
}

// An authorization server that binds no tokens gets no proof, and costs none.
func TestPlainTokens(t *testing.T) {
	b := newBench(t, oauthtest.Options{}, nil)
	b.mustLogIn(LoginOptions{})
	if b.kept().DPoPKey != nil || b.kept().Kind != kindBearer {
		t.Errorf("the login is bound to a key")
	}
	request := b.authorized()
	if _, ok := request.Header[dpopHeader]; ok {
		t.Error("there is a proof")
	}
}

// authorized returns a request as it would be sent.
func (b *bench) authorized() *http.Request {
	b.t.Helper()
	request, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, b.provider.URL(), http.NoBody)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := b.Authorize(b.t.Context(), request); err != nil {
		b.t.Fatal(err)
	}
	return request
}

// answered lets the credentials look at a response.
func (b *bench) answered(request *http.Request, status int, challenges ...string) bool {
	b.t.Helper()
	again, err := b.Accept(b.t.Context(), request, &http.Response{StatusCode: status, Request: request, Header: http.Header{"Www-Authenticate": challenges}})
	if err != nil {
		b.t.Fatal(err)
	}
	return again
}

func schemeOf(request *http.Request) string {
	scheme, _, _ := strings.Cut(request.Header.Get("Authorization"), " ")
	if hasProof(request) {
		scheme += " with proof"
	}
	return scheme
}

// Some servers do not know proofs, although their authorization server does.
func TestServerWithoutProofs(t *testing.T) {
	b := newBench(t, dpopOptions(false), nil)
	b.mustLogIn(LoginOptions{})
	first := b.authorized()
	if got := schemeOf(first); got != "DPoP with proof" {
		t.Fatalf("the token is sent as %s", got)
	}
	if !b.answered(first, 401, `Bearer error="invalid_token"`) {
		t.Fatal("it is not sent again")
	}
	second := b.authorized()
	if got := schemeOf(second); got != "Bearer" || sent(second) != sent(first) {
		t.Fatalf("the token is sent as %s", got)
	}
	b.answered(second, 200)
	if got := schemeOf(b.authorized()); got != "Bearer" {
		t.Errorf("then it is sent as %s", got)
	}
	b.wantCount(oauthtest.Refresh, 0)
	// It learns of proofs later.
	if !b.answered(b.authorized(), 401, `Bearer realm="x"`, `DPoP algs="ES256"`) || schemeOf(b.authorized()) != "DPoP with proof" {
		t.Error("the proofs are not sent")
	}
}

// A server that does know proofs, and refuses the token for another reason, gets it with a proof after the refresh.
func TestProofsAfterARefusal(t *testing.T) {
	b := newBench(t, dpopOptions(false), nil)
	b.mustLogIn(LoginOptions{})
	for _, want := range []string{"DPoP with proof", "Bearer", "DPoP with proof"} {
		request := b.authorized()
		if got := schemeOf(request); got != want {
			t.Errorf("the token is sent as %s, want %s", got, want)
		}
		if want == "Bearer" {
			b.provider.ExpireAccess()
		}
		b.answered(request, 401, "Bearer")
	}
	b.wantCount(oauthtest.Refresh, 1)

	// One that has accepted a proof is not asked without.
	b.restart()
	b.answered(b.authorized(), 200)
	if b.answered(b.authorized(), 401, "Bearer"); schemeOf(b.authorized()) != "DPoP with proof" {
		t.Error("the token is sent without a proof")
	}
}

func TestBoundTokenWithoutAKey(t *testing.T) {
	b := newBench(t, oauthtest.Options{TokenOptions: oauthtest.TokenOptions{TokenType: "DPoP"}}, nil)
	if _, err := b.logIn(LoginOptions{}); err == nil || !strings.Contains(err.Error(), "sent a token that is bound to a key, although it was shown none") {
		t.Errorf("error %v", err)
	}
	// A login in the store whose key is lost.
	b = newBench(t, dpopOptions(false), nil)
	b.mustLogIn(LoginOptions{})
	b.edit(func(c *credentials.Credential) { c.DPoPKey = nil })
	b.restart()
	if _, err := b.call("echo"); err == nil || !strings.Contains(err.Error(), "the stored key of the login cannot be used; log in again") {
		t.Errorf("error %v", err)
	}
}
