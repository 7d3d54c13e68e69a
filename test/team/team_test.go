//go:build unix

package team

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
)

// introspection is what the workbench asks oidc-provider with.
func introspection(issuer string) map[string]any {
	return map[string]any{"endpoint": issuer + "/token/introspection", "clientId": "resource-server", "clientSecret": "secret-of-the-resource-server"}
}

// newOffice is a team with an identity provider of npm, whose tokens have a format.
func newOffice(t *testing.T, format string) (*team, *identityProvider) {
	t.Helper()
	m := newTeam(t)
	idp := startIDP(t, map[string]any{"format": format, "groups": groups, "redirect": m.base + "/connect/callback"})
	oauth := map[string]any{"issuer": idp.issuer}
	if format == "opaque" {
		oauth["introspection"] = introspection(idp.issuer)
	}
	m.run(oauth, nil)
	return m, idp
}

// Each person sees and reaches their own toolboxes, and the state of a server is theirs, whether tokens are JWTs or
// opaque. A server that is shared is one for both.
func TestEachReachesTheirOwn(t *testing.T) {
	for _, format := range []string{"jwt", "opaque"} {
		t.Run(format, func(t *testing.T) {
			m, _ := newOffice(t, format)
			alice, bob := newPerson("alice"), newPerson("bob")
			first := m.client(alice, "/mcp")
			first.connect()
			second := m.client(bob, "/mcp")
			second.connect()
			m.checkToolboxes(t, first, "dev", "ops")
			m.checkToolboxes(t, second, "ops", "dev")

			mine := first.count("team", "own")
			if again := first.count("team", "own"); again.PID != mine.PID || again.Count != mine.Count+1 {
				t.Errorf("alice's own server counted %d in process %d, then %d in %d", mine.Count, mine.PID, again.Count, again.PID)
			}
			if his := second.count("team", "own"); his.PID == mine.PID || his.Count != 1 {
				t.Errorf("bob's own server counted %d in process %d; alice's is process %d", his.Count, his.PID, mine.PID)
			}
			shared := first.count("team", "shared")
			if his := second.count("team", "shared"); his.PID != shared.PID || his.Count != shared.Count+1 {
				t.Errorf("the shared server counted %d in process %d, then %d in %d", shared.Count, shared.PID, his.Count, his.PID)
			}
			// Another client of the same person finds the same state.
			other := m.client(alice, "/mcp")
			other.connect()
			if again := other.count("team", "own"); again.PID != mine.PID || again.Count != mine.Count+2 {
				t.Errorf("alice's other client counted %d in process %d; want %d in %d", again.Count, again.PID, mine.Count+2, mine.PID)
			}
			if got := first.use("team", "canary", "sing"); got.IsError || got.Failed != "" {
				t.Errorf("the canary: %+v", got)
			}
			if !strings.Contains(m.canary.recorded(), "tools/call") {
				t.Error("the canary recorded no call")
			}
		})
	}
}

// checkToolboxes checks that a client sees and reaches one toolbox and "team", and that another does not exist for it.
func (m *team) checkToolboxes(t *testing.T, c *sdk, own, foreign string) {
	t.Helper()
	server := map[string]string{"dev": "builds", "ops": "alerts"}
	for _, toolbox := range []string{own, "team"} {
		if opened := c.do(map[string]any{"do": "call", "name": "open_toolbox", "arguments": map[string]any{"toolbox": toolbox}}); opened.IsError || opened.Failed != "" {
			t.Errorf("%s cannot open %s: %+v", c.person.name, toolbox, opened)
		}
	}
	c.count(own, server[own])
	for _, wish := range []map[string]any{
		{"do": "call", "name": "open_toolbox", "arguments": map[string]any{"toolbox": foreign}},
		{"do": "call", "name": "use_tool", "arguments": map[string]any{"tool": map[string]any{"toolbox": foreign, "server": server[foreign], "name": "count"}, "arguments": map[string]any{}}},
	} {
		if got := c.do(wish); !got.IsError && got.Failed == "" || strings.Contains(got.Text, "PID") {
			t.Errorf("%s reached %s: %+v", c.person.name, foreign, got)
		}
	}
	found := c.do(map[string]any{"do": "call", "name": "find_tools", "arguments": map[string]any{"query": "count"}})
	if !strings.Contains(found.Text, own) || strings.Contains(found.Text, server[foreign]) {
		t.Errorf("%s finds %s", c.person.name, found.Text)
	}
	token := c.token()
	if got := m.send(request{path: "/mcp/" + own, token: token, message: initialize}); got.status != http.StatusOK {
		t.Errorf("%s at /mcp/%s: %+v", c.person.name, own, got)
	}
	hidden, missing := m.send(request{path: "/mcp/" + foreign, token: token, message: initialize}), m.send(request{path: "/mcp/nothing", token: token, message: initialize})
	if hidden.status < 400 || hidden.status != missing.status || strings.ReplaceAll(hidden.body, foreign, "nothing") != missing.body {
		t.Errorf("a toolbox of others is %+v, and one that does not exist %+v", hidden, missing)
	}
}

