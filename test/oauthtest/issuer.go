package oauthtest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"sync"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
)

// Paths of an Issuer.
const (
	IssuerKeys          = "/keys"
	IssuerIntrospection = "/introspect"
)

// Issuer is an identity provider: it signs what it is told to, publishes its keys and metadata,
// and answers introspection. It can go away and come back. People sign in there if it knows a client; see SignIn.
type Issuer struct {
	address string

	mu     sync.Mutex // guards the following fields
	keys   []issuerKey
	opaque map[string]map[string]any // what introspection says of tokens
	counts map[string]int            // requests by path
	signIn *SignIn                   // nil: nobody signs in
	codes  map[string]url.Values     // requests that were agreed to, with the name of the person
	server *http.Server              // nil: it is away
	work   sync.WaitGroup
}

type issuerKey struct {
	id, algorithm string
	private       crypto.Signer
	signs         bool // it is the newest one that does
}

// StartIssuer runs an issuer until the end of the test.
func StartIssuer(t testing.TB) *Issuer {
	t.Helper()
	i, err := NewIssuer()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(i.Away)
	return i
}

// NewIssuer runs an issuer until it goes away.
func NewIssuer() (*Issuer, error) {
	address, err := mcptest.FreeAddress()
	if err != nil {
		return nil, err
	}
	i := &Issuer{address: address, opaque: make(map[string]map[string]any), counts: make(map[string]int)}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	i.keys = []issuerKey{{"rsa", "RS256", key, true}}
	if err := errors.Join(i.Publish("first"), i.Back()); err != nil {
		return nil, err
	}
	i.SignWith("first")
	return i, nil
}

// URL is the identifier of the issuer.
func (i *Issuer) URL() string { return "http://" + i.address }

// Publish publishes another key for ES256, which does not sign yet.
func (i *Issuer) Publish(id string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.keys = append(i.keys, issuerKey{id, "ES256", key, false})
	return nil
}

// SignWith signs with a published key from now on. Those of before stay published.
func (i *Issuer) SignWith(id string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for n := range i.keys {
		i.keys[n].signs = i.keys[n].signs || i.keys[n].id == id
	}
}

// Away closes the listener and all connections.
func (i *Issuer) Away() {
	i.mu.Lock()
	server := i.server
	i.server = nil
	i.mu.Unlock()
	if server != nil {
		_ = server.Close() // all that is left of it
		i.work.Wait()
	}
}

// Back listens again.
func (i *Issuer) Back() error {
	listener, err := net.Listen("tcp", i.address)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: i, ErrorLog: log.New(io.Discard, "", 0)}
	i.mu.Lock()
	i.server = server
	i.mu.Unlock()
	i.work.Go(func() { _ = server.Serve(listener) }) // until it is closed
	return nil
}

// Count is how many requests there were for a path.
func (i *Issuer) Count(path string) int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.counts[path]
}

