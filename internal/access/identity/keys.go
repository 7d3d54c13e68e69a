package identity

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/mcp-workbench/mcp-workbench/internal/base/webclient"
)

const (
	maxKeys    = 100            // keys of a provider; a document with more is refused
	minRSABits = 2048           // size of an RSA key; a smaller one is ignored
	maxRSABits = 8192           // likewise, a larger one: each token would cost much time
	maxTried   = 4              // keys that a token without the name of one is tried with; with more of them it is refused
	staleTime  = 24 * time.Hour // that keys are used while the provider cannot be asked; then no token is accepted
)

// key is a public key of the provider.
type key struct {
	id        string
	algorithm jose.SignatureAlgorithm // "": all that fit the key
	public    any
	print     [sha256.Size]byte // of the key itself
}

// keySet is what the provider had at one time. It is never changed.
type keySet struct {
	keys    []*key
	prints  map[[sha256.Size]byte]bool
	fetched time.Time
	ignored []string // why keys are not used
}

// parseKeys reads a document of keys (RFC 7517). Keys that cannot be used are ignored, and a document without any other is an error.
func parseKeys(text []byte, now time.Time) (*keySet, error) {
	var document struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := webclient.DecodeJSON(text, &document); err != nil {
		return nil, err
	}
	if len(document.Keys) > maxKeys {
		return nil, fmt.Errorf("it has more than %d keys", maxKeys)
	}
	set := &keySet{fetched: now, prints: make(map[[sha256.Size]byte]bool)}
	for _, raw := range document.Keys {
		key, err := parseKey(raw)
		if err != nil {
			set.ignored = append(set.ignored, err.Error())
			continue
		}
		set.keys = append(set.keys, key)
		set.prints[key.print] = true
	}
	if len(set.keys) == 0 {
		if len(set.ignored) > 0 {
			return nil, fmt.Errorf("it has no key that can be used: %s", set.ignored[0])
		}
		return nil, errors.New("it has no key")
	}
	return set, nil
}

func parseKey(raw json.RawMessage) (*key, error) {
	members, err := parseObject(raw)
	if err != nil {
		return nil, errors.New("it is not valid")
	}
	if use := members.text("use"); use != "" && use != "sig" {
		return nil, errors.New("it is not for signatures")
	}
	if members.has("key_ops") && !slices.Contains(listOf(members["key_ops"]), "verify") {
		return nil, errors.New("it is not for signatures")
	}
	for _, private := range []string{"d", "p", "q", "dp", "dq", "qi", "k"} {
		if members.has(private) {
			return nil, errors.New("it has a private or shared part")
		}
	}
	k := &key{id: members.text("kid"), algorithm: jose.SignatureAlgorithm(members.text("alg"))}
	bare := object{} // certificates beside the key do not matter here, even if they are wrong
	for _, name := range []string{"kty", "n", "e", "crv", "x", "y"} {
		if members.has(name) {
			bare[name] = members[name]
		}
	}
	text, err := json.Marshal(bare)
	if err != nil {
		return nil, errors.New("it is not valid")
	}
	var parsed jose.JSONWebKey
	if err := parsed.UnmarshalJSON(text); err != nil {
		return nil, errors.New("it is not valid, or of a kind that is not supported")
	}
	k.public = parsed.Key
	if public, ok := k.public.(*rsa.PublicKey); ok && (public.N.BitLen() < minRSABits || public.N.BitLen() > maxRSABits) {
		return nil, fmt.Errorf("it is an RSA key with %d bits; %d to %d are accepted", public.N.BitLen(), minRSABits, maxRSABits)
	}
	if !slices.ContainsFunc(algorithms, k.fits) {
		return nil, errors.New("it is for an algorithm that is not accepted")
	}
	k.print = sha256.Sum256(text)
	return k, nil
}

// fits reports whether tokens may be signed with the key by an algorithm.
func (k *key) fits(algorithm jose.SignatureAlgorithm) bool {
	if k.algorithm != "" && k.algorithm != algorithm {
		return false
	}
	switch public := k.public.(type) {
	case *rsa.PublicKey:
		return slices.Contains(algorithms[:6], algorithm)
	case *ecdsa.PublicKey:
		return algorithm == map[elliptic.Curve]jose.SignatureAlgorithm{
			elliptic.P256(): jose.ES256, elliptic.P384(): jose.ES384, elliptic.P521(): jose.ES512,
		}[public.Curve]
	case ed25519.PublicKey:
		return algorithm == jose.EdDSA
	}
	return false
}

// candidates returns the keys that a token may be signed with. A token that names no key is tried with those there are, if they are
// few.
func (s *keySet) candidates(id string, algorithm jose.SignatureAlgorithm) (found []*key) {
	for _, k := range s.keys {
		if (id == "" || k.id == id) && k.fits(algorithm) {
			found = append(found, k)
		}
	}
	if len(found) > maxTried {
		return nil
	}
	return found
}

func (s *keySet) has(k *key) bool { return s.prints[k.print] }
