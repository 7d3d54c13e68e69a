package identity

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"log"
	"log/slog"
	"maps"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/mcp-workbench/mcp-workbench/internal/base/webclient"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Keys of all tests: making them takes time.
var (
	rsaKey      = mustRSA(2048)
	otherRSA    = mustRSA(2048)
	smallRSA    = mustRSA(1024)
	ecKey       = mustEC(elliptic.P256())
	ec384Key    = mustEC(elliptic.P384())
	_, edKey, _ = ed25519.GenerateKey(rand.Reader)
)

func mustRSA(bits int) *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		panic(err)
	}
	return key
}

func mustEC(curve elliptic.Curve) *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(curve, rand.Reader)
	if err != nil {
		panic(err)
	}
	return key
}

func encode(text []byte) string { return base64.RawURLEncoding.EncodeToString(text) }

// jwk returns the public key in the form of RFC 7517, by hand: the program's library must not check itself.
func jwk(kid string, key crypto.Signer, more map[string]any) map[string]any {
	members := map[string]any{"kid": kid}
	switch public := key.Public().(type) {
	case *rsa.PublicKey:
		members["kty"], members["n"], members["e"] = "RSA", encode(public.N.Bytes()), encode(big.NewInt(int64(public.E)).Bytes())
	case *ecdsa.PublicKey:
		point, err := public.Bytes()
		if err != nil {
			panic(err)
		}
		size := (len(point) - 1) / 2
		members["kty"], members["crv"] = "EC", public.Curve.Params().Name
		members["x"], members["y"] = encode(point[1:1+size]), encode(point[1+size:])
	case ed25519.PublicKey:
		members["kty"], members["crv"], members["x"] = "OKP", "Ed25519", encode(public)
	}
	maps.Copy(members, more)
	return members
}

// sign returns a JWT, by hand.
func sign(key any, header, claims map[string]any) string {
	head, _ := json.Marshal(header)
	payload, _ := json.Marshal(claims)
	return signText(key, string(head), string(payload))
}

func signText(key any, head, payload string) string {
	var header struct{ Alg string }
	_ = json.Unmarshal([]byte(head), &header)
	signed := encode([]byte(head)) + "." + encode([]byte(payload))
	hash := crypto.SHA256
	if strings.HasSuffix(header.Alg, "384") {
		hash = crypto.SHA384
	}
	var sum []byte
	if hash == crypto.SHA384 {
		all := sha512.Sum384([]byte(signed))
		sum = all[:]
	} else {
		all := sha256.Sum256([]byte(signed))
		sum = all[:]
	}
	var signature []byte
	var err error
	switch key := key.(type) {
	case *rsa.PrivateKey:
		if strings.HasPrefix(header.Alg, "PS") {
			signature, err = rsa.SignPSS(rand.Reader, key, hash, sum, &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash})
		} else {
			signature, err = rsa.SignPKCS1v15(rand.Reader, key, hash, sum)
		}
	case *ecdsa.PrivateKey:
		r, s, failure := ecdsa.Sign(rand.Reader, key, sum)
		size := (key.Curve.Params().BitSize + 7) / 8
		err, signature = failure, make([]byte, 2*size)
		r.FillBytes(signature[:size])
		s.FillBytes(signature[size:])
	case ed25519.PrivateKey:
		signature = ed25519.Sign(key, []byte(signed))
	case []byte:
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(signed))
		signature = mac.Sum(nil)
	}
	if err != nil {
		panic(err)
	}
	return signed + "." + encode(signature)
}

// idp is an identity provider that behaves, unless told otherwise.
type idp struct {
	mu        sync.Mutex
	issuer    string
	keys      []map[string]any
	replace   map[string]http.HandlerFunc // by path: an answer of another kind
	metadata  map[string]any              // members that replace others; nil removes one
	away      bool                        // every request fails
	hold      chan struct{}               // every request waits for it; nil: none
	answers   map[string]map[string]any   // of the introspection, by token
	requests  map[string]int              // by path
	questions []string                    // the tokens that were asked about
}

