package httpauth

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/access/identity"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// provider is a verifier that knows the tokens that it was told.
type provider struct {
	mu       sync.Mutex
	known    map[string]identity.Person // by token
	refusals map[string]error           // by token; of others: invalid_token
	revoked  map[string]bool            // by credential
	asked    []string                   // tokens
}

func newProvider() *provider {
	return &provider{known: make(map[string]identity.Person), refusals: make(map[string]error), revoked: make(map[string]bool)}
}

func (p *provider) Verify(_ context.Context, token, _ string) (identity.Person, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, token)
	if err := p.refusals[token]; err != nil {
		return p.known[token], err
	}
	if person, ok := p.known[token]; ok {
		return person, nil
	}
	return identity.Person{}, &identity.Refusal{Status: 401, Code: "invalid_token", Reason: "the signature is wrong"}
}

func (p *provider) Holds(credential string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.revoked[credential]
}

func (p *provider) revoke(credential string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.revoked[credential] = true
}

func (p *provider) Challenge(path string, refusal *identity.Refusal) string {
	text := `Bearer resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource` + path + `"`
	if refusal != nil && refusal.Code != "" {
		text += `, error="` + refusal.Code + `"`
	}
	return text
}

func (p *provider) IsMetadata(path string) bool {
	return strings.HasPrefix(path, "/.well-known/oauth-protected-resource")
}

func (p *provider) Metadata() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "metadata") })
}

const issuer = "https://idp.example.com"

func personOf(subject, credential string, toolboxes ...string) identity.Person {
	return identity.Person{Issuer: issuer, Subject: subject, ID: identity.PersonPrefix + subject, Credential: credential, Toolboxes: toolboxes, Expires: time.Now().Add(time.Hour)}
}

// told is what a gate says of refused requests.
type told struct{ who, reason string }

// newTeamGate makes a gate for one token and some people; it tells the requests that it refused.
func newTeamGate(t *testing.T, p *provider, next http.Handler) (g *Gate, token string, refused *[]told) {
	t.Helper()
	s, token := openStore(t)
	refused = new([]told)
	return NewGate(next, GateOptions{
		Store: s, Verifier: p, Rules: Rules{Origins: []string{"https://app.example.com"}},
		NeedsNoToken: func(path string) bool { return path == "/healthz" },
		Needs: func(path string) Right {
			if path == "/metrics" {
				return Metrics
			}
			return Calls
		},
		Refused: func(_ string, who Identity, reason string) { *refused = append(*refused, told{who.Caller(), reason}) },
	}), token, refused
}

