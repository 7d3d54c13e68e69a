package oauth

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

func TestServerMetadataIsLookedForInOrder(t *testing.T) {
	const inserted, openIDInserted, appended = serverRoot + "/tenant/1", openIDRoot + "/tenant/1", "/tenant/1" + openIDRoot
	tests := []struct {
		name, path, at string
		want           []string
	}{
		{"without a path", "", serverRoot, []string{serverRoot}},
		{"without a path, OpenID Connect", "", openIDRoot, []string{serverRoot, openIDRoot}},
		{"with only a slash", "/", openIDRoot, []string{serverRoot, openIDRoot}},
		{"with a path", "/tenant/1", inserted, []string{inserted}},
		{"with a path, OpenID Connect inserted", "/tenant/1", openIDInserted, []string{inserted, openIDInserted}},
		{"with a path, OpenID Connect appended", "/tenant/1", appended, []string{inserted, openIDInserted, appended}},
		{"with a path and a slash", "/tenant/1/", appended, []string{inserted, openIDInserted, appended}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newSite(t, map[string]reply{resourcePath: {body: `{"resource":"SELF/mcp","authorization_servers":["SELF` + test.path + `"]}`}})
			s.set(test.at, metadataOf(s.URL+test.path, nil))
			found, err := discover(t, s, nil, challenge{}, false)
			if err != nil {
				t.Fatal(err)
			}
			if found.server.Issuer != s.URL+test.path {
				t.Errorf("issuer %s", found.server.Issuer)
			}
			for i := range test.want {
				test.want[i] = "GET " + test.want[i]
			}
			if got := s.asked()[1:]; !slices.Equal(got, test.want) {
				t.Errorf("asked for\n%q, want\n%q", got, test.want)
			}
		})
	}
}

func TestAnswersToTheRequestForServerMetadata(t *testing.T) {
	good := metadataOf("SELF", nil)
	tests := []struct {
		name          string
		first, second reply // at the well-known addresses of OAuth and OpenID Connect
		want, text    string
	}{
		{"404, then good", reply{status: 404}, good, "none", ""},
		{"HTML, then good", reply{kind: "text/html", body: "<html>"}, good, "none", ""},
		{"400 with JSON, then good", reply{status: 400, body: "{}"}, good, "none", ""},
		{"500, then good: both have to name the same issuer", reply{status: 500}, good, "none", ""},
		{"500, then nothing", reply{status: 500}, reply{status: 404}, "temporary", "500"},
		{"nothing", reply{status: 404}, reply{kind: "text/html", body: "<html>"}, "problem", "none of these addresses"},
		{"not valid, then good", reply{body: `{"issuer":7}`}, good, "problem", "issuer"},
		{"without an issuer, then good", metadataOf("", nil), good, "problem", "has no 'issuer'"},
		{"another issuer, then good", metadataOf("https://attacker.example.com", nil), good, "problem", "oauth.issuer"},
		{"without S256, then good", metadataOf("SELF", map[string]any{"code_challenge_methods_supported": []string{"plain"}}), good, "problem", "oauth.pkce"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newSite(t, map[string]reply{resourcePath: {body: goodResource}, serverRoot: test.first, openIDRoot: test.second})
			_, err := discover(t, s, nil, challenge{}, true)
			if got := kindOf(err); got != test.want {
				t.Fatalf("got %s (%v), want %s", got, err, test.want)
			}
			if err != nil && (!strings.Contains(err.Error(), test.text) || !strings.Contains(err.Error(), s.URL)) {
				t.Errorf("the error does not name %q and the address: %v", test.text, err)
			}
		})
	}
}