func newIDP() *idp {
	return &idp{
		keys: []map[string]any{jwk("k1", rsaKey, nil)}, replace: map[string]http.HandlerFunc{}, answers: map[string]map[string]any{}, requests: map[string]int{},
	}
}

// change changes the provider while it runs.
func (p *idp) change(change func(*idp)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(p)
}

func (p *idp) count(path string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.requests[path]
}

const (
	metadataAt   = "/.well-known/oauth-authorization-server"
	keysAt       = "/keys"
	introspectAt = "/introspect"
	clientID     = "work bench"
	clientSecret = "canary:secret/+"
)

func (p *idp) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.requests[r.URL.Path]++
	replace, away, hold := p.replace[r.URL.Path], p.away, p.hold
	p.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-r.Context().Done():
		}
	}
	if away {
		panic(http.ErrAbortHandler)
	}
	if replace != nil {
		replace(w, r)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	var answer any
	switch r.URL.Path {
	case metadataAt:
		answer = p.describe()
	case keysAt:
		answer = map[string]any{"keys": p.keys}
	case introspectAt:
		if user, password, _ := r.BasicAuth(); r.Method != http.MethodPost || user != "work+bench" || password != "canary%3Asecret%2F%2B" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		token := r.PostFormValue("token")
		p.questions = append(p.questions, token)
		if answer = p.answers[token]; p.answers[token] == nil {
			answer = map[string]any{"active": false}
		}
	default:
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer)
}

func (p *idp) describe() map[string]any {
	all := map[string]any{
		"issuer": p.issuer, "jwks_uri": p.issuer + keysAt, "authorization_endpoint": p.issuer + "/authorize", "token_endpoint": p.issuer + "/token",
		"introspection_endpoint": p.issuer + introspectAt, "authorization_response_iss_parameter_supported": true,
	}
	for name, value := range p.metadata {
		if all[name] = value; value == nil {
			delete(all, name)
		}
	}
	return all
}

// bench is a verifier in front of a provider.
type bench struct {
	*Verifier
	t       testing.TB
	idp     *idp
	log     *lockedBuffer
	now     time.Time
	secrets []string
}

type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// nothing is the reason if the scopes of a token are not mapped.
const nothing = "the claim 'scope' of the token allows no toolbox"

const resourceURL = "https://mcp.example.com/mcp"

func settings(issuer string) config.HTTPOAuth {
	return config.HTTPOAuth{
		Resource: resourceURL, Issuer: issuer, ClientID: clientID, ClientSecret: clientSecret,
		Introspection: &config.Introspection{ClientID: clientID, ClientSecret: clientSecret},
		Toolboxes:     []config.ToolboxGrant{{Value: "mcp:dev", Toolboxes: []string{"dev"}}, {Value: "mcp:ops", Toolboxes: []string{"ops", "dev"}}, {Value: "mcp:all"}},
	}
}

// newBench starts a provider on loopback, and a verifier with the guard that it has in the program.
func newBench(t testing.TB, change func(*config.HTTPOAuth)) *bench {
	t.Helper()
	p := newIDP()
	server := httptest.NewUnstartedServer(p)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Start()
	p.issuer = server.URL
	b := &bench{t: t, idp: p, log: &lockedBuffer{}}
	b.start(change, nil)
	t.Cleanup(server.Close)
	t.Cleanup(b.end)
	return b
}

// newPiped starts both in a bubble: time passes there only while everybody waits, and nobody waits in a bubble for a socket.
func newPiped(t *testing.T, change func(*config.HTTPOAuth)) *bench {
	t.Helper()
	p := newIDP()
	p.issuer = "https://idp.example"
	pipes := &pipes{accept: make(chan net.Conn), closed: make(chan struct{})}
	server := &http.Server{Handler: p, ErrorLog: log.New(io.Discard, "", 0)}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(pipes) })
	b := &bench{t: t, idp: p, log: &lockedBuffer{}}
	b.start(change, &piped{pipes})
	t.Cleanup(func() {
		b.end()
		server.Close()
		serving.Wait()
	})
	return b
}

