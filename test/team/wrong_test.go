//go:build linux

package team

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/test/oauthtest"
)

// This file tries tokens that are wrong in every known way, and some that look odd and are right.

// newClub is a team with a provider in this process, which signs whatever it is told to.
func newClub(t *testing.T, oauth, http map[string]any) (*team, *oauthtest.Issuer) {
	t.Helper()
	m, issuer := newTeam(t), oauthtest.StartIssuer(t)
	settings := map[string]any{"issuer": issuer.URL()}
	maps.Copy(settings, oauth)
	m.run(settings, http)
	return m, issuer
}

// claims are those of a good token of a developer, but for changes; nil leaves one out.
func (m *team) claims(changes map[string]any) map[string]any {
	now := time.Now().Unix()
	claims := map[string]any{
		"sub": "subject-of-dora", "aud": m.base + "/mcp", "client_id": "a-client", "jti": rand.Text(), "iat": now, "exp": now + 3600, "groups": []string{"developers"},
	}
	maps.Copy(claims, changes)
	return claims
}

type members = map[string]any

// TestWrongTokens: each gets 401 with a challenge that says where to go, and nothing of the token.
func TestWrongTokens(t *testing.T) {
	m, issuer := newClub(t, nil, nil)
	attacker := startCanary(t) // where tokens say that their keys are
	now := time.Now().Unix()
	plain := members{"typ": "JWT"}
	tests := []struct {
		name  string
		token string
	}{
		{"no signature", oauthtest.JWT(members{"alg": "none", "typ": "at+jwt"}, m.issued(issuer, nil), func(string) []byte { return nil })},
		{"no signature, written otherwise", oauthtest.JWT(members{"alg": "nOnE", "typ": "at+jwt", "kid": "first"}, m.issued(issuer, nil), func(string) []byte { return nil })},
		{"a public key as a secret", oauthtest.JWT(members{"alg": "HS256", "typ": "at+jwt", "kid": "rsa"}, m.issued(issuer, nil), secretOf(t, issuer))},
		{"another key of the same name", forge(t, members{"alg": "ES256", "typ": "at+jwt", "kid": "first"}, m.issued(issuer, nil))},
		{"a key of the token itself", forge(t, members{"alg": "ES256", "typ": "at+jwt", "kid": "mine", "jku": attacker.url + "/keys", "x5u": attacker.url + "/chain"}, m.issued(issuer, nil))},
		{"a key that is unknown", issuer.Sign(members{"kid": "unknown"}, m.claims(nil))},
		{"a key of another algorithm", issuer.Sign(members{"kid": "rsa"}, m.claims(nil))},
		{"something critical", issuer.Sign(members{"crit": []string{"exp"}}, m.claims(nil))},
		{"changed after it was signed", changed(issuer.Token(m.claims(members{"groups": []string{"visitors"}})), m.issued(issuer, nil))},
		{"another issuer", issuer.Token(m.claims(members{"iss": "https://login.example.com"}))},
		{"an issuer with a slash", issuer.Token(m.claims(members{"iss": issuer.URL() + "/"}))},
		{"no issuer", issuer.Token(m.claims(members{"iss": nil}))},
		{"for another resource", issuer.Token(m.claims(members{"aud": "https://other.example.com/mcp"}))},
		{"for a path below", issuer.Token(m.claims(members{"aud": m.base + "/mcp/dev"}))},
		{"for a path with the same beginning", issuer.Token(m.claims(members{"aud": m.base + "/mc"}))},
		{"for nothing", issuer.Token(m.claims(members{"aud": nil}))},
		{"for an empty list", issuer.Token(m.claims(members{"aud": []string{}}))},
		{"expired", issuer.Token(m.claims(members{"exp": now - 120}))},
		{"without an end", issuer.Token(m.claims(members{"exp": nil}))},
		{"with an end that is a text", issuer.Token(m.claims(members{"exp": "tomorrow"}))},
		{"not yet", issuer.Token(m.claims(members{"nbf": now + 600}))},
		{"of nobody", issuer.Token(m.claims(members{"sub": nil}))},
		{"of an empty name", issuer.Token(m.claims(members{"sub": ""}))},
		{"an ID token", issuer.Sign(plain, m.claims(members{"nonce": "n", "at_hash": "h", "client_id": nil}))},
		{"an ID token with a scope", issuer.Sign(plain, m.claims(members{"nonce": "n", "scope": "openid"}))},
		{"an ID token without a nonce", issuer.Sign(plain, m.claims(members{"client_id": nil}))},
		{"of another kind", issuer.Sign(members{"typ": "logout+jwt"}, m.claims(nil))},
		{"bound to a key", issuer.Token(m.claims(members{"cnf": members{"jkt": "abc"}}))},
		{"bound to a certificate", issuer.Token(m.claims(members{"cnf": members{"x5t#S256": "abc"}}))},
		{"too long", issuer.Token(m.claims(members{"padding": strings.Repeat("a", 16<<10)}))},
		{"encrypted", issuer.Token(m.claims(nil)) + ".a.b"},
		{"three parts of nothing", "a.b.c"},
		{"two dots", ".."},
		{"opaque, which nobody can be asked about", "opaque-token-of-another-kind"},
		{"one of our own that is unknown", "mcpw_" + rand.Text()},
	}
	for i, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			from := fmt.Sprintf("127.0.1.%d", i+1) // each from another address: wrong ones of one are limited
			got := m.send(request{token: test.token, message: initialize, from: from})
			m.checkRefusal(t, got, `error="invalid_token"`)
			for _, text := range []string{test.token, "dora", "developers", "eyJ"} {
				if len(text) > 3 && (strings.Contains(got.challenge, text) || strings.Contains(got.body, text)) {
					t.Errorf("the refusal has %q of the token: %+v", text, got)
				}
			}
		})
	}
	if seen := attacker.recorded(); seen != "" {
		t.Errorf("a token had the workbench ask %s", seen)
	}
	// All that did not change what a good one may.
	if got := m.send(request{token: issuer.Token(m.claims(nil)), message: initialize}); got.status != http.StatusOK {
		t.Errorf("a good token: %+v", got)
	}
}

