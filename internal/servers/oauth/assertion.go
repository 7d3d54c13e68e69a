package oauth

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

const (
	// assertionLife is how long the JWT that authenticates a client is valid.
	assertionLife = 2 * time.Minute
	maxKeyFile    = 64 << 10 // size of a file with a private key, an assertion or an identity token
	minRSABits    = 2048     // size of an RSA key; a smaller one is refused
)

// clientAssertion returns a JWT that authenticates a client with its private key (RFC 7523, section 2.2). It is for one
// request.
func clientAssertion(clientID, issuer string, settings *config.OAuth, now time.Time) (string, error) {
	if settings.PrivateKeyFile == "" {
		return "", errors.New("the client has to authenticate by private_key_jwt, and has no key; set 'oauth.privateKeyFile'")
	}
	key, err := readPrivateKey(settings.PrivateKeyFile)
	if err != nil {
		return "", err
	}
	algorithm, err := signingAlgorithm(key, settings.SigningAlgorithm)
	if err != nil {
		return "", err
	}
	options := new(jose.SignerOptions).WithType("JWT")
	if settings.KeyID != "" {
		options.WithHeader("kid", settings.KeyID)
	}
	return signJWT(jose.SigningKey{Algorithm: algorithm, Key: key}, options, map[string]any{
		"iss": clientID, "sub": clientID, "aud": issuer, "jti": rand.Text(),
		"iat": now.Unix(), "exp": now.Add(assertionLife).Unix(),
	})
}

// signJWT returns a signed JWT with the given claims.
func signJWT(key jose.SigningKey, options *jose.SignerOptions, claims any) (string, error) {
	signer, err := jose.NewSigner(key, options)
	if err != nil {
		return "", err
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		return "", err
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		return "", err
	}
	return signed.CompactSerialize()
}

// readPrivateKey reads the file of 'oauth.privateKeyFile'.
func readPrivateKey(file string) (crypto.Signer, error) {
	wrong := func(what string) error {
		return fmt.Errorf("the private key of 'oauth.privateKeyFile' (%s) cannot be used: %s", file, what)
	}
	text, err := readSmall(file)
	if err != nil {
		return nil, wrong(err.Error())
	}
	for rest := text; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return nil, wrong("the file holds no private key in PEM format (-----BEGIN PRIVATE KEY-----)")
		}
		if strings.Contains(block.Type, "ENCRYPTED") || block.Headers["DEK-Info"] != "" {
			return nil, wrong("it is encrypted; decrypt it ('openssl pkey -in OLD -out NEW'), and let only yourself read it")
		}
		if !strings.HasSuffix(block.Type, "PRIVATE KEY") {
			continue // such as the parameters of a curve, or a certificate
		}
		key, err := parsePrivateKey(block)
		if err != nil { // without the parser's words, which may quote the content
			return nil, wrong("it is damaged, or of a kind that is not supported; RSA, P-256, P-384, P-521 and Ed25519 are")
		}
		return key, nil
	}
}

func parsePrivateKey(block *pem.Block) (crypto.Signer, error) {
	var key any
	var err error
	switch block.Type {
	case "RSA PRIVATE KEY":
		key, err = x509.ParsePKCS1PrivateKey(block.Bytes)
	case "EC PRIVATE KEY":
		key, err = x509.ParseECPrivateKey(block.Bytes)
	default:
		key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
	}
	if err != nil {
		return nil, err
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil, errors.New("not a key that signs")
	}
	return signer, nil
}

// signingAlgorithm returns the algorithm for a key: the configured one if the key is of its kind.
func signingAlgorithm(key crypto.Signer, configured string) (jose.SignatureAlgorithm, error) {
	var possible []jose.SignatureAlgorithm
	kind := "Ed25519"
	switch key := key.(type) {
	case *rsa.PrivateKey:
		kind = "RSA"
		if key.N.BitLen() < minRSABits {
			return "", fmt.Errorf("the RSA key of 'oauth.privateKeyFile' has %d bits, which is not safe; use one with %d bits or more", key.N.BitLen(), minRSABits)
		}
		possible = []jose.SignatureAlgorithm{jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512}
	case *ecdsa.PrivateKey:
		kind = key.Curve.Params().Name
		switch key.Curve {
		case elliptic.P256():
			possible = []jose.SignatureAlgorithm{jose.ES256}
		case elliptic.P384():
			possible = []jose.SignatureAlgorithm{jose.ES384}
		case elliptic.P521():
			possible = []jose.SignatureAlgorithm{jose.ES512}
		}
	case ed25519.PrivateKey:
		possible = []jose.SignatureAlgorithm{jose.EdDSA}
	}
	switch {
	case len(possible) == 0:
		return "", fmt.Errorf("the key of 'oauth.privateKeyFile' is of a kind that is not supported (%s); use RSA, P-256, P-384, P-521 or Ed25519", kind)
	case configured == "":
		return possible[0], nil
	case !slices.Contains(possible, jose.SignatureAlgorithm(configured)):
		return "", fmt.Errorf("the %s key of 'oauth.privateKeyFile' cannot sign with 'oauth.signingAlgorithm' %s; possible: %s", kind, configured, joined(possible))
	}
	return jose.SignatureAlgorithm(configured), nil
}

func joined(all []jose.SignatureAlgorithm) string {
	names := make([]string, len(all))
	for i, one := range all {
		names[i] = string(one)
	}
	return strings.Join(names, ", ")
}

// readSmall reads a file that holds a key or a token.
func readSmall(file string) ([]byte, error) {
	if info, err := os.Stat(file); err != nil {
		return nil, withoutPath(err)
	} else if !info.Mode().IsRegular() { // opening a pipe would wait for its other end
		return nil, errors.New("it is not a file")
	}
	opened, err := os.Open(file)
	if err != nil {
		return nil, withoutPath(err)
	}
	defer opened.Close()
	text, err := io.ReadAll(io.LimitReader(opened, maxKeyFile+1))
	if err != nil {
		return nil, withoutPath(err)
	}
	if len(text) > maxKeyFile {
		return nil, fmt.Errorf("the file is larger than %d KiB", maxKeyFile>>10)
	}
	return text, nil
}

// withoutPath removes the path from an error, whose text names the file already.
func withoutPath(err error) error {
	if path, ok := errors.AsType[*os.PathError](err); ok {
		return path.Err
	}
	return err
}
