package oauthtest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Mint says which token a person has for a resource that is not this package's. The zero value is an access token of RFC 9068
// without a subject and an audience.
type Mint struct {
	Subject  string   `json:"sub"`
	Audience []string `json:"aud"`
	Scope    string   `json:"scope"`
	// Lifetime is in seconds; one of an hour by default, negative for a token that has expired, and with Early one that begins
	// so much later.
	Lifetime int `json:"lifetime"`
	Early    int `json:"early"`
	// Claims and Header replace members, or remove those that are null.
	Claims map[string]json.RawMessage `json:"claims"`
	Header map[string]json.RawMessage `json:"header"`
	// Opaque makes a token that only the provider can tell about.
	Opaque bool `json:"opaque"`
	// Wrong is how the token is wrong; "": it is not. See wrongs.
	Wrong string `json:"wrong"`
}

// wrongs are the ways in which a token can be made wrong, beyond its claims.
var wrongs = map[string]func(p *Provider, m *Mint, header, claims map[string]any){
	"unsigned":     func(_ *Provider, _ *Mint, header, _ map[string]any) { header["alg"] = "none" },
	"hmac":         func(_ *Provider, _ *Mint, header, _ map[string]any) { header["alg"] = "HS256" }, // with the public key
	"forged":       func(_ *Provider, _ *Mint, _, _ map[string]any) {},                               // with another key of the same name
	"unknown key":  func(_ *Provider, _ *Mint, header, _ map[string]any) { header["kid"] = "nobody's" },
	"cut":          func(_ *Provider, _ *Mint, _, _ map[string]any) {}, // the signature
	"other issuer": func(p *Provider, _ *Mint, _, claims map[string]any) { claims["iss"] = p.OtherIssuer() },
	"other resource": func(_ *Provider, _ *Mint, _, claims map[string]any) {
		claims["aud"] = "https://elsewhere.example.com/mcp"
	},
	"no audience": func(_ *Provider, _ *Mint, _, claims map[string]any) { delete(claims, "aud") },
	"no subject":  func(_ *Provider, _ *Mint, _, claims map[string]any) { delete(claims, "sub") },
	"no expiry":   func(_ *Provider, _ *Mint, _, claims map[string]any) { delete(claims, "exp") },
	"bound":       func(_ *Provider, _ *Mint, _, claims map[string]any) { claims["cnf"] = map[string]string{"jkt": "key"} },
	"critical": func(_ *Provider, _ *Mint, header, _ map[string]any) {
		header["crit"], header["odd"] = []string{"odd"}, true
	},
	"ID token": func(_ *Provider, _ *Mint, header, claims map[string]any) {
		header["typ"], claims["nonce"] = "JWT", "n"
	},
	"long": func(_ *Provider, _ *Mint, _, claims map[string]any) { claims["x"] = strings.Repeat("x", 17<<10) },
}

// Wrongs are the values of Mint.Wrong, in alphabetical order.
func Wrongs() []string { return slices.Sorted(maps.Keys(wrongs)) }

// Mint makes a token of the authorization server that is used now.
func (p *Provider) Mint(m Mint) (string, error) {
	wrong := wrongs[m.Wrong]
	if m.Wrong != "" && wrong == nil {
		return "", fmt.Errorf("no token is wrong by %q; there are %q", m.Wrong, Wrongs())
	}
	if m.Lifetime == 0 {
		m.Lifetime = 3600
	}
	now := p.clock()
	begin := now.Add(time.Duration(m.Early) * time.Second)
	expires := begin.Add(time.Duration(m.Lifetime) * time.Second)
	header := map[string]any{"alg": "ES256", "typ": "at+jwt", "kid": p.signingKey().id}
	claims := map[string]any{
		"iss": p.Issuer(), "sub": m.Subject, "aud": m.Audience, "scope": m.Scope, "client_id": "test", "jti": randomText(),
		"iat": now.Unix(), "nbf": begin.Unix(), "exp": expires.Unix(),
	}
	if m.Lifetime < 0 {
		claims["iat"], claims["nbf"] = expires.Unix()-60, expires.Unix()-60
	}
	if wrong != nil {
		wrong(p, &m, header, claims)
	}
	replace(header, m.Header)
	replace(claims, m.Claims)
	if m.Opaque {
		return p.opaque(claims), nil
	}
	return p.sign(m.Wrong, header, claims)
}