// checkRefusal checks a 401 and its challenge.
func (m *team) checkRefusal(t *testing.T, got reply, problem string) {
	t.Helper()
	where := `resource_metadata="` + m.base + `/.well-known/oauth-protected-resource/mcp"`
	if got.status != http.StatusUnauthorized || !strings.HasPrefix(got.challenge, "Bearer ") || !strings.Contains(got.challenge, where) || !strings.Contains(got.challenge, problem) {
		t.Errorf("%d %s: %s", got.status, got.challenge, got.body)
	}
	if problem == "" && strings.Contains(got.challenge, "error") {
		t.Errorf("no token came, and the challenge is %s", got.challenge)
	}
	if !strings.Contains(got.body, `"error"`) || !strings.Contains(got.body, `"hint"`) || got.session != "" {
		t.Errorf("the body is %s", got.body)
	}
}

// TestWrongRequests are tokens where they do not belong.
func TestWrongRequests(t *testing.T) {
	m, issuer := newClub(t, nil, nil)
	good := issuer.Token(m.claims(nil))
	for i, test := range []struct {
		name    string
		request request
		problem string
	}{
		{"none", request{}, ""},
		{"two", request{header: http.Header{"Authorization": {"Bearer " + good, "Bearer " + good}}}, ""},
		{"in the address", request{path: "/mcp?access_token=" + good}, ""},
		{"in the body", request{header: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}, message: "access_token=" + good}, ""},
		{"in a cookie", request{header: http.Header{"Cookie": {"access_token=" + good}}}, ""},
		{"of another scheme", request{header: http.Header{"Authorization": {"Basic " + good}}}, ""},
		{"as a proof", request{header: http.Header{"Authorization": {"DPoP " + good}}}, ""},
		{"empty", request{header: http.Header{"Authorization": {"Bearer "}}}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			sent := test.request
			sent.from = fmt.Sprintf("127.0.2.%d", i+1)
			if sent.message == "" {
				sent.message = initialize
			}
			got := m.send(sent)
			where := `resource_metadata="` + m.base + `/.well-known/oauth-protected-resource/mcp"`
			if got.status != http.StatusUnauthorized || !strings.Contains(got.challenge, where) || strings.Contains(got.body, good) {
				t.Errorf("%+v", got)
			}
			if test.name == "none" {
				m.checkRefusal(t, got, "")
			}
		})
	}
}

