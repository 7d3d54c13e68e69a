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
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/mcp-workbench/mcp-workbench/internal/access/credentials"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

func TestAuthenticate(t *testing.T) {
	const basic = "Basic aWQ6cyUyQmVjJTNBciUyRmV0Kw==" // id:s%2Bec%3Ar%2Fet+
	for _, test := range []struct {
		name     string
		client   credentials.Client
		settings config.OAuth
		methods  []string
		form     string
		header   string
		err      string
	}{
		{name: "public", client: credentials.Client{ID: "id", Method: "none", Secret: "ignored"}, form: "client_id=id"},
		{name: "without id", client: credentials.Client{Method: "none"}},
		{name: "basic", client: credentials.Client{ID: "id", Secret: "s+ec:r/et ", Method: "client_secret_basic"}, header: basic},
		{name: "post", client: credentials.Client{ID: "id", Secret: "s&e", Method: "client_secret_post"}, form: "client_id=id&client_secret=s%26e"},
		{name: "registration before configuration", client: credentials.Client{ID: "id", Method: "none"}, settings: config.OAuth{TokenAuth: "client_secret_post"}, form: "client_id=id"},
		{name: "configuration", client: credentials.Client{ID: "id", Secret: "s"}, settings: config.OAuth{TokenAuth: "client_secret_post"}, form: "client_id=id&client_secret=s"},
		{name: "no secret", client: credentials.Client{ID: "id"}, methods: []string{"client_secret_basic"}, form: "client_id=id"},
		{name: "only post is supported", client: credentials.Client{ID: "id", Secret: "s"}, methods: []string{"private_key_jwt", "client_secret_post"}, form: "client_id=id&client_secret=s"},
		{name: "both are supported", client: credentials.Client{ID: "id", Secret: "s+ec:r/et "}, methods: []string{"client_secret_post", "client_secret_basic"}, header: basic},
		{name: "nothing is known", client: credentials.Client{ID: "id", Secret: "s+ec:r/et "}, header: basic},

		{name: "secret is missing", client: credentials.Client{ID: "id", Method: "client_secret_basic"}, err: "the client has to authenticate by client_secret_basic, and has no secret; set 'oauth.clientSecret'"},
		{name: "id is missing", client: credentials.Client{Secret: "s"}, err: "the client has no id; set 'oauth.clientId'"},
		{name: "key is missing", client: credentials.Client{ID: "id", Method: "private_key_jwt"}, err: "the client has to authenticate by private_key_jwt, and has no key; set 'oauth.privateKeyFile'"},
		{name: "unknown method", client: credentials.Client{ID: "id", Method: "tls_client_auth"}, err: "the client has to authenticate by 'tls_client_auth', which is not supported; set 'oauth.tokenEndpointAuthMethod'"},
	} {
		t.Run(test.name, func(t *testing.T) {
			form, header := make(url.Values), make(http.Header)
			err := authenticate(test.client, &test.settings, &serverMetadata{TokenEndpointAuthMethods: test.methods}, form, header)
			if test.err != "" {
				if err == nil || err.Error() != test.err {
					t.Errorf("error %v, want %s", err, test.err)
				}
				return
			}
			if err != nil || form.Encode() != test.form || header.Get("Authorization") != test.header {
				t.Errorf("got %q, %v, %v, want %q, %q", form.Encode(), header, err, test.form, test.header)
			}
		})
	}
}

// keyFile writes a private key to a file, in the form that a type of PEM block has.
func keyFile(t *testing.T, key any, kind string) string {
	t.Helper()
	var raw []byte
	var err error
	switch kind {
	case "RSA PRIVATE KEY":
		raw = x509.MarshalPKCS1PrivateKey(key.(*rsa.PrivateKey))
	case "EC PRIVATE KEY":
		raw, err = x509.MarshalECPrivateKey(key.(*ecdsa.PrivateKey))
	default:
		raw, err = x509.MarshalPKCS8PrivateKey(key)
	}
	if err != nil {
		t.Fatal(err)
	}
	return file(t, string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: raw})))
}