func TestPeopleAndTokens(t *testing.T) {
	p := newProvider()
	p.known["ada.s.token"] = personOf("ada", "1", "dev", "ops")
	p.known["eve.s.token"] = identity.Person{Issuer: issuer, Subject: "eve", Credential: "2", Toolboxes: []string{}}
	p.known["all.s.token"] = identity.Person{Issuer: issuer, Subject: "boss", Credential: "3"}
	p.known["odd.s.token"] = personOf("ada\x1b[2J", "4", "dev")
	p.known["rtl.s.token"] = personOf("ada\u202eevil", "4", "dev")
	p.known["no.s.token"] = personOf("", "5", "dev")
	p.known["long.s.token"] = personOf(strings.Repeat("a", 256), "6", "dev")
	p.refusals["scope.s.token"] = &identity.Refusal{Status: 403, Code: "insufficient_scope", Reason: "no scope is mapped", Hint: "ask for mcp:dev"}
	p.refusals["away.s.token"] = &identity.Refusal{Status: 503, Reason: "the provider is away"}
	p.refusals["broken.s.token"] = errors.New("secret inside")
	const invalid, none = `Bearer resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp", error="invalid_token"`,
		`Bearer resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp"`
	const scope = `Bearer resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp", error="insufficient_scope"`
	for _, test := range []struct {
		name, path string
		headers    []string
		status     int
		body       string // of a request that passed, or in the refusal
		challenge  string
		told       string // who was refused
	}{
		{"a person", "/mcp", []string{"Authorization: Bearer ada.s.token"}, 200, `"ada" [dev ops] true`, "", ""},
		{"for all", "/mcp", []string{"Authorization: Bearer all.s.token"}, 200, `"boss" [] true`, "", ""},
		{"a token of the workbench", "/mcp", []string{"Authorization: Bearer TOKEN"}, 200, `"laptop" [dev] true`, "", ""},
		{"none", "/mcp", nil, 401, "Sign in", none, "http"},
		{"two", "/mcp", []string{"Authorization: Bearer ada.s.token", "Authorization: Bearer ada.s.token"}, 401, "Sign in", none, "http"},
		{"basic", "/mcp", []string{"Authorization: Basic ada.s.token"}, 401, "Sign in", none, "http"},
		{"DPoP", "/mcp", []string{"Authorization: DPoP ada.s.token"}, 401, "Sign in", none, "http"},
		{"wrong", "/mcp", []string{"Authorization: Bearer x.y.z"}, 401, "the signature is wrong", invalid, "http"},
		{"an unknown token of the workbench", "/mcp", []string{"Authorization: Bearer mcpw_x"}, 401, "token list", invalid, "http"},
		{"no toolbox", "/mcp", []string{"Authorization: Bearer eve.s.token"}, 403, "for no toolbox", none, "person:eve"},
		{"no scope", "/mcp", []string{"Authorization: Bearer scope.s.token"}, 403, `"hint":"ask for mcp:dev"`, scope, "http"},
		{"the provider is away", "/mcp", []string{"Authorization: Bearer away.s.token"}, 503, "Try again", "", "http"},
		{"an unknown error", "/mcp", []string{"Authorization: Bearer broken.s.token"}, 503, "Try again", "", "http"},
		{"a subject that moves the cursor", "/mcp", []string{"Authorization: Bearer odd.s.token"}, 401, "cannot be seen", invalid, "http"},
		{"a subject that turns text around", "/mcp", []string{"Authorization: Bearer rtl.s.token"}, 401, "cannot be seen", invalid, "http"},
		{"no subject", "/mcp", []string{"Authorization: Bearer no.s.token"}, 401, "the subject of the token is missing", invalid, "http"},
		{"a long subject", "/mcp", []string{"Authorization: Bearer long.s.token"}, 401, "too long", invalid, "http"},
		{"a person at the metrics", "/metrics", []string{"Authorization: Bearer ada.s.token"}, 403, "--for metrics", "", "person:ada"},
		{"nobody at the metrics", "/metrics", nil, 401, "Bearer", "Bearer", "http"},
		{"public", "/healthz", []string{"Authorization: Bearer x.y.z"}, 200, `"" [] false`, "", ""},
		{"another host", "/mcp", []string{"Authorization: Bearer ada.s.token", "Host: evil.com"}, 403, "Host", "", ""},
		{"another origin", "/mcp", []string{"Authorization: Bearer ada.s.token", "Origin: https://evil.com"}, 403, "origin", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			g, token, refused := newTeamGate(t, p, inside)
			for i := range test.headers {
				test.headers[i] = strings.ReplaceAll(test.headers[i], "TOKEN", token)
			}
			response := ask(g, request("POST", test.path, test.headers...))
			body := response.Body.String()
			if response.Code != test.status || !strings.Contains(body, test.body) || response.Header().Get("WWW-Authenticate") != test.challenge {
				t.Errorf("status %d, %v, %s", response.Code, response.Header(), body)
			}
			if strings.Contains(fmt.Sprint(body, response.Header()), "s.token") || strings.Contains(body, "secret inside") {
				t.Error("the answer holds the token, or an unknown error")
			}
			if test.told == "" && len(*refused) > 0 || test.told != "" && (len(*refused) != 1 || (*refused)[0].who != test.told) {
				t.Errorf("told %q, want %q", *refused, test.told)
			}
			if response.Code >= 400 {
				var answer map[string]string
				if err := json.Unmarshal(response.Body.Bytes(), &answer); err != nil || answer["error"] == "" || answer["hint"] == "" {
					t.Errorf("%s: %v", body, err)
				}
			}
			if isAway := response.Code == 503; isAway != (response.Header().Get("Retry-After") == "5") {
				t.Errorf("headers %v", response.Header())
			}
		})
	}
}

// A token of the workbench never reaches the provider, and one of the provider never the store.
func TestTokensGoWhereTheyBelong(t *testing.T) {
	p := newProvider()
	g, token, _ := newTeamGate(t, p, inside)
	for _, sent := range []string{token, token + "x", "mcpw_", "mcpw_a.b.c"} {
		ask(g, request("POST", "/mcp", "Authorization: Bearer "+sent))
	}
	if len(p.asked) > 0 {
		t.Errorf("the provider was asked about %q", p.asked)
	}
	ask(g, request("POST", "/mcp", "Authorization: Bearer opaque"))
	if !slices.Equal(p.asked, []string{"opaque"}) {
		t.Errorf("the provider was asked about %q", p.asked)
	}
}