// TestRightTokens look odd, and are right.
func TestRightTokens(t *testing.T) {
	m, issuer := newClub(t, nil, nil)
	now := time.Now().Unix()
	for _, test := range []struct {
		name, path, token string
	}{
		{"ES256", "/mcp", issuer.Token(m.claims(nil))},
		{"RS256", "/mcp", issuer.Sign(members{"alg": "RS256"}, m.claims(nil))},
		{"the media type in full", "/mcp", issuer.Sign(members{"typ": "application/at+jwt"}, m.claims(nil))},
		{"a provider from before RFC 9068", "/mcp", issuer.Sign(members{"typ": "JWT"}, m.claims(members{"scope": "openid tools"}))},
		{"a list of scopes", "/mcp", issuer.Sign(members{"typ": "JWT"}, m.claims(members{"scp": []string{"tools"}}))},
		{"several audiences", "/mcp", issuer.Token(m.claims(members{"aud": []string{"https://other.example.com", m.base + "/mcp"}}))},
		{"for the whole origin", "/mcp", issuer.Token(m.claims(members{"aud": m.base}))},
		{"for the toolbox", "/mcp/dev", issuer.Token(m.claims(members{"aud": m.base + "/mcp/dev"}))},
		{"for the path above", "/mcp/dev", issuer.Token(m.claims(nil))},
		{"a clock that is 30 s behind", "/mcp", issuer.Token(m.claims(members{"exp": now - 30}))},
		{"a clock that is 30 s ahead", "/mcp", issuer.Token(m.claims(members{"nbf": now + 30, "iat": now + 30}))},
		{"one group as a text", "/mcp", issuer.Token(m.claims(members{"groups": "developers"}))},
	} {
		if got := m.send(request{path: test.path, token: test.token, message: initialize}); got.status != http.StatusOK || got.session == "" {
			t.Errorf("%s: %+v", test.name, got)
		}
	}
}

// TestUnmapped are people whom the table gives nothing: 403, and which scopes would do where those are what the table has.
func TestUnmapped(t *testing.T) {
	m, issuer := newClub(t, nil, nil)
	for name, value := range map[string]any{
		"none": nil, "an empty list": []string{}, "others": []string{"visitors", "Developers", "developers ", "*"}, "a number": 7, "an object": members{"developers": true},
	} {
		got := m.send(request{token: issuer.Token(m.claims(members{"groups": value})), message: initialize})
		if got.status != http.StatusForbidden || !strings.HasPrefix(got.challenge, `Bearer resource_metadata="`) || strings.Contains(got.challenge, "error") {
			t.Errorf("groups are %s: %+v", name, got)
		}
	}
}

// TestScopes: without a claim, the table is about scopes, and the challenge names them.
func TestScopes(t *testing.T) {
	m, issuer := newClub(t, members{"claim": "scope", "toolboxes": members{"mcp:dev": []string{"dev"}, "mcp:all": []string{"*"}}}, nil)
	with := func(changes members) reply {
		return m.send(request{token: issuer.Token(m.claims(changes)), message: initialize})
	}
	if got := m.send(request{message: initialize}); !strings.Contains(got.challenge, `scope="`) || !strings.Contains(got.challenge, "mcp:dev") || !strings.Contains(got.challenge, "mcp:all") {
		t.Errorf("without a token: %+v", got)
	}
	if got := with(members{"scope": "openid mcp:dev"}); got.status != http.StatusOK {
		t.Errorf("with a scope: %+v", got)
	}
	if got := with(members{"scp": []string{"mcp:all"}}); got.status != http.StatusOK {
		t.Errorf("with a list of scopes: %+v", got)
	}
	got := with(members{"scope": "openid mcp:dev2"})
	if got.status != http.StatusForbidden || !strings.Contains(got.challenge, `error="insufficient_scope"`) || !strings.Contains(got.challenge, "mcp:dev") || !strings.Contains(got.challenge, "mcp:all") {
		t.Errorf("with another scope: %+v", got)
	}
}