// file writes a text to a file of its own.
func file(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func newECKey(t *testing.T, curve elliptic.Curve) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(curve, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// claims checks the signature of a JWT and returns its header and its claims.
func claims(t *testing.T, token string, key any, algorithm jose.SignatureAlgorithm) (jose.Header, map[string]any) {
	t.Helper()
	signed, err := jose.ParseSignedCompact(token, []jose.SignatureAlgorithm{algorithm})
	if err != nil {
		t.Fatal(err)
	}
	payload, err := signed.Verify(key)
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	if err := json.Unmarshal(payload, &all); err != nil {
		t.Fatal(err)
	}
	return signed.Signatures[0].Header, all
}

func TestClientAssertion(t *testing.T) {
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	_, edKey, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	p256 := newECKey(t, elliptic.P256())
	for _, test := range []struct {
		key        crypto.Signer
		form       string
		configured string
		want       jose.SignatureAlgorithm
	}{
		{rsaKey, "PRIVATE KEY", "", jose.RS256},
		{rsaKey, "RSA PRIVATE KEY", "PS256", jose.PS256},
		{p256, "PRIVATE KEY", "", jose.ES256},
		{p256, "EC PRIVATE KEY", "ES256", jose.ES256},
		{newECKey(t, elliptic.P384()), "PRIVATE KEY", "", jose.ES384},
		{newECKey(t, elliptic.P521()), "PRIVATE KEY", "", jose.ES512},
		{edKey, "PRIVATE KEY", "", jose.EdDSA},
	} {
		settings := &config.OAuth{PrivateKeyFile: keyFile(t, test.key, test.form), SigningAlgorithm: test.configured, KeyID: "key-1"}
		form, header := make(url.Values), make(http.Header)
		metadata := &serverMetadata{Issuer: "https://as.example", TokenEndpoint: "https://as.example/token"}
		if err := authenticate(credentials.Client{ID: "id"}, settings, metadata, form, header); err != nil {
			t.Error(test.want, err)
			continue
		}
		if form.Get("client_assertion_type") != "urn:ietf:params:oauth:client-assertion-type:jwt-bearer" || form.Get("client_id") != "id" || len(header) != 0 {
			t.Errorf("%s: got %v, %v", test.want, form, header)
		}
		head, got := claims(t, form.Get("client_assertion"), test.key.Public(), test.want)
		issued, _ := got["iat"].(float64)
		until, _ := got["exp"].(float64)
		if got["iss"] != "id" || got["sub"] != "id" || got["aud"] != "https://as.example" || got["jti"] == "" || until-issued != assertionLife.Seconds() || time.Since(time.Unix(int64(issued), 0)) > time.Minute {
			t.Errorf("%s: claims %v", test.want, got)
		}
		if head.KeyID != "key-1" || head.ExtraHeaders[jose.HeaderType] != "JWT" {
			t.Errorf("%s: header %v", test.want, head)
		}
		again := make(url.Values)
		if err := authenticate(credentials.Client{ID: "id"}, settings, metadata, again, header); err != nil || again.Get("client_assertion") == form.Get("client_assertion") {
			t.Errorf("%s: an assertion was used twice, or %v", test.want, err)
		}
	}
}

func TestPrivateKeyThatCannotBeUsed(t *testing.T) {
	small, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	p256 := keyFile(t, newECKey(t, elliptic.P256()), "PRIVATE KEY")
	folder := t.TempDir()
	for _, test := range []struct{ name, file, algorithm, want string }{
		{"missing", filepath.Join(folder, "missing"), "", "the private key of 'oauth.privateKeyFile' (" + filepath.Join(folder, "missing") + ") cannot be used: "},
		{"folder", folder, "", "it is not a file"},
		{"empty", file(t, ""), "", "the file holds no private key in PEM format"},
		{"public", file(t, "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"), "", "the file holds no private key in PEM format"},
		{"encrypted", file(t, "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n"), "", "it is encrypted; decrypt it"},
		{"damaged", file(t, "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"), "", "it is damaged, or of a kind that is not supported"},
		{"large", file(t, strings.Repeat("x", maxKeyFile+1)), "", "the file is larger than 64 KiB"},
		{"short", keyFile(t, small, "PRIVATE KEY"), "", "has 1024 bits, which is not safe; use one with 2048 bits or more"},
		{"other algorithm", p256, "RS256", "the P-256 key of 'oauth.privateKeyFile' cannot sign with 'oauth.signingAlgorithm' RS256; possible: ES256"},
		{"other curve", keyFile(t, newECKey(t, elliptic.P224()), "PRIVATE KEY"), "", "of a kind that is not supported (P-224)"},
	} {
		_, err := clientAssertion("id", "https://as.example", &config.OAuth{PrivateKeyFile: test.file, SigningAlgorithm: test.algorithm}, time.Now())
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want %q", test.name, err, test.want)
		}
	}
}