// Wrong tokens are counted; right ones pass whatever else comes from their address, and what is no guess is not counted.
func TestWrongTokensOfPeopleAreLimited(t *testing.T) {
	p := newProvider()
	p.known["ada.s.token"] = personOf("ada", "1", "dev")
	p.refusals["scope.s.token"] = &identity.Refusal{Status: 403, Code: "insufficient_scope", Reason: "no scope is mapped"}
	p.refusals["away.s.token"] = &identity.Refusal{Status: 503, Reason: "the provider is away"}
	g, token, _ := newTeamGate(t, p, inside)
	send := func(token string) int { return ask(g, request("POST", "/mcp", "Authorization: Bearer "+token)).Code }
	for range 3 * wrongBurst {
		if got := send("scope.s.token"); got != 403 {
			t.Fatalf("without a scope: %d", got)
		}
		if got := send("away.s.token"); got != 503 {
			t.Fatalf("while the provider is away: %d", got)
		}
		if got := ask(g, request("POST", "/mcp")).Code; got != 401 {
			t.Fatalf("without a token: %d", got)
		}
	}
	limited := false
	for range 3 * wrongBurst {
		limited = send("x.y.z") == 429
	}
	if !limited {
		t.Error("any number of tokens can be tried")
	}
	if got := send("ada.s.token"); got != 200 {
		t.Errorf("the right token of a person: %d", got)
	}
	if got := send(token); got != 200 {
		t.Errorf("the right token of the workbench: %d", got)
	}
	if got := ask(g, request("POST", "/mcp")).Code; got != 401 {
		t.Errorf("without a token, which is how a client begins: %d", got)
	}
}

// Everybody may read the metadata, from a page of any origin; the host is checked all the same.
func TestMetadataIsPublic(t *testing.T) {
	verifier, err := identity.New(identity.Options{Settings: config.HTTPOAuth{Resource: "https://mcp.example.com/mcp", Issuer: issuer}})
	if err != nil {
		t.Fatal(err)
	}
	s, _ := openStore(t)
	g := NewGate(inside, GateOptions{Store: s, Verifier: verifier})
	const path = "/.well-known/oauth-protected-resource/mcp"
	for _, origin := range []string{"", "https://app.example.com", "https://evil.com", "null"} {
		headers := []string{"Sec-Fetch-Site: cross-site"}
		if origin != "" {
			headers = append(headers, "Origin: "+origin)
		}
		response := ask(g, request("GET", path, headers...))
		if response.Code != 200 || !strings.Contains(response.Body.String(), issuer) || !slices.Equal(response.Header()["Access-Control-Allow-Origin"], []string{"*"}) {
			t.Errorf("from %q: status %d, %v", origin, response.Code, response.Header())
		}
		if response.Header().Get("Access-Control-Allow-Credentials") != "" {
			t.Error("credentials are allowed")
		}
	}
	preflight := ask(g, request("OPTIONS", path, "Origin: https://app.example.org", "Access-Control-Request-Method: GET", "Access-Control-Request-Headers: mcp-protocol-version"))
	if preflight.Code != 204 || preflight.Header().Get("Access-Control-Allow-Headers") != "*" {
		t.Errorf("preflight: %d, %v", preflight.Code, preflight.Header())
	}
	if response := ask(g, request("GET", path, "Host: evil.com")); response.Code != 403 {
		t.Errorf("for another host: %d", response.Code)
	}
	if response := ask(NewGate(inside, GateOptions{Store: s}), request("GET", path)); response.Code != 401 {
		t.Errorf("without an identity provider: %d", response.Code)
	}
	// The verifier fits the gate: what it says reaches the client as it is.
	response := ask(g, request("POST", "/mcp"))
	if challenge := response.Header().Get("WWW-Authenticate"); response.Code != 401 || !strings.Contains(challenge, `resource_metadata="https://mcp.example.com`+path+`"`) {
		t.Errorf("the challenge is %d %s", response.Code, challenge)
	}
}

// A person stays the same with another token, and is not another person, whatever the names.
func TestPersonsAreToldApart(t *testing.T) {
	ada, again := personOf("ada", "1", "a", "b"), personOf("ada", "2", "a", "b")
	first, second := ofPerson(&ada), ofPerson(&again)
	if first.ID != second.ID || first.Credential == second.Credential || !slices.Equal(first.Toolboxes, second.Toolboxes) {
		t.Errorf("%+v and %+v", first, second)
	}
	bob := personOf("bob", "3")
	others := []Identity{ofPerson(&bob), {Kind: ByCertificate, Name: "ada", ID: certificateID("ada")}}
	ids := map[string]bool{first.ID: true}
	for _, other := range others {
		if ids[other.ID] {
			t.Errorf("%+v has the ID of another", other)
		}
		ids[other.ID] = true
	}
	if nothing := ofPerson(&identity.Person{Subject: "ada", Toolboxes: []string{}}); nothing.Toolboxes == nil {
		t.Error("no toolbox became all of them")
	}
}

