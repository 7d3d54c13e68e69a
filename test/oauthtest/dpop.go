package oauthtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// proofAtTokenEndpoint checks the DPoP proof of a token request and returns the thumbprint of its key; "" without one.
func (p *Provider) proofAtTokenEndpoint(r *http.Request, address string) (key string, problem *oauthError) {
	options := p.now()
	if options.DPoP == "" || options.DPoP == "offered" && r.Header.Get("DPoP") == "" {
		return "", nil
	}
	key, stale, err := p.checkProof(r, address, "", "token")
	switch {
	case err != nil:
		return "", refusal("invalid_dpop_proof", err.Error())
	case stale:
		return "", &oauthError{status: http.StatusBadRequest, code: "use_dpop_nonce", description: "the proof needs a nonce", nonce: p.nonceOf("token")}
	}
	return key, nil
}

func (p *Provider) nonceOf(place string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return fmt.Sprintf("nonce-%s-%d", place, p.nonce)
}

// checkProof checks a proof of RFC 9449 for a request to an address. It is stale without the nonce of this place.
func (p *Provider) checkProof(r *http.Request, address, token, place string) (key string, stale bool, err error) {
	proofs := r.Header.Values("DPoP")
	if len(proofs) != 1 {
		return "", false, fmt.Errorf("there are %d proofs", len(proofs))
	}
	proof, err := parseJWS(proofs[0])
	if err != nil {
		return "", false, err
	}
	public, key, err := keyOf(proof.header["jwk"])
	if err != nil {
		return "", false, err
	}
	if err := proof.verify(public); err != nil {
		return "", false, err
	}
	issued, _ := proof.claims["iat"].(float64)
	age := time.Since(time.Unix(int64(issued), 0))
	sum := sha256.Sum256([]byte(token))
	switch {
	case proof.header["typ"] != "dpop+jwt":
		return "", false, errors.New("typ has to be dpop+jwt")
	case proof.text("htm") != r.Method || proof.text("htu") != address:
		return "", false, fmt.Errorf("the proof is for %s %s, and not for %s %s", proof.text("htm"), proof.text("htu"), r.Method, address)
	case age > 5*time.Minute || age < -5*time.Minute:
		return "", false, errors.New("the proof is too old")
	case token != "" && proof.text("ath") != base64.RawURLEncoding.EncodeToString(sum[:]):
		return "", false, errors.New("the proof is not for this token")
	}
	nonce, wanted := proof.text("nonce"), p.nonceOf(place)
	p.mu.Lock()
	defer p.mu.Unlock()
	id := proof.text("jti")
	if id == "" || p.proofs[id] {
		return "", false, errors.New("jti is missing, or was used before")
	}
	p.proofs[id] = true
	return key, p.options.Nonces && nonce != wanted, nil
}

// keyOf reads a public key of the curve P-256, and its thumbprint of RFC 7638.
func keyOf(header any) (*ecdsa.PublicKey, string, error) {
	jwk, _ := header.(map[string]any)
	if jwk["kty"] != "EC" || jwk["crv"] != "P-256" || jwk["d"] != nil {
		return nil, "", errors.New("jwk has to be a public key of P-256")
	}
	encodedX, _ := jwk["x"].(string)
	encodedY, _ := jwk["y"].(string)
	x, errX := base64.RawURLEncoding.DecodeString(encodedX)
	y, errY := base64.RawURLEncoding.DecodeString(encodedY)
	if err := errors.Join(errX, errY); err != nil {
		return nil, "", err
	}
	sum := sha256.Sum256(fmt.Appendf(nil, `{"crv":"P-256","kty":"EC","x":"%s","y":"%s"}`, encodedX, encodedY))
	public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), slices.Concat([]byte{4}, x, y))
	if err != nil {
		return nil, "", err
	}
	return public, base64.RawURLEncoding.EncodeToString(sum[:]), nil
}