func replace(members map[string]any, with map[string]json.RawMessage) {
	for name, value := range with {
		members[name] = value
		if string(value) == "null" {
			delete(members, name)
		}
	}
}

// opaque makes a token that means these claims until it is revoked.
func (p *Provider) opaque(claims map[string]any) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	token := p.next("opaque")
	p.minted[token] = claims
	return token
}

func (p *Provider) sign(wrong string, header, claims map[string]any) (string, error) {
	parts := make([]string, 2)
	for i, members := range []map[string]any{header, claims} {
		text, err := json.Marshal(members)
		if err != nil {
			return "", err
		}
		parts[i] = base64.RawURLEncoding.EncodeToString(text)
	}
	signed := strings.Join(parts, ".")
	key, err := p.signingKey().private, error(nil)
	var signature []byte
	switch wrong {
	case "unsigned":
	case "hmac":
		public, encodeErr := x509.MarshalPKIXPublicKey(&key.PublicKey)
		mac := hmac.New(sha256.New, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}))
		mac.Write([]byte(signed))
		signature, err = mac.Sum(nil), encodeErr
	case "forged", "unknown key":
		if key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
			return "", err
		}
		fallthrough
	default:
		signature, err = signES256(key, signed)
	}
	if wrong == "cut" && err == nil {
		signature = signature[:len(signature)-1]
	}
	return signed + "." + base64.RawURLEncoding.EncodeToString(signature), err
}

func signES256(key *ecdsa.PrivateKey, text string) ([]byte, error) {
	sum := sha256.Sum256([]byte(text))
	r, s, err := ecdsa.Sign(rand.Reader, key, sum[:])
	if err != nil {
		return nil, err
	}
	signature := make([]byte, 64)
	r.FillBytes(signature[:32])
	s.FillBytes(signature[32:])
	return signature, nil
}

// mintingKey is the key of the authorization servers.
type mintingKey struct {
	id      string
	private *ecdsa.PrivateKey
}

func newSigningKey(id string) (*mintingKey, error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	return &mintingKey{id, private}, err
}

func (p *Provider) signingKey() *mintingKey {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.key
}

// Rotate replaces the key that tokens are signed with. Those that were signed with the former are not good any more.
func (p *Provider) Rotate() {
	next, err := newSigningKey("key-" + randomText())
	if err != nil {
		return // there is no randomness
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.key = next
}

// RevokeMinted makes the opaque tokens of a person inactive.
func (p *Provider) RevokeMinted(subject string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.DeleteFunc(p.minted, func(_ string, claims map[string]any) bool { return claims["sub"] == subject })
}

// introspected is what is said of an opaque token; nil if it is not good. Its caller holds the mutex.
func (p *Provider) introspected(token string) map[string]any {
	claims := maps.Clone(p.minted[token])
	if expires, ok := claims["exp"].(int64); claims == nil || ok && p.clock().Unix() >= expires {
		return nil
	}
	claims["active"], claims["token_type"] = true, "Bearer"
	return claims
}

// keys is the JWK set of the authorization server.
func (a *authority) keys(w http.ResponseWriter, r *http.Request) {
	a.provider.handle(w, r, &Event{Kind: Keys, Issuer: a.base()}, func(w http.ResponseWriter) int {
		key := a.provider.signingKey()
		return writeJSON(w, http.StatusOK, map[string]any{"keys": []any{publicJWK(key.id, &key.private.PublicKey)}})
	})
}

func publicJWK(id string, key *ecdsa.PublicKey) map[string]string {
	point, _ := key.Bytes() // of a curve that it knows
	coordinate := func(part []byte) string { return base64.RawURLEncoding.EncodeToString(part) }
	return map[string]string{"kty": "EC", "crv": "P-256", "alg": "ES256", "use": "sig", "kid": id, "x": coordinate(point[1:33]), "y": coordinate(point[33:])}
}

// Signer is the public key that tokens are signed with now.
func (p *Provider) Signer() crypto.PublicKey { return &p.signingKey().private.PublicKey }