// withCertificate makes a request on a connection whose client has a certificate of a name.
func withCertificate(name string, until time.Time, headers ...string) *http.Request {
	r := request("POST", "/mcp", headers...)
	certificate := &x509.Certificate{Subject: pkix.Name{CommonName: name}, NotAfter: until, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
	r.TLS = &tls.ConnectionState{PeerCertificates: []*x509.Certificate{certificate}, VerifiedChains: [][]*x509.Certificate{{certificate}}}
	return r
}

func TestCertificates(t *testing.T) {
	p := newProvider()
	p.known["ada.s.token"] = personOf("ada", "1", "dev")
	g, token, refused := newTeamGate(t, p, inside)
	table := []config.ToolboxGrant{{Value: "ci", Toolboxes: []string{"ops", "dev"}}, {Value: "admin"}, {Value: "nothing", Toolboxes: []string{}}}
	g.SetRules(Rules{Clients: table})
	later := time.Now().Add(time.Hour)
	unverified := withCertificate("ci", later)
	unverified.TLS.VerifiedChains = nil
	for name, test := range map[string]struct {
		request *http.Request
		status  int
		body    string
	}{
		"of the table":            {withCertificate("ci", later), 200, `"ci" [dev ops] true`},
		"for all":                 {withCertificate("admin", later), 200, `"admin" [] true`},
		"for none":                {withCertificate("nothing", later), 403, "http.tls.clients"},
		"of nobody":               {withCertificate("other", later), 401, ""},
		"that nobody verified":    {unverified, 401, ""},
		"that has expired since":  {withCertificate("ci", time.Now().Add(-time.Second)), 401, "expired"},
		"and a token":             {withCertificate("ci", later, "Authorization: Bearer "+token), 200, `"laptop" [dev] true`},
		"and a person":            {withCertificate("ci", later, "Authorization: Bearer ada.s.token"), 200, `"ada" [dev] true`},
		"and a wrong token":       {withCertificate("ci", later, "Authorization: Bearer x.y.z"), 401, ""},
		"and an empty header":     {withCertificate("ci", later, "Authorization: "), 401, ""},
		"of the table, for pages": {withCertificate("ci", later, "Origin: https://evil.com"), 403, "origin"},
	} {
		response := ask(g, test.request)
		if response.Code != test.status || !strings.Contains(response.Body.String(), test.body) {
			t.Errorf("%s: %d, %s", name, response.Code, response.Body)
		}
	}
	if !slices.Contains(*refused, told{"certificate:nothing", "the certificate is for no toolbox"}) {
		t.Errorf("told %v", *refused)
	}
	reason := "the certificate of 'other' is not in http.tls.clients, and no token came"
	if !slices.Contains(*refused, told{"http", reason}) {
		t.Errorf("told %v", *refused)
	}
	*refused = nil
	ask(g, withCertificate("a\n\u202eb"+strings.Repeat("é", 200), later))
	if want := "the certificate of 'a b" + strings.Repeat("é", 97) + "…' is not in http.tls.clients, and no token came"; !slices.Contains(*refused, told{"http", want}) {
		t.Errorf("told %q", *refused)
	}
	g.SetRules(Rules{})
	if response := ask(g, withCertificate("ci", later)); response.Code != 401 {
		t.Errorf("without the table: %d", response.Code)
	}
}

// running serves a request that lasts until it is ended, and tells how it ended.
func running(ctx context.Context, g *Gate, r *http.Request) (ended chan error) {
	ended = make(chan error, 1)
	r = r.WithContext(context.WithValue(ctx, http.LocalAddrContextKey, tcp("127.0.0.1:7420")))
	go func() {
		defer func() {
			err, _ := recover().(error)
			ended <- err
		}()
		g.ServeHTTP(httptest.NewRecorder(), r)
	}()
	return ended
}

// When what a request came with ends, streams end at once and calls may finish; what is revoked ends within two seconds.
func TestRequestsEndWithTheirCredential(t *testing.T) {
	const token, cert = "ada.s.token", "certificate"
	stream := []string{"Mcp-Method: subscriptions/listen"}
	for _, test := range []struct {
		name    string
		method  string
		headers []string
		with    string
		begin   time.Duration // after the token was issued, which lasts for a minute
		act     string        // "revoke", "unlist", "relist", or nothing
		goesOn  time.Duration // after that begin or act
		ends    time.Duration // the same
		abort   bool          // the connection breaks
	}{
		{"a stream", "GET", nil, token, 0, "", time.Minute - time.Second, time.Minute + time.Second, false},
		{"a subscription", "POST", stream, token, 0, "", time.Minute - time.Second, time.Minute + time.Second, false},
		{"a stream that begins late", "GET", nil, token, 90 * time.Second, "", 29 * time.Second, 31 * time.Second, false},
		{"a call", "POST", nil, token, 0, "", 6*time.Minute - time.Second, 6*time.Minute + time.Second, true},
		{"a call that begins late", "POST", nil, token, 90 * time.Second, "", 4 * time.Minute, 5 * time.Minute, true},
		{"a stream of a revoked token", "GET", nil, token, 0, "revoke", 0, 2 * time.Second, true},
		{"a call of a revoked token", "POST", nil, token, 0, "revoke", 0, 2 * time.Second, true},
		{"a stream of a certificate", "GET", nil, cert, 0, "", time.Minute - time.Second, time.Minute + time.Second, false},
		{"a call of an unlisted certificate", "POST", nil, cert, 0, "unlist", 0, 2 * time.Second, true},
		{"a call of a certificate for something else", "POST", nil, cert, 0, "relist", 0, 2 * time.Second, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newProvider()
				until := time.Now().Add(time.Minute)
				ada := personOf("ada", "1", "dev")
				ada.Expires = until
				p.known[token] = ada
				g, _, _ := newTeamGate(t, p, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
				g.SetRules(Rules{Clients: []config.ToolboxGrant{{Value: "ci", Toolboxes: []string{"dev"}}}})
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				go g.Watch(ctx)
				time.Sleep(test.begin) // of the bubble
				r := request(test.method, "/mcp", append([]string{"Authorization: Bearer " + token}, test.headers...)...)
				if test.with == cert {
					r = withCertificate("ci", until, test.headers...)
					r.Method = test.method
				}
				ended := running(ctx, g, r)
				synctest.Wait()
				switch test.act {
				case "revoke":
					p.revoke("1")
				case "unlist":
					g.SetRules(Rules{})
				case "relist":
					g.SetRules(Rules{Clients: []config.ToolboxGrant{{Value: "ci", Toolboxes: []string{"dev", "ops"}}}})
				}
				time.Sleep(test.goesOn)
				synctest.Wait()
				select {
				case err := <-ended:
					t.Fatalf("it ended too early, with %v", err)
				default:
				}
				time.Sleep(test.ends - test.goesOn)
				synctest.Wait()
				select {
				case err := <-ended:
					if errors.Is(err, http.ErrAbortHandler) != test.abort {
						t.Errorf("it ended with %v", err)
					}
				default:
					t.Error("it goes on")
				}
			})
		})
	}
}

