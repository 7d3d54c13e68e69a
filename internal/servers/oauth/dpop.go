package oauth

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/mcp-workbench/mcp-workbench/internal/base/webclient"
)

const (
	dpopHeader    = "Dpop" // in the canonical form of net/http
	nonceHeader   = "Dpop-Nonce"
	dpopAlgorithm = "ES256"
	// codeNonce is the error of a request whose proof lacks the nonce that came with the error.
	codeNonce = "use_dpop_nonce"

	maxNonce  = 1024 // bytes of a nonce; a longer one is ignored
	maxNonces = 16   // nonces of one server and its authorization servers
)

// dpopKey is a private key that tokens are bound to (RFC 9449): whoever has only the token cannot use it.
type dpopKey struct{ signer jose.Signer }

// newDPoPKey makes a key, in the form in which it is stored.
func newDPoPKey() ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	return x509.MarshalPKCS8PrivateKey(key)
}

// loadDPoPKey returns a stored key; nil if there is none.
func loadDPoPKey(stored []byte) (*dpopKey, error) {
	if stored == nil {
		return nil, nil
	}
	return parseDPoPKey(stored)
}

func parseDPoPKey(stored []byte) (*dpopKey, error) {
	parsed, err := x509.ParsePKCS8PrivateKey(stored)
	key, ok := parsed.(*ecdsa.PrivateKey)
	if err != nil || !ok || key.Curve != elliptic.P256() {
		return nil, errors.New("the stored key of the login cannot be used; log in again")
	}
	options := (&jose.SignerOptions{EmbedJWK: true}).WithType("dpop+jwt")
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: dpopAlgorithm, Key: key}, options)
	if err != nil {
		return nil, err
	}
	return &dpopKey{signer}, nil
}

// proofClaims are the claims of a proof (RFC 9449, section 4.2).
type proofClaims struct {
	ID        string `json:"jti"`
	Method    string `json:"htm"`
	Address   string `json:"htu"`
	Issued    int64  `json:"iat"`
	TokenHash string `json:"ath,omitempty"`
	Nonce     string `json:"nonce,omitempty"`
}

// proof returns a proof for one request. Token is "" in a request for one; nonce is "" if the receiver gave none.
func (k *dpopKey) proof(method string, target *url.URL, token, nonce string, now time.Time) (string, error) {
	claims := proofClaims{ID: rand.Text(), Method: method, Address: proofAddress(target), Issued: now.Unix(), Nonce: nonce}
	if token != "" {
		hash := sha256.Sum256([]byte(token))
		claims.TokenHash = base64.RawURLEncoding.EncodeToString(hash[:])
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		return "", err
	}
	signed, err := k.signer.Sign(payload)
	if err != nil {
		return "", err
	}
	return signed.CompactSerialize()
}

// proofAddress returns the address of a request as a proof names it: normalized, without query and fragment.
func proofAddress(target *url.URL) string {
	path := target.EscapedPath()
	if path == "" {
		path = "/"
	}
	return webclient.Origin(target) + path
}

// sentNonce returns the nonce of the proof that a request carried.
func sentNonce(request *http.Request) string {
	parts := strings.Split(request.Header.Get(dpopHeader), ".")
	if len(parts) != 3 {
		return ""
	}
	var claims proofClaims
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || json.Unmarshal(payload, &claims) != nil {
		return ""
	}
	return claims.Nonce
}

// Who gave a nonce. An authorization server and a server may have the same origin, and nonces of their own.
const (
	byServer              = "server "
	byAuthorizationServer = "authorization server "
)

// nonces are the last nonces of the receivers of proofs. The zero value is ready for use.
type nonces struct {
	mu  sync.Mutex
	all map[string]string
}

func (n *nonces) get(by string, target *url.URL) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.all[by+webclient.Origin(target)]
}

// learn keeps the nonce of a response, and reports whether it is another one than before.
func (n *nonces) learn(by string, target *url.URL, header http.Header) bool {
	nonce := header.Get(nonceHeader)
	if !isNonce(nonce) {
		return false
	}
	place := by + webclient.Origin(target)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.all[place] == nonce {
		return false
	}
	if n.all == nil || len(n.all) >= maxNonces {
		n.all = make(map[string]string)
	}
	n.all[place] = nonce
	return true
}

// isNonce reports whether a text is a nonce as RFC 9449 (section 8.1) defines it.
func isNonce(text string) bool {
	return text != "" && len(text) <= maxNonce &&
		!strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == '"' || r == '\\' || r > '~' })
}