func (b *bench) start(change func(*config.HTTPOAuth), fetcher fetcher) {
	b.t.Helper()
	chosen := settings(b.idp.issuer)
	if change != nil {
		change(&chosen)
	}
	v, err := New(Options{
		Settings: chosen, Version: "test", Log: slog.New(slog.NewTextHandler(b.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Secrets: func(values ...string) { b.secrets = append(b.secrets, values...) },
	})
	if err != nil {
		b.t.Fatal(err)
	}
	if fetcher != nil {
		v.provider.fetcher = fetcher
		if v.questions != nil {
			v.questions.fetcher = fetcher
		}
	}
	b.Verifier, b.now = v, time.Now()
}

func (b *bench) end() {
	b.work.end()
	for _, secret := range []string{clientSecret, "eyJ", "canary"} {
		if strings.Contains(b.log.String(), secret) {
			b.t.Errorf("the log has %q: %s", secret, b.log)
		}
	}
}

// pipes is a listener whose connections stay in the process.
type pipes struct {
	accept chan net.Conn
	once   sync.Once
	closed chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.accept:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case p.accept <- theirs:
		return ours, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// piped fetches over pipes what a guard fetches over a network.
type piped struct{ pipes *pipes }

func (p *piped) Check(string) error { return nil }

func (p *piped) Client() *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: p.pipes.dial, DisableKeepAlives: true}}
}

func (p *piped) Get(ctx context.Context, address string) (*webclient.Document, error) {
	return p.fetch(ctx, http.MethodGet, address, http.Header{}, nil, 5*time.Second)
}

func (p *piped) Post(ctx context.Context, address string, header http.Header, body []byte, limit time.Duration) (*webclient.Document, error) {
	return p.fetch(ctx, http.MethodPost, address, header, body, limit)
}

func (p *piped) fetch(ctx context.Context, method, address string, header http.Header, body []byte, limit time.Duration) (*webclient.Document, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, strings.Replace(address, "https:", "http:", 1), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header = header
	response, err := p.Client().Do(request)
	if err != nil {
		return nil, &webclient.UnreachableError{Address: address}
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return &webclient.Document{Status: response.StatusCode, Header: response.Header, Body: text}, err
}

// claims returns those of a good token, with changes; a nil removes one.
func (b *bench) claims(changes map[string]any) map[string]any {
	now := time.Now()
	all := map[string]any{
		"iss": b.idp.issuer, "sub": "alice", "aud": resourceURL, "exp": now.Add(time.Hour).Unix(), "iat": now.Unix(), "nbf": now.Unix(),
		"scope": "mcp:dev openid", "preferred_username": "Alice", "client_id": "some client", "jti": rand.Text(),
	}
	for name, value := range changes {
		if all[name] = value; value == nil {
			delete(all, name)
		}
	}
	return all
}

func header(changes map[string]any) map[string]any {
	all := map[string]any{"alg": "RS256", "kid": "k1", "typ": "at+jwt"}
	for name, value := range changes {
		if all[name] = value; value == nil {
			delete(all, name)
		}
	}
	return all
}

// token returns a good token with changed claims.
func (b *bench) token(changes map[string]any) string {
	return sign(rsaKey, header(nil), b.claims(changes))
}

// refusal verifies a token, and returns why it was refused; nil if it was not.
func (b *bench) refusal(token, path string) *Refusal {
	b.t.Helper()
	_, err := b.Verify(b.t.Context(), token, path)
	if err == nil {
		return nil
	}
	refusal, ok := errors.AsType[*Refusal](err)
	if !ok {
		b.t.Fatalf("error %v of another type", err)
	}
	return refusal
}

// want verifies a token, and fails unless the reason is the expected one; "" means that it has to be accepted.
func (b *bench) want(token, reason string) {
	b.t.Helper()
	got := ""
	if refusal := b.refusal(token, "/mcp"); refusal != nil {
		got = refusal.Reason
	}
	if got != reason {
		b.t.Errorf("refused for %q, want %q", got, reason)
	}
}
