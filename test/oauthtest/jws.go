package oauthtest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
)

// jws is a signed JSON object in its compact form.
type jws struct {
	header    map[string]any
	claims    map[string]any
	signed    string
	signature []byte
}

func parseJWS(text string) (*jws, error) {
	parts := strings.Split(text, ".")
	if len(parts) != 3 {
		return nil, errors.New("a JWS has three parts")
	}
	token := &jws{signed: parts[0] + "." + parts[1]}
	for i, into := range []*map[string]any{&token.header, &token.claims} {
		raw, err := base64.RawURLEncoding.DecodeString(parts[i])
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(raw, into); err != nil {
			return nil, err
		}
	}
	var err error
	token.signature, err = base64.RawURLEncoding.DecodeString(parts[2])
	return token, err
}

// text is a claim that is a string.
func (t *jws) text(claim string) string {
	value, _ := t.claims[claim].(string)
	return value
}

var errSignature = errors.New("the signature is wrong")

// verify checks the signature by the algorithm of the header, which has to be one for that key.
func (t *jws) verify(key crypto.PublicKey) error {
	sum := sha256.Sum256([]byte(t.signed))
	good := false
	switch key := key.(type) {
	case *ecdsa.PublicKey:
		if t.header["alg"] == "ES256" && len(t.signature) == 64 {
			good = ecdsa.Verify(key, sum[:], new(big.Int).SetBytes(t.signature[:32]), new(big.Int).SetBytes(t.signature[32:]))
		}
	case *rsa.PublicKey:
		switch t.header["alg"] {
		case "RS256":
			good = rsa.VerifyPKCS1v15(key, crypto.SHA256, sum[:], t.signature) == nil
		case "PS256":
			good = rsa.VerifyPSS(key, crypto.SHA256, sum[:], t.signature, nil) == nil
		}
	case ed25519.PublicKey:
		good = t.header["alg"] == "EdDSA" && ed25519.Verify(key, []byte(t.signed), t.signature)
	}
	if !good {
		return fmt.Errorf("%w, or %v is not for this key", errSignature, t.header["alg"])
	}
	return nil
}

// CheckJWT checks the signature of a JWT with the key of its header's kid, and returns its claims.
func CheckJWT(text string, key func(kid string) crypto.PublicKey) (claims map[string]any, err error) {
	token, err := parseJWS(text)
	if err != nil {
		return nil, err
	}
	kid, _ := token.header["kid"].(string)
	return token.claims, token.verify(key(kid))
}
