package oauthtest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// What an issuer signs is verified with the keys that it publishes, also when it was away.
func TestIssuer(t *testing.T) {
	issuer := StartIssuer(t)
	for name, token := range map[string]string{
		"ES256": issuer.Token(map[string]any{"sub": "a"}),
		"RS256": issuer.Sign(map[string]any{"alg": "RS256"}, map[string]any{"sub": "a"}),
	} {
		claims, err := CheckJWT(token, func(kid string) crypto.PublicKey { return published(t, issuer, kid) })
		if err != nil || claims["sub"] != "a" || claims["iss"] != issuer.URL() {
			t.Errorf("%s: %v %v", name, claims, err)
		}
	}
	issuer.Away()
	if response, err := http.Get(issuer.URL() + IssuerKeys); err == nil {
		response.Body.Close()
		t.Error("the issuer is away, and answers")
	}
	if err := issuer.Publish("second"); err != nil {
		t.Fatal(err)
	}
	if err := issuer.Back(); err != nil {
		t.Fatal(err)
	}
	if _, err := CheckJWT(issuer.Token(nil), func(kid string) crypto.PublicKey { return published(t, issuer, kid) }); err != nil {
		t.Errorf("the key of before does not sign any more: %v", err)
	}
	issuer.SignWith("second")
	if _, err := CheckJWT(issuer.Token(nil), func(string) crypto.PublicKey { return published(t, issuer, "second") }); err != nil {
		t.Errorf("the new key does not sign: %v", err)
	}
	if n := issuer.Count(IssuerKeys); n != 4 {
		t.Errorf("the keys were asked for %d times", n)
	}
}

func TestIssuerIsAsked(t *testing.T) {
	issuer := StartIssuer(t)
	token := issuer.Opaque(map[string]any{"sub": "a"})
	if told := ask(t, issuer, token); told["active"] != true || told["sub"] != "a" {
		t.Errorf("a token is %v", told)
	}
	issuer.Revoke(token)
	if told := ask(t, issuer, token); told["active"] != false || len(told) != 1 {
		t.Errorf("a revoked token is %v", told)
	}
}

func ask(t *testing.T, issuer *Issuer, token string) (told map[string]any) {
	t.Helper()
	request, err := http.NewRequest(http.MethodPost, issuer.URL()+IssuerIntrospection, strings.NewReader(url.Values{"token": {token}}.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.SetBasicAuth("a", "b")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(&told); err != nil {
		t.Fatal(err)
	}
	return told
}

// published is a key as others read it.
func published(t *testing.T, issuer *Issuer, kid string) crypto.PublicKey {
	t.Helper()
	response, err := http.Get(issuer.URL() + IssuerKeys)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var set struct {
		Keys []struct{ Kid, Kty, N, E, X, Y string }
	}
	if err := json.NewDecoder(response.Body).Decode(&set); err != nil {
		t.Fatal(err)
	}
	decode := func(text string) []byte {
		raw, err := base64.RawURLEncoding.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	for _, key := range set.Keys {
		switch {
		case key.Kid != kid:
		case key.Kty == "RSA":
			return &rsa.PublicKey{N: new(big.Int).SetBytes(decode(key.N)), E: int(new(big.Int).SetBytes(decode(key.E)).Int64())}
		default:
			key, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), slices.Concat([]byte{4}, decode(key.X), decode(key.Y)))
			if err != nil {
				t.Fatal(err)
			}
			return key
		}
	}
	return nil
}