// TestOpaqueTokens are asked about; one that ended before it was first seen never counts.
func TestOpaqueTokens(t *testing.T) {
	m, issuer := newTeam(t), oauthtest.StartIssuer(t)
	m.run(members{"issuer": issuer.URL(), "introspection": members{"endpoint": issuer.URL() + oauthtest.IssuerIntrospection, "clientId": "workbench", "clientSecret": "a-secret"}}, nil)
	good, revoked := issuer.Opaque(m.claims(nil)), issuer.Opaque(m.claims(nil))
	issuer.Revoke(revoked)
	for range 3 {
		if got := m.send(request{token: good, message: initialize}); got.status != http.StatusOK {
			t.Errorf("a good one: %+v", got)
		}
	}
	if n := issuer.Count(oauthtest.IssuerIntrospection); n != 1 {
		t.Errorf("the provider was asked %d times about one token", n)
	}
	for name, token := range map[string]string{
		"revoked": revoked, "unknown": "opaque-of-nobody", "for another resource": issuer.Opaque(m.claims(members{"aud": "https://other.example.com"})),
		"for nothing": issuer.Opaque(m.claims(members{"aud": nil})), "of nobody": issuer.Opaque(m.claims(members{"sub": nil})),
		"expired": issuer.Opaque(m.claims(members{"exp": time.Now().Unix() - 120})),
	} {
		got := m.send(request{token: token, message: initialize})
		if name == "" || got.status != http.StatusUnauthorized || !strings.Contains(got.challenge, `error="invalid_token"`) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	// While nobody can be asked, a known one counts, and an unknown one does not.
	issuer.Away()
	if got := m.send(request{token: good, message: initialize}); got.status != http.StatusOK {
		t.Errorf("a known token while the provider is away: %+v", got)
	}
	if got := m.send(request{token: "opaque-of-somebody", message: initialize}); got.status != http.StatusServiceUnavailable {
		t.Errorf("an unknown token while the provider is away: %+v", got)
	}
	if err := issuer.Back(); err != nil {
		t.Fatal(err)
	}
}

// TestProviderAway: who is known stays, with tokens that were never seen, too.
func TestProviderAway(t *testing.T) {
	m, issuer := newClub(t, nil, nil)
	session := m.send(request{token: issuer.Token(m.claims(nil)), message: initialize}).session
	issuer.Away()
	ping := `{"jsonrpc":"2.0","id":5,"method":"ping"}`
	if got := m.send(request{token: issuer.Token(m.claims(nil)), session: session, message: ping}); got.status != http.StatusOK {
		t.Errorf("the session goes on with the next token: %+v", got)
	}
	if got := m.send(request{token: issuer.Token(m.claims(members{"sub": "another"})), session: session, message: ping}); got.status != http.StatusNotFound {
		t.Errorf("the session with the token of another person: %+v", got)
	}
	if got := m.send(request{token: issuer.Token(m.claims(members{"exp": time.Now().Unix() - 120})), message: initialize}); got.status != http.StatusUnauthorized {
		t.Errorf("an expired token: %+v", got)
	}
	if got := m.send(request{method: http.MethodGet, path: "/readyz"}); got.status != http.StatusOK {
		t.Errorf("/readyz while the keys are known: %+v", got)
	}
}

// issued are the claims of a good token with its issuer, for tokens that the issuer does not sign.
func (m *team) issued(issuer *oauthtest.Issuer, changes members) members {
	claims := m.claims(changes)
	claims["iss"] = issuer.URL()
	return claims
}

// forge signs with a key that nobody knows, and offers it in the header.
func forge(t *testing.T, header, claims members) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	point, err := key.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	header["jwk"] = members{"kty": "EC", "crv": "P-256", "x": base64.RawURLEncoding.EncodeToString(point[1:33]), "y": base64.RawURLEncoding.EncodeToString(point[33:])}
	return oauthtest.JWT(header, claims, func(signed string) []byte {
		sum := sha256.Sum256([]byte(signed))
		r, s, err := ecdsa.Sign(rand.Reader, key, sum[:])
		if err != nil {
			t.Fatal(err)
		}
		return append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
	})
}

// secretOf signs with the public key as if it were a secret.
func secretOf(t *testing.T, issuer *oauthtest.Issuer) func(string) []byte {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(issuer.PublicRSA())
	if err != nil {
		t.Fatal(err)
	}
	secret := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	return func(signed string) []byte {
		mac := hmac.New(sha256.New, secret)
		mac.Write([]byte(signed))
		return mac.Sum(nil)
	}
}

// changed puts other claims between the header and the signature of a token.
func changed(token string, claims members) string {
	parts := strings.Split(token, ".")
	other := strings.Split(oauthtest.JWT(members{}, claims, func(string) []byte { return nil }), ".")
	return parts[0] + "." + other[1] + "." + parts[2]
}
