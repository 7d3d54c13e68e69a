package identity

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

func TestIDToken(t *testing.T) {
	b := newBench(t, nil)
	id := func(head, changed map[string]any) string {
		claims := b.claims(changes{"aud": clientID, "nonce": "n", "scope": nil, "client_id": nil, "nbf": nil})
		for name, value := range changed {
			if claims[name] = value; value == nil {
				delete(claims, name)
			}
		}
		all := header(changes{"typ": "JWT"})
		for name, value := range head {
			all[name] = value
		}
		return sign(rsaKey, all, claims)
	}
	for name, test := range map[string]struct{ token, nonce, reason string }{
		"good":                  {id(nil, nil), "n", ""},
		"azp":                   {id(nil, changes{"azp": clientID, "at_hash": "x", "typ": "ID"}), "n", ""},
		"two audiences":         {id(nil, changes{"aud": []string{"x", clientID}, "azp": clientID}), "n", ""},
		"two, no azp":           {id(nil, changes{"aud": []string{"x", clientID}}), "n", reasonAudience},
		"other azp":             {id(nil, changes{"azp": "x"}), "n", reasonAudience},
		"other client":          {id(nil, changes{"aud": "x"}), "n", reasonAudience},
		"for us, but no client": {id(nil, changes{"aud": resourceURL}), "n", reasonAudience},
		"other nonce":           {id(nil, nil), "m", reasonNonce},
		"no nonce":              {id(nil, changes{"nonce": nil}), "n", reasonNonce},
		"no nonce expected":     {id(nil, changes{"nonce": nil}), "", reasonNonce},
		"other issuer":          {id(nil, changes{"iss": "https://evil.example"}), "n", reasonIssuer},
		"expired":               {id(nil, changes{"exp": time.Now().Add(-time.Hour).Unix()}), "n", reasonExpired},
		"no expiry":             {id(nil, changes{"exp": nil}), "n", reasonNoExpiry},
		"no subject":            {id(nil, changes{"sub": nil}), "n", reasonSubject},
		"an access token":       {id(changes{"typ": "at+jwt"}, nil), "n", reasonKind},
		"Cognito's access":      {id(nil, changes{"token_use": "access"}), "n", reasonKind},
		"unknown key":           {id(changes{"kid": "k9"}, nil), "n", reasonKey},
		"opaque":                {"opaque", "n", reasonForm},
		"own":                   {"mcpw_x", "n", reasonOwn},
		"changed":               {id(nil, nil) + "A", "n", reasonSignature},
	} {
		issuer, subject, name2, err := b.IDToken(t.Context(), test.token, test.nonce)
		got := ""
		if err != nil {
			got = err.Error()
		} else if issuer != b.idp.issuer || subject != "alice" || name2 != "Alice" {
			t.Errorf("%s: got %q, %q, %q", name, issuer, subject, name2)
		}
		if got != test.reason {
			t.Errorf("%s: refused for %q, want %q", name, got, test.reason)
		}
	}
	none := newBench(t, func(s *config.HTTPOAuth) { s.ClientID = "" })
	if _, _, _, err := none.IDToken(t.Context(), id(nil, changes{"aud": ""}), "n"); err == nil {
		t.Error("accepted without a client")
	}
}

func TestProvider(t *testing.T) {
	b := newBench(t, nil)
	authorize, token, sends, err := b.Provider(t.Context())
	if err != nil || authorize != b.idp.issuer+"/authorize" || token != b.idp.issuer+"/token" || !sends {
		t.Error(authorize, token, sends, err)
	}
	for _, address := range []any{nil, "", "javascript:alert(1)", "http://10.0.0.1/"} {
		c := newBench(t, nil)
		c.idp.change(func(p *idp) { p.metadata = changes{"token_endpoint": address} })
		if _, _, _, err := c.Provider(t.Context()); err == nil || !strings.Contains(err.Error(), "token_endpoint") {
			t.Errorf("%v: %v", address, err)
		}
	}
	response, err := b.Client().Get(b.idp.issuer + keysAt)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatal(response, err)
	}
	response.Body.Close()
	if response, err := b.Client().Get("http://10.0.0.1/"); err == nil {
		response.Body.Close()
		t.Error("a private address was contacted")
	} else if !strings.Contains(err.Error(), "was not contacted") {
		t.Error(err)
	}
}

