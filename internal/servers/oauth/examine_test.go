package oauth

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// report puts steps into lines.
func report(steps []Step, self string) string {
	var lines []string
	for _, step := range steps {
		line := step.Title + ": "
		if step.Missing {
			line += "MISSING "
		}
		line += step.Detail
		if step.Err != nil {
			line += "ERROR " + step.Err.Error()
		}
		if step.Hint != "" {
			line += " HINT " + step.Hint
		}
		lines = append(lines, strings.ReplaceAll(line, self, "SELF"))
	}
	return strings.Join(lines, "\n")
}

func TestExamination(t *testing.T) {
	unauthorized := reply{status: 401, header: map[string]string{"WWW-Authenticate": `Bearer resource_metadata="SELF/custom", scope="a"`}}
	tests := []struct {
		name     string
		pages    map[string]reply
		settings *config.OAuth
		want     string
	}{
		{
			"all is well",
			map[string]reply{"/mcp": unauthorized, "/custom": {body: goodResource}, serverRoot: metadataOf("SELF", nil)},
			nil,
			`request without a token: HTTP status 401 (Unauthorized), WWW-Authenticate: Bearer, resource_metadata SELF/custom, scope a
protected resource metadata: SELF/custom: found
authorization server metadata: SELF/.well-known/oauth-authorization-server: found
authorization server: SELF, resource SELF/mcp, scopes a
client: can be registered at SELF/register`,
		},
		{
			"no challenge, HTML instead of metadata, and no registration",
			map[string]reply{
				"/mcp": {status: 401}, resourcePath: {kind: "text/html", body: "<html>"}, resourceRoot: {body: goodResource},
				openIDRoot: metadataOf("SELF", map[string]any{"registration_endpoint": nil}),
			},
			nil,
			`request without a token: HTTP status 401 (Unauthorized), without a challenge for a token HINT The server should send 'WWW-Authenticate: Bearer resource_metadata="…"' (RFC 9728, section 5.1). The well-known addresses are tried instead.
protected resource metadata: MISSING SELF/.well-known/oauth-protected-resource/mcp: not found: the answer is not JSON, but text/html
protected resource metadata: SELF/.well-known/oauth-protected-resource: found
authorization server metadata: MISSING SELF/.well-known/oauth-authorization-server: not found: HTTP status 404 (Not Found)
authorization server metadata: SELF/.well-known/openid-configuration: found
authorization server: SELF, resource SELF/mcp, its default scopes
client: ERROR The authorization server SELF does not let the workbench register itself: it has no dynamic client registration (RFC 7591) HINT Register an application in the settings of that service (or ask its operator to do it) as a native or desktop application with the redirect URI http://127.0.0.1:41234/callback, then set 'oauth.clientId' of the server to the id that you get, and 'oauth.clientSecret' if you get a secret. Set 'oauth.callbackPort' to 41234, so that the redirect URI stays the same.`,
		},
		{
			"metadata of another issuer",
			map[string]reply{"/mcp": unauthorized, "/custom": {body: goodResource}, serverRoot: metadataOf("https://other.example.com", nil)},
			nil,
			`request without a token: HTTP status 401 (Unauthorized), WWW-Authenticate: Bearer, resource_metadata SELF/custom, scope a
protected resource metadata: SELF/custom: found
authorization server metadata: SELF/.well-known/oauth-authorization-server: found
login: ERROR The authorization server metadata at SELF/.well-known/oauth-authorization-server names the issuer 'https://other.example.com', and not 'SELF': it has to be the issuer that its address was made of (RFC 8414, section 3.3) HINT Ask the authorization server's operator to correct it. If you know that this issuer is the right one, set 'oauth.issuer' to it.`,
		},
		{
			"no login is needed",
			map[string]reply{"/mcp": {body: "{}"}},
			nil,
			`request without a token: HTTP status 200 (OK): the server asks for no login yet
protected resource metadata: MISSING SELF/.well-known/oauth-protected-resource/mcp: not found: HTTP status 404 (Not Found)
protected resource metadata: MISSING SELF/.well-known/oauth-protected-resource: not found: HTTP status 404 (Not Found)
authorization server metadata: MISSING SELF/.well-known/oauth-authorization-server: not found: HTTP status 404 (Not Found)
authorization server metadata: MISSING SELF/.well-known/openid-configuration: not found: HTTP status 404 (Not Found)
login: MISSING none is offered, and the server did not ask for one: The server at SELF/mcp does not say how to log in: it has no protected resource metadata (RFC 9728), and its origin no authorization server metadata (RFC 8414)`,
		},
		{
			"a login is needed, and none is offered",
			map[string]reply{"/mcp": {status: 401}, serverRoot: {kind: "text/html"}},
			&config.OAuth{},
			`request without a token: HTTP status 401 (Unauthorized), without a challenge for a token HINT The server should send 'WWW-Authenticate: Bearer resource_metadata="…"' (RFC 9728, section 5.1). The well-known addresses are tried instead.
protected resource metadata: MISSING SELF/.well-known/oauth-protected-resource/mcp: not found: HTTP status 404 (Not Found)
protected resource metadata: MISSING SELF/.well-known/oauth-protected-resource: not found: HTTP status 404 (Not Found)
authorization server metadata: MISSING SELF/.well-known/oauth-authorization-server: not found: the answer is not JSON, but text/html
authorization server metadata: MISSING SELF/.well-known/openid-configuration: not found: HTTP status 404 (Not Found)
login: MISSING The server at SELF/mcp does not say how to log in: it has no protected resource metadata (RFC 9728), and its origin no authorization server metadata (RFC 8414); a login tries the endpoints /authorize, /token and /register, as in MCP revision 2025-03-26 HINT If it needs no login, or a fixed token in 'headers', set 'oauth' to false. If you know its authorization server, set 'oauth.authorizationServer' to the issuer.`,
		},
		{
			"the metadata cannot be had now",
			map[string]reply{"/mcp": unauthorized, "/custom": {status: 503}},
			nil,
			`request without a token: HTTP status 401 (Unauthorized), WWW-Authenticate: Bearer, resource_metadata SELF/custom, scope a
protected resource metadata: MISSING SELF/custom: HTTP status 503 (Service Unavailable)
login: ERROR The protected resource metadata at SELF/custom cannot be had now: HTTP status 503 (Service Unavailable); try again later`,
		},
		{
			"a machine needs metadata",
			map[string]reply{"/mcp": {status: 401}, resourceRoot: {body: "<"}},
			&config.OAuth{Grant: config.GrantClientCredentials, ClientID: "x"},
			`request without a token: HTTP status 401 (Unauthorized), without a challenge for a token HINT The server should send 'WWW-Authenticate: Bearer resource_metadata="…"' (RFC 9728, section 5.1). The well-known addresses are tried instead.
protected resource metadata: MISSING SELF/.well-known/oauth-protected-resource/mcp: not found: HTTP status 404 (Not Found)
protected resource metadata: MISSING SELF/.well-known/oauth-protected-resource: not found: the answer is not valid JSON
authorization server metadata: MISSING SELF/.well-known/oauth-authorization-server: not found: HTTP status 404 (Not Found)
authorization server metadata: MISSING SELF/.well-known/openid-configuration: not found: HTTP status 404 (Not Found)
login: ERROR The server at SELF/mcp does not say how to log in: it has no protected resource metadata (RFC 9728), and its origin no authorization server metadata (RFC 8414) HINT If it needs no login, or a fixed token in 'headers', set 'oauth' to false. If you know its authorization server, set 'oauth.authorizationServer' to the issuer.`,
		},
		{
			"the client is configured",
			map[string]reply{"/mcp": unauthorized, "/custom": {body: goodResource}, serverRoot: metadataOf("SELF", nil)},
			&config.OAuth{ClientID: "x", OmitResource: true},
			`request without a token: HTTP status 401 (Unauthorized), WWW-Authenticate: Bearer, resource_metadata SELF/custom, scope a
protected resource metadata: SELF/custom: found
authorization server metadata: SELF/.well-known/oauth-authorization-server: found
authorization server: SELF, without a resource, scopes a
client: the configured client id`,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newSite(t, test.pages)
			guard, address := newGuard(t, s.URL+"/mcp")
			steps := examine(t.Context(), newDiscoverer(guard, address, test.settings, nil), newRegistrar(guard, test.settings, "", nil), redirect, nil, nil)
			if got := report(steps, s.URL); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
			for _, request := range s.asked() {
				if !strings.HasPrefix(request, "GET ") && request != "POST /mcp" {
					t.Errorf("an examination sent %s", request)
				}
			}
		})
	}
}

func TestProbeRunsNothing(t *testing.T) {
	var session string
	s := newSite(t, map[string]reply{"/mcp": {answer: func(w http.ResponseWriter, r *http.Request) {
		session = r.Header.Get("Mcp-Session-Id") + r.Header.Get("Authorization")
		w.Header().Add("WWW-Authenticate", `Basic realm="x"`)
		w.Header().Add("WWW-Authenticate", `Bearer scope="a"`)
		w.WriteHeader(http.StatusUnauthorized)
	}}})
	guard, address := newGuard(t, s.URL+"/mcp")
	asked, code, err := newDiscoverer(guard, address, nil, nil).probe(t.Context())
	if err != nil || code != http.StatusUnauthorized || asked != (challenge{scheme: "bearer", scope: "a"}) || session != "" {
		t.Errorf("%+v, %d, %v", asked, code, err)
	}
}
