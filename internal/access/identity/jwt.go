package identity

import (
	"context"
	"encoding/base64"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const (
	maxToken = 16 << 10 // size of a token; a longer one is refused
	// ownPrefix begins the tokens of the workbench itself, which are never shown to others.
	ownPrefix = "mcpw_"
	jwtParts  = 3
)

// algorithms are the signatures that are accepted: none whose key is shared with the provider, and no unsigned tokens.
var algorithms = []jose.SignatureAlgorithm{
	jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512, jose.ES256, jose.ES384, jose.ES512, jose.EdDSA,
}

// checkForm refuses what is no token that the provider may have issued.
func checkForm(token string) *Refusal {
	switch {
	case len(token) > maxToken:
		return refuse(reasonLong) // before all else, which takes time for each byte
	case strings.HasPrefix(token, ownPrefix):
		return refuse(reasonOwn)
	case strings.Trim(token, "=") == "" || strings.ContainsFunc(token, func(r rune) bool { return !isTokenRune(r) }):
		return refuse(reasonForm)
	}
	return nil
}

// isTokenRune reports whether a bearer token may have a character (RFC 6750, section 2.1).
func isTokenRune(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-._~+/=", r)
}

func isJWT(token string) bool { return strings.Count(token, ".") == jwtParts-1 }

// jwt is a token whose signature is not verified yet.
type jwt struct {
	algorithm jose.SignatureAlgorithm
	keyID     string
	kind      string // the media type, in lower case without "application/"
	payload   object
	signed    *jose.JSONWebSignature
}

// parseJWT takes a token apart. Of the header, only the algorithm, the kind and the key's name are used: keys that it has itself,
// or says where to find, are not looked at.
func parseJWT(token string) (*jwt, *Refusal) {
	parts := strings.Split(token, ".")
	var halves [2]object
	for i := range halves {
		text, err := base64.RawURLEncoding.Strict().DecodeString(parts[i])
		if err != nil {
			return nil, refuse(reasonForm)
		}
		if halves[i], err = parseObject(text); err != nil {
			return nil, refuse(reasonForm)
		}
	}
	if _, err := base64.RawURLEncoding.Strict().DecodeString(parts[2]); err != nil {
		return nil, refuse(reasonForm)
	}
	header := halves[0]
	t := &jwt{algorithm: jose.SignatureAlgorithm(header.text("alg")), keyID: header.text("kid"), payload: halves[1]}
	t.kind = strings.TrimPrefix(strings.ToLower(header.text("typ")), "application/")
	_, critical := header["crit"]
	_, encoding := header["b64"]
	switch {
	case critical, encoding:
		return nil, refuse(reasonCritical)
	case !slices.Contains(algorithms, t.algorithm):
		return nil, refuse(reasonAlgorithm)
	}
	var err error
	if t.signed, err = jose.ParseSignedCompact(token, algorithms); err != nil {
		return nil, refuse(reasonForm)
	}
	return t, nil
}

// checkKind refuses a JWT that is no access token. One of RFC 9068 says so; others have a sign of it, and none of an ID token,
// whose audience may be the same.
func (t *jwt) checkKind() *Refusal {
	if refusal := t.payload.checkUse(); refusal != nil {
		return refusal
	}
	switch t.kind {
	case "at+jwt":
		return nil
	case "", "jwt":
		isAccess := t.payload.has("scope") || t.payload.has("scp") || t.payload.has("roles")
		if isAccess && !t.payload.has("nonce") && !t.payload.has("at_hash") {
			return nil
		}
	}
	return refuse(reasonKind)
}

// verifyAccess verifies an access token that is a JWT. What costs least is checked first.
func (v *Verifier) verifyAccess(ctx context.Context, token string) (*verified, *Refusal) {
	t, refusal := parseJWT(token)
	if refusal != nil {
		return nil, refusal
	}
	if refusal := t.checkKind(); refusal != nil {
		return nil, refusal
	}
	claims, refusal := readClaims(t.payload, v.settings.Issuer, time.Now())
	if refusal != nil {
		return nil, refusal
	}
	if refusal := v.checkAccess(claims); refusal != nil {
		return nil, refusal
	}
	key, refusal := v.checkSignature(ctx, t)
	if refusal != nil {
		return nil, refusal
	}
	return &verified{claims: claims, key: key}, nil
}

// checkAccess refuses tokens of people who cannot be named, and those that may be used at no path.
func (v *Verifier) checkAccess(claims *claims) *Refusal {
	switch {
	case !IsSubject(claims.person.Subject):
		return refuse(reasonSubject)
	case !v.resource.mayAccept(v.rules.Load().audience, claims.audience):
		return refuse(reasonAudience)
	}
	return nil
}

// checkSignature returns the key of the provider that signed a token. If none did, the keys are fetched again, which happens once a
// minute at most: there may be a new one, or another one under an old name.
func (v *Verifier) checkSignature(ctx context.Context, t *jwt) (*key, *Refusal) {
	for {
		found := false // a key with the token's name for it
		if set := v.provider.usable(); set != nil {
			for _, key := range set.candidates(t.keyID, t.algorithm) {
				found = true
				if _, err := t.signed.Verify(key.public); err == nil {
					return key, nil
				}
			}
			fetched, err := v.provider.renewFor(ctx, set)
			switch {
			case fetched:
				continue
			case found:
				return nil, refuse(reasonSignature)
			case err != nil:
				return nil, unavailable(reasonUnavailable)
			}
			return nil, refuse(reasonKey)
		}
		if v.provider.renew(ctx, false) != nil {
			return nil, unavailable(reasonUnavailable)
		}
	}
}