// What somebody began may go on while they may come back.
func TestValid(t *testing.T) {
	p := newProvider()
	g, token, _ := newTeamGate(t, p, inside)
	grant := config.ToolboxGrant{Value: "ci", Toolboxes: []string{"b", "a"}}
	g.SetRules(Rules{Clients: []config.ToolboxGrant{grant}})
	who, _ := g.store.Verify(token)
	person := personOf("ada", "1")
	ada := ofPerson(&person)
	ci := certificateCredential(config.ToolboxGrant{Value: "ci", Toolboxes: []string{"a", "b"}})
	later := time.Now().Add(time.Hour)
	check := func(when string, want bool) {
		t.Helper()
		valid := g.Valid()
		if !valid(ada.ID, ada.Credential, time.Now().Add(-time.Second)) {
			t.Errorf("%s: a person whose token has expired may not come back", when)
		}
		for name, got := range map[string]bool{
			"token": valid(who.ID, who.Credential, later), "person": valid(ada.ID, ada.Credential, later), "certificate": valid(certificateID("ci"), ci, later),
		} {
			if got != want {
				t.Errorf("%s: the %s is valid: %v", when, name, got)
			}
		}
		if valid("", "", later) || valid("unknown", "unknown", later) || valid(certificateID("ci"), certificateCredential(config.ToolboxGrant{Value: "ci"}), later) {
			t.Errorf("%s: nobody is valid", when)
		}
	}
	check("at first", true)
	p.revoke("1")
	g.SetRules(Rules{})
	if err := g.store.Remove("laptop"); err != nil {
		t.Fatal(err)
	}
	check("at the end", false)
	if !NewGate(inside, GateOptions{}).Valid()("", "", time.Time{}) {
		t.Error("without tokens nobody is valid")
	}
}