func TestCheck(t *testing.T) {
	b := newBench(t, nil)
	b.idp.change(func(p *idp) { p.keys = append(p.keys, jwk("small", smallRSA, nil), jwk("ec", ecKey, nil)) })
	titles := ""
	for _, step := range b.Check(t.Context()) {
		if step.Err != nil || step.Detail == "" {
			t.Errorf("%+v", step)
		}
		titles += step.Title + ": " + strings.ReplaceAll(step.Detail, b.idp.issuer, "ISSUER") + "\n"
	}
	const want = `clients are told: resource https://mcp.example.com/mcp, metadata at https://mcp.example.com/.well-known/oauth-protected-resource/mcp, scopes mcp:dev mcp:ops mcp:all
metadata of the identity provider: ISSUER/.well-known/oauth-authorization-server
endpoints for the page /connect: ISSUER/authorize, ISSUER/token
client of the page /connect: 'work bench', not tried: needs a person, so that a wrong 'clientSecret' shows at the first login
keys: ISSUER/keys: 2 for RS256, RS384, RS512, PS256, PS384, PS512, ES256; 1 ignored (it is an RSA key with 1024 bits; 2048 to 8192 are accepted)
introspection: ISSUER/introspect
toolboxes: 3 values of the claim 'scope'
`
	if titles != want {
		t.Errorf("got\n%s", titles)
	}
	for name, test := range map[string]struct {
		change func(*idp)
		title  string
		err    string
	}{
		"another issuer": {func(p *idp) { p.metadata = changes{"issuer": "x"} }, "metadata of the identity provider", "not of"},
		"away":           {func(p *idp) { p.away = true }, "metadata of the identity provider", "cannot be fetched"},
		"no keys":        {func(p *idp) { p.keys = nil }, "keys", "has no key"},
		"no jwks_uri":    {func(p *idp) { p.metadata = changes{"jwks_uri": nil} }, "keys", "jwks_uri"},
		"no endpoint":    {func(p *idp) { p.metadata = changes{"introspection_endpoint": nil} }, "introspection", "introspection_endpoint"},
		"no token":       {func(p *idp) { p.metadata = changes{"token_endpoint": nil} }, "endpoints for the page /connect", "token_endpoint"},
		"refused": {func(p *idp) {
			p.replace[introspectAt] = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }
		}, "introspection", "refuses the client"},
		"accepts all": {func(p *idp) {
			p.replace[introspectAt] = func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(`{"active":true}`)) }
		}, "introspection", "does not call"},
		"metadata broken": {func(p *idp) {
			p.replace[metadataAt] = func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(`{`)) }
		}, "metadata of the identity provider", "not valid JSON"},
	} {
		c := newBench(t, nil)
		c.idp.change(test.change)
		found := false
		for _, step := range c.Check(t.Context()) {
			if step.Err != nil && step.Title == test.title {
				found = strings.Contains(step.Err.Error(), test.err) && step.Hint != ""
				if !found {
					t.Errorf("%s: %+v", name, step)
				}
			}
		}
		if !found {
			t.Errorf("%s: the step did not fail", name)
		}
	}
	empty := newBench(t, func(s *config.HTTPOAuth) {
		s.Toolboxes, s.Introspection, s.ClientID, s.JWKSURI = nil, nil, "", s.Issuer+keysAt
	})
	empty.idp.change(func(p *idp) { p.replace[metadataAt] = http.NotFound })
	steps := empty.Check(t.Context())
	if len(steps) != 4 || steps[0].Err != nil || steps[1].Err != nil || steps[2].Err != nil || steps[3].Err == nil || steps[3].Hint == "" {
		t.Errorf("got %+v", steps)
	}
}