// ServeHTTP answers for the metadata, the keys and introspection.
func (i *Issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if i.serveSignIn(w, r) {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.counts[r.URL.Path]++
	switch r.URL.Path {
	case oauthWellKnown, openidWellKnown:
		writeJSON(w, http.StatusOK, map[string]any{
			"authorization_response_iss_parameter_supported": i.signIn != nil && i.signIn.SendsIssuer,
			"issuer": i.URL(), "jwks_uri": i.URL() + IssuerKeys, "introspection_endpoint": i.URL() + IssuerIntrospection,
			"authorization_endpoint": i.URL() + "/authorize", "token_endpoint": i.URL() + "/token", "response_types_supported": []string{"code"},
		})
	case IssuerKeys:
		keys := make([]any, 0, len(i.keys))
		for _, key := range i.keys {
			keys = append(keys, key.public())
		}
		writeJSON(w, http.StatusOK, map[string]any{"keys": keys})
	case IssuerIntrospection:
		claims := maps.Clone(i.opaque[r.FormValue("token")])
		if _, _, ok := r.BasicAuth(); !ok || r.Method != http.MethodPost {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if claims == nil {
			claims = map[string]any{"active": false}
		}
		writeJSON(w, http.StatusOK, claims)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// Opaque issues a token of which introspection says these claims.
func (i *Issuer) Opaque(claims map[string]any) (token string) {
	token = "opaque-" + randomText()
	claims = maps.Clone(claims)
	claims["active"], claims["iss"] = true, i.URL()
	i.mu.Lock()
	defer i.mu.Unlock()
	i.opaque[token] = claims
	return token
}

// Revoke ends a token that Opaque issued.
func (i *Issuer) Revoke(token string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.opaque, token)
}

// Token signs claims as an access token of this issuer (RFC 9068).
func (i *Issuer) Token(claims map[string]any) string { return i.Sign(nil, claims) }

// Sign signs claims with the newest key of the header's algorithm, ES256 if it names none. What the header and the claims
// have is sent as it is, and nil leaves a usual member out.
func (i *Issuer) Sign(header, claims map[string]any) string {
	algorithm, _ := header["alg"].(string)
	var key issuerKey
	i.mu.Lock()
	for _, one := range i.keys {
		if one.signs && (one.algorithm == algorithm || algorithm == "" && one.algorithm == "ES256") {
			key = one
		}
	}
	i.mu.Unlock()
	return JWT(
		with(map[string]any{"typ": "at+jwt", "alg": key.algorithm, "kid": key.id}, header),
		with(map[string]any{"iss": i.URL()}, claims),
		key.sign,
	)
}

// JWT is a token whose signature a function makes of what is signed.
func JWT(header, claims map[string]any, sign func(signed string) []byte) string {
	signed := encodePart(header) + "." + encodePart(claims)
	return signed + "." + base64.RawURLEncoding.EncodeToString(sign(signed))
}

// PublicRSA is the public key for RS256.
func (i *Issuer) PublicRSA() crypto.PublicKey {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.keys[0].private.Public()
}

func with(usual, given map[string]any) map[string]any {
	maps.Copy(usual, given)
	maps.DeleteFunc(usual, func(_ string, value any) bool { return value == nil })
	return usual
}

func encodePart(members map[string]any) string {
	text, err := json.Marshal(members)
	if err != nil {
		panic(fmt.Sprintf("claims of a test cannot be encoded: %v", err))
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

func (k issuerKey) sign(signed string) []byte {
	sum := sha256.Sum256([]byte(signed))
	switch private := k.private.(type) {
	case *ecdsa.PrivateKey:
		r, s, err := ecdsa.Sign(rand.Reader, private, sum[:])
		if err != nil {
			panic(err) // there is no randomness
		}
		signature := make([]byte, 64)
		r.FillBytes(signature[:32])
		s.FillBytes(signature[32:])
		return signature
	case *rsa.PrivateKey:
		signature, err := rsa.SignPKCS1v15(nil, private, crypto.SHA256, sum[:])
		if err != nil {
			panic(err)
		}
		return signature
	}
	return nil
}

// public is the key as others see it (RFC 7517).
func (k issuerKey) public() map[string]any {
	encode := base64.RawURLEncoding.EncodeToString
	members := map[string]any{"kid": k.id, "alg": k.algorithm, "use": "sig"}
	switch public := k.private.Public().(type) {
	case *ecdsa.PublicKey:
		point, err := public.Bytes() // 4, x, y
		if err != nil {
			panic(err)
		}
		maps.Copy(members, map[string]any{"kty": "EC", "crv": "P-256", "x": encode(point[1:33]), "y": encode(point[33:])})
	case *rsa.PublicKey:
		maps.Copy(members, map[string]any{"kty": "RSA", "n": encode(public.N.Bytes()), "e": encode(big.NewInt(int64(public.E)).Bytes())})
	}
	return members
}
