package oauth

import (
	"bytes"
	"crypto"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

func mustParse(t *testing.T, address string) *url.URL {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func newTestDPoPKey(t *testing.T) (*dpopKey, crypto.PublicKey) {
	t.Helper()
	stored, err := newDPoPKey()
	if err != nil {
		t.Fatal(err)
	}
	key, err := parseDPoPKey(stored)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.ParsePKCS8PrivateKey(stored)
	if err != nil {
		t.Fatal(err)
	}
	return key, private.(crypto.Signer).Public()
}

func TestProof(t *testing.T) {
	key, public := newTestDPoPKey(t)
	now := time.Unix(1_700_000_000, 0)
	target := mustParse(t, "HTTPS://MCP.Example:443/a%2Fb/mcp?key=hidden#part")
	proof, err := key.proof("POST", target, "token", "nonce", now)
	if err != nil {
		t.Fatal(err)
	}
	header, got := claims(t, proof, public, jose.ES256)
	hash := sha256.Sum256([]byte("token"))
	for name, want := range map[string]any{
		"htm": "POST", "htu": "https://mcp.example/a%2Fb/mcp", "iat": 1.7e9, "nonce": "nonce", "ath": base64.RawURLEncoding.EncodeToString(hash[:]),
	} {
		if got[name] != want {
			t.Errorf("%s is %v, want %v", name, got[name], want)
		}
	}
	if header.ExtraHeaders[jose.HeaderType] != "dpop+jwt" || header.JSONWebKey == nil || !header.JSONWebKey.IsPublic() {
		t.Errorf("header %+v", header)
	}
	embedded, err := header.JSONWebKey.Thumbprint(crypto.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	if own, err := (&jose.JSONWebKey{Key: public}).Thumbprint(crypto.SHA256); err != nil || !bytes.Equal(own, embedded) {
		t.Error("another key is in the header: ", err)
	}
	if request := (&http.Request{Header: http.Header{dpopHeader: {proof}}}); sentNonce(request) != "nonce" {
		t.Errorf("the request carries the nonce %q", sentNonce(request))
	}

	// A request for a token has no hash of one, and without a nonce there is no claim.
	proof, err = key.proof("POST", mustParse(t, "https://as.example"), "", "", now)
	if err != nil {
		t.Fatal(err)
	}
	_, first := claims(t, proof, public, jose.ES256)
	if _, ok := first["ath"]; ok || first["htu"] != "https://as.example/" {
		t.Errorf("claims %v", first)
	}
	if _, ok := first["nonce"]; ok || first["jti"] == got["jti"] || first["jti"] == "" {
		t.Errorf("claims %v", first)
	}
}

// Requests are sent at the same time.
func TestProofsAtOnce(t *testing.T) {
	key, public := newTestDPoPKey(t)
	target := mustParse(t, "https://mcp.example/mcp")
	proofs := make([]string, 50)
	var making sync.WaitGroup
	for i := range proofs {
		making.Go(func() { proofs[i], _ = key.proof("POST", target, "token", "", time.Now()) })
	}
	making.Wait()
	seen := make(map[any]bool)
	for _, proof := range proofs {
		_, got := claims(t, proof, public, jose.ES256)
		seen[got["jti"]] = true
	}
	if len(seen) != len(proofs) {
		t.Errorf("%d of %d proofs are different", len(seen), len(proofs))
	}
}

func TestStoredKeyThatCannotBeUsed(t *testing.T) {
	other, err := x509.MarshalPKCS8PrivateKey(newECKey(t, elliptic.P384()))
	if err != nil {
		t.Fatal(err)
	}
	for _, stored := range [][]byte{nil, []byte("x"), other} {
		if _, err := parseDPoPKey(stored); err == nil || !strings.Contains(err.Error(), "log in again") {
			t.Errorf("error %v", err)
		}
	}
}

func TestNonces(t *testing.T) {
	var all nonces
	here := mustParse(t, "https://mcp.example/mcp")
	answer := func(nonce string) http.Header { return http.Header{nonceHeader: {nonce}} }
	if all.get(byServer, here) != "" || all.learn(byServer, here, http.Header{}) {
		t.Error("a nonce came from nowhere")
	}
	for _, bad := range []string{"", "a b", `a"b`, "a\\b", "ä", "a\x00", strings.Repeat("x", maxNonce+1)} {
		if all.learn(byServer, here, answer(bad)) {
			t.Errorf("%.20q is taken for a nonce", bad)
		}
	}
	if !all.learn(byServer, here, answer("1")) || all.learn(byServer, here, answer("1")) || !all.learn(byServer, here, answer("2")) {
		t.Error("it is not told whether a nonce is new")
	}
	if got := all.get(byServer, mustParse(t, "https://MCP.example:443/other")); got != "2" {
		t.Errorf("the origin has the nonce %q", got)
	}
	if got := all.get(byAuthorizationServer, here); got != "" {
		t.Errorf("the authorization server of the same origin has the nonce %q", got)
	}
	for i := range 10 * maxNonces {
		all.learn(byAuthorizationServer, mustParse(t, fmt.Sprintf("https://as%d.example", i)), answer("x"))
	}
	if len(all.all) > maxNonces {
		t.Errorf("%d nonces are kept", len(all.all))
	}
}

func TestNonceOfAnotherRequest(t *testing.T) {
	for _, proof := range []string{"", "x", "a.b.c", "a." + base64.RawURLEncoding.EncodeToString([]byte("[]")) + ".c"} {
		if got := sentNonce(&http.Request{Header: http.Header{dpopHeader: {proof}}}); got != "" {
			t.Errorf("%q carries the nonce %q", proof, got)
		}
	}
}