// The client of others finds everything by itself: from the refusal to the metadata of the resource, that of the provider,
// a registration, a login of the person, and a token for this resource. When that expires, it gets another one, and the
// session goes on.
func TestClientSignsInByItself(t *testing.T) {
	m, idp := newOffice(t, "jwt")
	const life = 5
	idp.lifetime(t, life)
	c := m.client(newPerson("alice"), "/mcp")
	session := c.connect().Session
	asked := c.do(map[string]any{"do": "asked"}).Asked
	if len(asked) < 5 || asked[0].Status != http.StatusUnauthorized || strings.Contains(asked[0].Challenge, "error") ||
		!strings.Contains(asked[0].Challenge, `resource_metadata="`+m.base+`/.well-known/oauth-protected-resource/mcp"`) {
		t.Fatalf("the first request was refused so: %+v", asked)
	}
	if asked[1].URL != m.base+"/.well-known/oauth-protected-resource/mcp" || asked[1].Status != http.StatusOK {
		t.Errorf("the second request was %+v", asked[1])
	}
	if n := idp.count(func(e event) bool { return e.Event == "registration_create.success" }); n != 1 {
		t.Errorf("%d registrations", n)
	}
	if n := idp.count(func(e event) bool { return e.Event == "authorization.success" && e.Resource == m.base+"/mcp" }); n == 0 {
		t.Errorf("no authorization request named the resource: %+v", idp.events)
	}
	token := c.token()
	if claims := claimsOf(t, token); claims["aud"] != m.base+"/mcp" || claims["sub"] != "alice" {
		t.Errorf("the token has the claims %v", claims)
	}
	before := c.count("team", "own")
	// The token ends, and nobody tells the client.
	if err := mcptest.Eventually(patience, func() error {
		if got := m.send(request{token: token, message: initialize}); got.status != http.StatusUnauthorized || !strings.Contains(got.challenge, `error="invalid_token"`) {
			return fmt.Errorf("a token of %d s still counts: %+v", life, got)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	idp.lifetime(t, 3600)
	after := c.count("team", "own")
	if n := idp.grants("refresh_token", "alice"); n == 0 {
		t.Errorf("the token was not refreshed: %+v", idp.events)
	}
	if n := idp.grants("authorization_code", "alice"); n != 1 {
		t.Errorf("alice signed in %d times", n)
	}
	if c.token() == token || after.PID != before.PID || after.Count != before.Count+1 {
		t.Errorf("after the refresh the server counted %d in process %d; before %d in %d", after.Count, after.PID, before.Count, before.PID)
	}
	if again := m.send(request{token: c.token(), session: session, message: `{"jsonrpc":"2.0","id":9,"method":"ping"}`}); again.status != http.StatusOK {
		t.Errorf("the session ended with the token: %+v", again)
	}
	if got := c.do(map[string]any{"do": "end"}); got.Failed != "" {
		t.Errorf("the session cannot be ended: %+v", got)
	}
}

// With a table of groups, clients request the scopes of the configuration. The provider refuses a request without any, and gives
// refresh tokens only to those who ask for offline_access.
func TestClientIsToldOfScopes(t *testing.T) {
	m := newTeam(t)
	idp := startIDP(t, map[string]any{"format": "jwt", "groups": groups, "strict": true})
	m.run(map[string]any{"issuer": idp.issuer, "scopes": []string{"openid", "offline_access"}}, nil)
	c := m.client(newPerson("alice"), "/mcp", "without-scopes")
	c.connect()
	const scope = `scope="openid offline_access"`
	if asked := c.do(map[string]any{"do": "asked"}).Asked; asked[0].Status != http.StatusUnauthorized || !strings.Contains(asked[0].Challenge, scope) {
		t.Errorf("the first request was refused so: %+v", asked[0])
	}
	m.checkToolboxes(t, c, "dev", "ops")
	if tokens := c.do(map[string]any{"do": "tokens"}); tokens.Refresh == "" {
		t.Error("there is no refresh token")
	}
}

// A client with an id of its own, at one toolbox alone: the token is for that toolbox.
func TestClientWithAnIDAtOneToolbox(t *testing.T) {
	m, idp := newOffice(t, "jwt")
	c := m.client(newPerson("bob"), "/mcp/ops", "given", "secret-of-the-client")
	c.connect()
	if n := idp.count(func(e event) bool { return strings.HasPrefix(e.Event, "registration_create") }); n != 0 {
		t.Errorf("%d registrations", n)
	}
	token := c.token()
	if claims := claimsOf(t, token); claims["aud"] != m.base+"/mcp/ops" {
		t.Errorf("the token has the claims %v", claims)
	}
	if tools := c.do(map[string]any{"do": "list"}).Tools; !slices.Contains(tools, "count") {
		t.Errorf("the toolbox has the tools %v", tools)
	}
	// What is for one toolbox is for nothing else.
	if got := m.send(request{token: token, message: initialize}); got.status != http.StatusUnauthorized || !strings.Contains(got.challenge, `error="invalid_token"`) {
		t.Errorf("a token for /mcp/ops at /mcp: %+v", got)
	}
	if got := m.send(request{path: "/mcp/team", token: token, message: initialize}); got.status != http.StatusUnauthorized {
		t.Errorf("a token for /mcp/ops at /mcp/team: %+v", got)
	}
}

// Somebody whom the provider knows and the table does not, reaches nothing.
func TestNobodyOfTheTable(t *testing.T) {
	m, idp := newOffice(t, "jwt")
	carol := m.client(newPerson("carol"), "/mcp")
	if got := carol.do(map[string]any{"do": "connect"}); !strings.Contains(got.Failed, "allows no toolbox") {
		t.Fatalf("carol connects: %+v", got)
	}
	got := m.send(request{token: carol.token(), message: initialize})
	if got.status != http.StatusForbidden || got.challenge != `Bearer resource_metadata="`+m.base+`/.well-known/oauth-protected-resource/mcp"` ||
		!strings.Contains(got.body, "the claim 'groups' in the token") || strings.Contains(got.body, "visitors") {
		t.Errorf("carol's token: %+v", got)
	}
	if n := idp.grants("authorization_code", "carol"); n != 1 {
		t.Errorf("carol signed in %d times", n)
	}
}

// Whoever has a session id of somebody else has nothing.
func TestSessionsOfOthers(t *testing.T) {
	m, _ := newOffice(t, "jwt")
	alice, adam := m.client(newPerson("alice"), "/mcp"), m.client(newPerson("adam"), "/mcp") // who may use the same
	session := alice.connect().Session
	adam.connect()
	for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
		message := `{"jsonrpc":"2.0","id":7,"method":"tools/list"}`
		if method != http.MethodPost {
			message = ""
		}
		if got := m.send(request{method: method, token: adam.token(), session: session, message: message}); got.status != http.StatusNotFound {
			t.Errorf("adam's %s with alice's session: %+v", method, got)
		}
	}
	if got := alice.count("team", "own"); got.Count != 1 {
		t.Errorf("alice's session: %+v", got)
	}
}

// The metadata of the resource needs no token, and says the same of every name.
func TestMetadata(t *testing.T) {
	m, idp := newOffice(t, "jwt")
	for _, path := range []string{"", "/mcp", "/mcp/dev", "/mcp/nothing"} {
		got := m.send(request{method: http.MethodGet, path: "/.well-known/oauth-protected-resource" + path})
		var metadata struct {
			Resource string
			Servers  []string `json:"authorization_servers"`
			Methods  []string `json:"bearer_methods_supported"`
		}
		if err := json.Unmarshal([]byte(got.body), &metadata); err != nil || got.status != http.StatusOK {
			t.Fatalf("%q: %+v %v", path, got, err)
		}
		if metadata.Resource != m.base+path || !slices.Equal(metadata.Servers, []string{idp.issuer}) || !slices.Equal(metadata.Methods, []string{"header"}) {
			t.Errorf("%q: %s", path, got.body)
		}
		if got.header.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%q cannot be read by a page: %v", path, got.header)
		}
	}
}

func claimsOf(t *testing.T, token string) map[string]any {
	t.Helper()
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		t.Fatalf("%d parts: this is no JWT", len(parts))
	}
	raw, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		t.Fatal(err)
	}
	var claims map[string]any
	if err := json.Unmarshal(raw, &claims); err != nil {
		t.Fatal(err)
	}
	return claims
}