func TestIssuerHasToBeIdentical(t *testing.T) {
	tests := []struct {
		named, issuer, pin string
		ok                 bool
	}{
		{"SELF", "SELF", "", true},
		{"SELF", "SELF/", "", true},
		{"SELF/", "SELF", "", true},
		{"SELF/", "SELF//", "", false},
		{"SELF", "SELF/x", "", false},
		{"SELF/Tenant", "SELF/tenant", "", false},
		{"SELF", "https://attacker.example.com", "", false},
		{"SELF", "https://issuer.example.com", "https://issuer.example.com", true},
		{"SELF", "https://issuer.example.com/", "https://issuer.example.com", true},
		{"SELF", "SELF", "https://issuer.example.com", false},
		{"SELF", "\x1b[31mhttps://issuer.example.com", "", false},
	}
	for _, test := range tests {
		t.Run(fmt.Sprint(test), func(t *testing.T) {
			s := newSite(t, map[string]reply{resourcePath: {body: `{"resource":"SELF/mcp","authorization_servers":["` + test.named + `"]}`}})
			path := strings.TrimSuffix(strings.TrimPrefix(test.named, "SELF"), "/")
			s.set(serverRoot+path, metadataOf(test.issuer, nil))
			found, err := discover(t, s, &config.OAuth{Issuer: test.pin}, challenge{}, false)
			switch {
			case test.ok && err != nil:
				t.Error(err)
			case test.ok && found.server.Issuer != strings.ReplaceAll(test.issuer, "SELF", s.URL):
				t.Errorf("the issuer is not kept as it is: %s", found.server.Issuer)
			case !test.ok && (kindOf(err) != "problem" || !strings.Contains(err.Error(), "oauth.issuer")):
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestIssuerHasNoQuery(t *testing.T) {
	s := newSite(t, map[string]reply{resourcePath: {body: `{"resource":"SELF/mcp","authorization_servers":["SELF?x=1"]}`}, serverRoot: metadataOf("SELF?x=1", nil)})
	if _, err := discover(t, s, nil, challenge{}, true); kindOf(err) != "problem" || !strings.Contains(err.Error(), "no query") {
		t.Error(err)
	}
}

func TestWhatServerMetadataNeeds(t *testing.T) {
	tests := []struct {
		name     string
		settings config.OAuth
		changes  map[string]any
		want     string // in the error; "": none
	}{
		{"all", config.OAuth{}, nil, ""},
		{"no registration", config.OAuth{}, map[string]any{"registration_endpoint": nil}, ""},
		{"no token endpoint", config.OAuth{}, map[string]any{"token_endpoint": nil}, "token_endpoint"},
		{"no authorization endpoint", config.OAuth{}, map[string]any{"authorization_endpoint": nil}, "authorization_endpoint"},
		{"PKCE is not mentioned", config.OAuth{}, map[string]any{"code_challenge_methods_supported": nil}, "oauth.pkce"},
		{"PKCE without S256", config.OAuth{}, map[string]any{"code_challenge_methods_supported": []string{"plain"}}, "oauth.pkce"},
		{"PKCE is assumed", config.OAuth{PKCE: config.PKCEAssume}, map[string]any{"code_challenge_methods_supported": nil}, ""},
		{"a machine needs neither", config.OAuth{Grant: config.GrantClientCredentials}, map[string]any{"code_challenge_methods_supported": nil, "authorization_endpoint": nil}, ""},
		{"a machine needs the token endpoint", config.OAuth{Grant: config.GrantClientCredentials}, map[string]any{"token_endpoint": nil}, "token_endpoint"},
		{"a page that is a script", config.OAuth{}, map[string]any{"authorization_endpoint": "javascript:alert(1)"}, "authorization_endpoint"},
		{"an endpoint without TLS", config.OAuth{}, map[string]any{"token_endpoint": "http://as.example.com/token"}, "token_endpoint"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newSite(t, map[string]reply{resourcePath: {body: goodResource}, serverRoot: metadataOf("SELF", test.changes)})
			_, err := discover(t, s, &test.settings, challenge{}, false)
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestChoiceOfTheAuthorizationServer(t *testing.T) {
	sites := make(map[string]*site)
	for _, name := range []string{"ONE", "TWO", "THREE"} {
		sites[name] = newSite(t, nil)
		sites[name].set(serverRoot, metadataOf("SELF", nil))
	}
	expand := strings.NewReplacer("ONE", sites["ONE"].URL, "TWO", sites["TWO"].URL, "THREE", sites["THREE"].URL)
	broken, down := reply{body: `{"issuer":"https://attacker.example.com"}`}, reply{status: 503}
	tests := []struct {
		name, list, held string
		pages            map[string]reply
		want             string // a name, or the kind of the error
	}{
		{"the first", `["ONE","TWO"]`, "", nil, "ONE"},
		{"one that there is a login for", `["ONE","TWO"]`, "TWO", nil, "TWO"},
		{"one that there is a login for, with a slash", `["ONE","TWO"]`, "TWO/", nil, "TWO"},
		{"one that there is a login for, without the slash", `["ONE","TWO/"]`, "TWO", nil, "TWO"},
		{"a login elsewhere does not count", `["ONE","TWO"]`, "THREE", nil, "ONE"},
		{"the first that is valid", `["ONE","TWO"]`, "", map[string]reply{"ONE": broken}, "TWO"},
		{"the first that has metadata", `["ONE","TWO"]`, "", map[string]reply{"ONE": {status: 404}}, "TWO"},
		{"the first that can be had", `["ONE","TWO"]`, "", map[string]reply{"ONE": down}, "TWO"},
		{"one that there is a login for is not replaced while it is down", `["ONE","TWO"]`, "TWO", map[string]reply{"TWO": down}, "temporary"},
		{"one that is down may be better later", `["ONE","TWO"]`, "", map[string]reply{"ONE": broken, "TWO": down}, "temporary"},
		{"none is valid", `["ONE","TWO"]`, "", map[string]reply{"ONE": broken, "TWO": broken}, "problem"},
		{"one that must not be used is skipped", `["http://169.254.169.254","ONE"]`, "", nil, "ONE"},
		{"one with a query is skipped", `["TWO?x=1","ONE"]`, "", nil, "ONE"},
		{"at most twenty are looked at", `[` + strings.Repeat(`"https://10.0.0.1",`, maxServers) + `"ONE"]`, "", nil, "problem"},
		{"twenty are looked at", `[` + strings.Repeat(`"https://10.0.0.1",`, maxServers-1) + `"ONE"]`, "", nil, "ONE"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for name, s := range sites {
				p, ok := test.pages[name]
				if !ok {
					p = metadataOf("SELF", nil)
				}
				s.set(serverRoot, p)
				s.set(openIDRoot, reply{status: 404})
			}
			s := newSite(t, map[string]reply{resourcePath: {body: expand.Replace(`{"resource":"SELF/mcp","authorization_servers":` + test.list + `}`)}})
			guard, address := newGuard(t, s.URL+"/mcp")
			held := func(issuer string) bool { return test.held != "" && issuer == expand.Replace(test.held) }
			found, err := newDiscoverer(guard, address, nil, nil).find(t.Context(), challenge{}, held, true)
			checkText(t, err)
			got := kindOf(err)
			if err == nil {
				got = found.server.Issuer
			}
			if want := expand.Replace(test.want); got != want {
				t.Errorf("got %s (%v), want %s", got, err, want)
			}
		})
	}
}

func TestConfiguredAuthorizationServer(t *testing.T) {
	as := newSite(t, map[string]reply{serverRoot + "/tenant": metadataOf("SELF/tenant", nil)})
	s := newSite(t, map[string]reply{resourcePath: {body: goodResource}})
	found, err := discover(t, s, &config.OAuth{AuthorizationServer: as.URL + "/tenant"}, challenge{scheme: "bearer", scope: "a"}, false)
	if err != nil {
		t.Fatal(err)
	}
	if found.server.Issuer != as.URL+"/tenant" || !slices.Equal(found.scopes, []string{"a"}) || found.resource != s.URL+"/mcp" {
		t.Errorf("%+v", found)
	}
	if len(s.asked()) != 0 {
		t.Errorf("the server's own metadata was asked for: %q", s.asked())
	}
}
