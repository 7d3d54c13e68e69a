package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/webclient"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

func TestResourceMetadataIsLookedForInOrder(t *testing.T) {
	tests := []struct {
		name  string
		path  string
		from  challenge
		pages map[string]reply
		want  []string
	}{
		{"as the challenge says, and nowhere else", "/mcp", challenge{resourceMetadata: "SELF/custom?x=1"}, map[string]reply{"/custom": {body: goodResource}}, []string{"GET /custom?x=1"}},
		{"at the path", "/mcp", challenge{}, map[string]reply{resourcePath: {body: goodResource}}, []string{"GET " + resourcePath}},
		{"at the root", "/mcp", challenge{}, map[string]reply{resourceRoot: {body: goodResource}}, []string{"GET " + resourcePath, "GET " + resourceRoot}},
		{
			"the address in the challenge has nothing", "/mcp",
			challenge{resourceMetadata: "SELF/custom"},
			map[string]reply{resourcePath: {body: goodResource}},
			[]string{"GET /custom", "GET " + resourcePath},
		},
		{
			"the challenge names a well-known address", "/mcp",
			challenge{resourceMetadata: "SELF" + resourcePath},
			map[string]reply{resourceRoot: {body: goodResource}},
			[]string{"GET " + resourcePath, "GET " + resourceRoot},
		},
		{"a server at the root", "/", challenge{}, map[string]reply{resourceRoot: {body: `{"resource":"SELF","authorization_servers":["SELF"]}`}}, []string{"GET " + resourceRoot}},
		{
			"a path with a slash at its end", "/mcp/",
			challenge{},
			map[string]reply{resourcePath: {body: goodResource}},
			[]string{"GET " + resourcePath + "/", "GET " + resourcePath},
		},
		{"a server with a query", "/mcp?tenant=7", challenge{}, map[string]reply{resourcePath: {body: goodResource}}, []string{"GET " + resourcePath + "?tenant=7"}},
		{"an escaped path", "/a%2Fb", challenge{}, map[string]reply{resourceRoot + "/a/b": {body: `{"resource":"SELF/a%2Fb","authorization_servers":["SELF"]}`}}, []string{"GET " + resourceRoot + "/a%2Fb"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newSite(t, test.pages)
			s.set(serverRoot, metadataOf(s.URL, nil))
			test.from.resourceMetadata = strings.ReplaceAll(test.from.resourceMetadata, "SELF", s.URL)
			guard, address := newGuard(t, s.URL+test.path)
			if _, err := newDiscoverer(guard, address, nil, nil).find(t.Context(), test.from, nil, false); err != nil {
				t.Fatal(err)
			}
			if got, want := s.asked(), slices.Concat(test.want, []string{"GET " + serverRoot}); !slices.Equal(got, want) {
				t.Errorf("asked for\n%q, want\n%q", got, want)
			}
		})
	}
}

// An answer of a candidate decides what happens next: the next candidate, an end, or an attempt later.
func TestAnswersToTheRequestForResourceMetadata(t *testing.T) {
	tests := []struct {
		name  string
		first reply // at the path; good metadata is at the root
		want  string
		text  string // in the error
	}{
		{"404", reply{status: 404, body: "{}"}, "none", ""},
		{"401", reply{status: 401}, "none", ""},
		{"403 with JSON", reply{status: 403, body: `{"error":"x"}`}, "none", ""},
		{"an HTML page with status 200", reply{kind: "text/html", body: "<!doctype html><title>App</title>"}, "none", ""},
		{"an HTML page that says that it is JSON", reply{body: "<html>"}, "none", ""},
		{"an empty page", reply{}, "none", ""},
		{"204", reply{status: 204}, "none", ""},
		{"JSON that is cut off", reply{body: `{"resource":"SELF/mcp","authorization_ser`}, "none", ""},
		{"a huge page", reply{kind: "text/html", body: strings.Repeat("x", 300<<10)}, "none", ""},
		{"a redirect to another origin", reply{status: 302, header: map[string]string{"Location": "https://login.example.com/"}}, "none", ""},
		{"JSON with another media type", reply{kind: "text/plain", body: goodResource}, "none", ""},
		{"a byte order mark", reply{body: "\ufeff" + goodResource}, "none", ""},
		{"500", reply{status: 500, body: "oops"}, "temporary", "HTTP status 500"},
		{"503", reply{status: 503}, "temporary", "HTTP status 503"},
		{"429", reply{status: 429}, "temporary", "HTTP status 429"},
		{"a JSON array", reply{body: `[]`}, "problem", "array"},
		{"JSON of another kind", reply{body: `{"error":"no"}`}, "problem", "has no 'resource'"},
		{"no authorization servers", reply{body: `{"resource":"SELF/mcp"}`}, "problem", "'authorization_servers' is missing or empty"},
		{"an empty list of authorization servers", reply{body: `{"resource":"SELF/mcp","authorization_servers":[]}`}, "problem", "oauth.authorizationServer"},
		{"authorization servers of a wrong type", reply{body: `{"resource":"SELF/mcp","authorization_servers":[7]}`}, "problem", "authorization_servers"},
		{"several resources", reply{body: `{"resource":["SELF/mcp","SELF/x"],"authorization_servers":["SELF"]}`}, "problem", "several members"},
		{"a resource that is a number", reply{body: `{"resource":7,"authorization_servers":["SELF"]}`}, "problem", "'resource' is not a string"},
		{"JSON that is nested too deep", reply{body: strings.Repeat("[", 40) + strings.Repeat("]", 40)}, "problem", "nested deeper"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newSite(t, map[string]reply{resourcePath: test.first, resourceRoot: {body: goodResource}})
			s.set(serverRoot, metadataOf(s.URL, nil))
			_, err := discover(t, s, nil, challenge{}, true)
			if got := kindOf(err); got != test.want {
				t.Fatalf("got %s (%v), want %s", got, err, test.want)
			}
			if err == nil {
				return
			}
			if !strings.Contains(err.Error(), test.text) || !strings.Contains(err.Error(), s.URL+resourcePath) {
				t.Errorf("the error does not name %q and the address: %v", test.text, err)
			}
			if asked := s.asked(); len(asked) != 1 {
				t.Errorf("it went on after the error: %q", asked)
			}
		})
	}
}

func TestResourceHasToBeTheServer(t *testing.T) {
	tests := []struct {
		resource string // JSON
		want     string // what is sent; "": refused
	}{
		{`"SELF/mcp"`, "SELF/mcp"},
		{`["SELF/mcp"]`, "SELF/mcp"},
		{`"SELF/mcp/"`, "SELF/mcp/"},
		{`"SELF"`, "SELF"},
		{`"SELF/"`, "SELF/"},
		{`"SELF/mcp//"`, ""},
		{`"SELF/mc"`, ""},
		{`"SELF/mcp/deeper"`, ""},
		{`"SELF/other"`, ""},
		{`"SELF/mcp?x=1"`, ""},
		{`"SELF/mcp?"`, ""},
		{`"SELF/mcp#x"`, ""},
		{`"SELF/mcp#"`, ""},
		{`"SELF/x/../mcp"`, ""},
		{`"SELF/%6dcp"`, ""},
		{`"https://evil.example.com/mcp"`, ""},
		{`"http://user@127.0.0.1/mcp"`, ""},
		{`"mcp"`, ""},
		{`""`, ""},
		{`[]`, ""},
		{`"\u001b[31mred"`, ""},
	}
	for _, test := range tests {
		t.Run(test.resource, func(t *testing.T) {
			s := newSite(t, map[string]reply{resourcePath: {body: `{"resource":` + test.resource + `,"authorization_servers":["SELF"]}`}})
			s.set(serverRoot, metadataOf(s.URL, nil))
			found, err := discover(t, s, nil, challenge{}, true)
			switch {
			case test.want == "" && kindOf(err) != "problem":
				t.Errorf("it was not refused: %v", err)
			case test.want == "" && !strings.Contains(err.Error(), "oauth.resource"):
				t.Errorf("the error does not say what to set: %v", err)
			case test.want != "" && err != nil:
				t.Error(err)
			case test.want != "" && found.resource != strings.ReplaceAll(test.want, "SELF", s.URL):
				t.Errorf("sends %q", found.resource)
			}
			if test.want == "" && len(s.asked()) != 1 {
				t.Errorf("the authorization server of another resource was asked: %q", s.asked())
			}
		})
	}
}

func TestResourceOfHostsInUpperCase(t *testing.T) {
	for resource, want := range map[string]bool{
		"https://MCP.example.com/mcp": true, "HTTPS://mcp.example.com:443/mcp": true, "https://mcp.example.com/MCP": false,
		"http://mcp.example.com/mcp": false, "https://mcp.example.com:8443/mcp": false, "https://mcp.example.com.evil.example/mcp": false,
		"https://user@mcp.example.com/mcp": false, "https:mcp.example.com/mcp": false,
	} {
		_, server := newGuard(t, "https://mcp.example.com/mcp")
		if got := covers(resource, server); got != want {
			t.Errorf("%s: %t, want %t", resource, got, want)
		}
	}
}

func TestResourceBySettings(t *testing.T) {
	const other = `{"resource":"https://other.example.com/api","authorization_servers":["SELF"]}`
	tests := []struct {
		name     string
		settings config.OAuth
		document string
		want     string
	}{
		{"the configured one is sent", config.OAuth{Resource: "SELF"}, goodResource, "SELF"},
		{"none is sent", config.OAuth{OmitResource: true}, goodResource, ""},
		{"the configured one is accepted", config.OAuth{Resource: "https://other.example.com/api"}, other, "https://other.example.com/api"},
		{"the metadata has none", config.OAuth{Resource: "SELF/mcp"}, `{"authorization_servers":["SELF"]}`, "SELF/mcp"},
		{"no metadata", config.OAuth{}, "", "SELF/mcp"},
		{"the authorization server is configured", config.OAuth{AuthorizationServer: "SELF"}, other, "SELF/mcp"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newSite(t, nil)
			s.set(serverRoot, metadataOf(s.URL, nil))
			if test.document != "" {
				s.set(resourcePath, reply{body: test.document})
			}
			found, err := discover(t, s, &test.settings, challenge{}, false)
			if err != nil {
				t.Fatal(err)
			}
			if want := strings.ReplaceAll(test.want, "SELF", s.URL); found.resource != want {
				t.Errorf("sends %q, want %q", found.resource, want)
			}
		})
	}
}

func TestTheQueryOfTheServerIsNeverShownNorSentElsewhere(t *testing.T) {
	s := newSite(t, map[string]reply{serverRoot: {status: 503}})
	guard, address := newGuard(t, s.URL+"/mcp?key=SECRET")
	_, err := newDiscoverer(guard, address, nil, func(step Step) {
		if strings.Contains(fmt.Sprint(step), "SECRET") {
			t.Errorf("shown: %v", step)
		}
	}).find(t.Context(), challenge{resourceMetadata: s.URL + "/custom?key=SECRET"}, nil, true)
	if kindOf(err) != "temporary" {
		t.Error(err)
	}
	checkText(t, err)
	s.set(serverRoot, metadataOf(s.URL, nil))
	found, err := newDiscoverer(guard, address, nil, nil).find(t.Context(), challenge{}, nil, true)
	if err != nil || found.resource != s.URL+"/mcp" {
		t.Errorf("resource %v, %v", found, err)
	}
}

func TestScopes(t *testing.T) {
	many := strings.Repeat("x ", 1)
	for i := range 300 {
		many += fmt.Sprintf("s%d ", i)
	}
	tests := []struct {
		name     string
		settings *config.OAuth
		asked    string
		resource string // scopes_supported, JSON
		server   []string
		want     []string
		err      string
	}{
		{"none", nil, "", "null", nil, nil, ""},
		{"the challenge counts", nil, "a b", `["c"]`, nil, []string{"a", "b"}, ""},
		{"else the metadata", nil, "", `["c","d"]`, nil, []string{"c", "d"}, ""},
		{"else nothing, even if the authorization server has some", nil, "", "null", []string{"x", "offline_access"}, nil, ""},
		{"the configuration before all", &config.OAuth{Scopes: []string{"z"}}, "a", `["c"]`, []string{"offline_access"}, []string{"z"}, ""},
		{"the configuration requests none", &config.OAuth{Scopes: []string{}}, "a", `["c"]`, []string{"offline_access"}, []string{}, ""},
		{"a refresh token where the authorization server knows the scope", nil, "a", "null", []string{"a", "offline_access"}, []string{"a", "offline_access"}, ""},
		{"no refresh token where it does not", nil, "a offline_access", `null`, []string{"a"}, []string{"a"}, ""},
		{"nor where it lists nothing", nil, "", `["offline_access","a"]`, nil, []string{"a"}, ""},
		{"not alone", nil, "offline_access", `null`, []string{"a"}, nil, ""},
		{"not twice", nil, "offline_access a", `null`, []string{"offline_access"}, []string{"offline_access", "a"}, ""},
		{"a machine needs no refresh token", &config.OAuth{Grant: config.GrantClientCredentials}, "a", "null", []string{"offline_access"}, []string{"a"}, ""},
		{"repeated and impossible ones", nil, "", `["a","a","b c",""]`, nil, []string{"a"}, ""},
		{"too many in the challenge", nil, many, "null", nil, nil, "oauth.scopes"},
		{"too many in the metadata", nil, "", `["` + strings.Join(strings.Fields(many), `","`) + `"]`, nil, nil, "oauth.scopes"},
		{"too many, but others are configured", &config.OAuth{Scopes: []string{"z"}}, many, "null", nil, []string{"z"}, ""},
		{"many of the authorization server", nil, "a", "null", append(strings.Fields(many), "offline_access"), []string{"a", "offline_access"}, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newSite(t, map[string]reply{resourcePath: {body: `{"resource":"SELF/mcp","authorization_servers":["SELF"],"scopes_supported":` + test.resource + `}`}})
			s.set(serverRoot, metadataOf(s.URL, map[string]any{"scopes_supported": test.server}))
			found, err := discover(t, s, test.settings, challenge{scheme: "bearer", scope: test.asked}, false)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(found.scopes, test.want) {
				t.Errorf("requests %q, want %q", found.scopes, test.want)
			}
			if len(found.server.ScopesSupported) > maxScopes {
				t.Errorf("%d scopes of the authorization server are kept", len(found.server.ScopesSupported))
			}
		})
	}
}

// Without any metadata, a server may be one of revision 2025-03-26.
func TestServersOfTheFirstRevision(t *testing.T) {
	t.Run("metadata at the root of the origin", func(t *testing.T) {
		s := newSite(t, nil)
		s.set(serverRoot, metadataOf(s.URL, map[string]any{"token_endpoint": "SELF/oauth/token"}))
		found, err := discover(t, s, nil, challenge{}, false)
		if err != nil {
			t.Fatal(err)
		}
		if found.guessed || found.server.TokenEndpoint != s.URL+"/oauth/token" || found.resource != s.URL+"/mcp" {
			t.Errorf("%+v", found)
		}
		if want := []string{"GET " + resourcePath, "GET " + resourceRoot, "GET " + serverRoot}; !slices.Equal(s.asked(), want) {
			t.Errorf("asked for %q", s.asked())
		}
	})
	t.Run("endpoints are guessed in a login", func(t *testing.T) {
		s := newSite(t, nil)
		found, err := discover(t, s, nil, challenge{}, true)
		if err != nil {
			t.Fatal(err)
		}
		m := found.server
		if !found.guessed || m.Issuer != s.URL || m.AuthorizationEndpoint != s.URL+"/authorize" || m.TokenEndpoint != s.URL+"/token" || m.RegistrationEndpoint != s.URL+"/register" {
			t.Errorf("%+v", m)
		}
	})
	t.Run("and never otherwise", func(t *testing.T) {
		_, err := discover(t, newSite(t, nil), nil, challenge{}, false)
		if kindOf(err) != "no login" || !strings.Contains(err.Error(), "oauth.authorizationServer") {
			t.Error(err)
		}
	})
	t.Run("nor for a machine", func(t *testing.T) {
		if _, err := discover(t, newSite(t, nil), &config.OAuth{Grant: config.GrantClientCredentials}, challenge{}, true); kindOf(err) != "no login" {
			t.Error(err)
		}
	})
	for name, pages := range map[string]map[string]reply{
		"nor if the resource metadata cannot be had now":                  {resourcePath: {status: 502}},
		"nor if the metadata of the authorization server cannot be had":   {serverRoot: {status: 500}},
		"nor if other metadata of the authorization server cannot be had": {openIDRoot: {status: 503}},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := discover(t, newSite(t, pages), nil, challenge{}, true); kindOf(err) != "temporary" {
				t.Error(err)
			}
		})
	}
	for name, pages := range map[string]map[string]reply{
		"nor if the resource metadata is not valid":    {resourcePath: {body: `{}`}},
		"nor if the server's metadata is not valid":    {serverRoot: {body: `{}`}},
		"nor if the authorization server has none":     {resourcePath: {body: goodResource}},
		"nor if the issuer of its metadata is another": {serverRoot: metadataOf("https://attacker.example.com", nil)},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := discover(t, newSite(t, pages), nil, challenge{}, true); kindOf(err) != "problem" {
				t.Error(err)
			}
		})
	}
}

func TestUnreachableServersAreTemporary(t *testing.T) {
	// It stays, so that nobody else gets its port, and answers nothing.
	gone := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	defer gone.Close()
	address := gone.URL
	guard, server := newGuard(t, address+"/mcp")
	if _, err := newDiscoverer(guard, server, nil, nil).find(t.Context(), challenge{}, nil, true); kindOf(err) != "temporary" || !strings.Contains(err.Error(), address) {
		t.Errorf("the server is gone: %v", err)
	}
	s := newSite(t, map[string]reply{resourcePath: {body: `{"resource":"SELF/mcp","authorization_servers":["` + address + `"]}`}})
	if _, err := discover(t, s, nil, challenge{}, true); kindOf(err) != "temporary" || !strings.Contains(err.Error(), address) {
		t.Errorf("the authorization server is gone: %v", err)
	}
}

func TestDiscoveryEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var requests atomic.Int32
	s := newSite(t, map[string]reply{resourcePath: {answer: func(_ http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		cancel()
		<-r.Context().Done()
	}}})
	guard, address := newGuard(t, s.URL+"/mcp")
	_, err := newDiscoverer(guard, address, nil, nil).find(ctx, challenge{}, nil, true)
	if !errors.Is(err, context.Canceled) || isTemporary(err) || requests.Load() != 1 {
		t.Errorf("%v after %d requests", err, requests.Load())
	}
}

func TestDiscoveryIsBounded(t *testing.T) {
	s := newSite(t, map[string]reply{resourcePath: {answer: func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }}})
	guard, address := newGuard(t, s.URL+"/mcp")
	d := newDiscoverer(guard, address, nil, nil)
	d.limit = 20 * time.Millisecond
	if _, err := d.find(t.Context(), challenge{}, nil, true); kindOf(err) != "temporary" || !strings.Contains(err.Error(), "took longer than 20ms") {
		t.Error(err)
	}
}

func TestRedirectsStayInTheOrigin(t *testing.T) {
	other := newSite(t, map[string]reply{"/resource": {body: goodResource}})
	s := newSite(t, map[string]reply{
		resourcePath: {status: 302, header: map[string]string{"Location": other.URL + "/resource"}},
		resourceRoot: {status: 302, header: map[string]string{"Location": "/moved"}},
		"/moved":     {body: goodResource},
		serverRoot:   {status: 307, header: map[string]string{"Location": other.URL + serverRoot}},
		openIDRoot:   {status: 308, header: map[string]string{"Location": "SELF/metadata"}},
		"/metadata":  metadataOf("SELF", nil),
		"/register":  {status: 307, header: map[string]string{"Location": "SELF/elsewhere"}},
		"/elsewhere": {body: `{"client_id":"a"}`},
	})
	found, err := discover(t, s, nil, challenge{}, false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := registerAt(t, s, nil, func(to *target) { to.server = found.server }, nil, false); kindOf(err) != "problem" {
		t.Errorf("a registration was redirected: %v", err)
	}
	if asked := other.asked(); len(asked) != 0 {
		t.Errorf("the other origin was asked for %q", asked)
	}
}

func TestServerWithoutTLSHasNoLogin(t *testing.T) {
	guard, address := newGuard(t, "http://192.0.2.1/mcp?key=SECRET")
	_, _, err := newDiscoverer(guard, address, nil, nil).probe(t.Context())
	if kindOf(err) != "problem" || !strings.Contains(err.Error(), "https in 'url'") {
		t.Error(err)
	}
	checkText(t, err)
	site := newSite(t, map[string]reply{serverRoot: metadataOf("SELF", nil)}) // nor does the configuration give it one
	_, err = newDiscoverer(guard, address, &config.OAuth{AuthorizationServer: site.URL}, nil).find(t.Context(), challenge{scheme: schemeBearer}, nil, true)
	if kindOf(err) != "problem" || !strings.Contains(err.Error(), "https in 'url'") || len(site.asked()) != 0 {
		t.Error(err, site.asked())
	}
	checkText(t, err)
}

// Nothing that a server names is fetched from where only this machine can get.
func TestAddressesThatMustNotBeUsed(t *testing.T) {
	for _, address := range []string{
		"http://169.254.169.254/latest/meta-data", "https://10.0.0.1/x", "https://192.168.1.1/", "https://[::1]/x", "http://public.example.com/x", "file:///etc/passwd",
		"javascript:alert(1)", "https://user:SECRET@example.com/", "https://[fe80::1]/", "https://0x7f000001/", "ftp://example.com/", "//example.com/x", "/relative",
	} {
		t.Run(address, func(t *testing.T) {
			guard, server := newGuard(t, "https://192.0.2.1/mcp") // no name, which would be looked up
			d := newDiscoverer(guard, server, nil, nil)
			_, err := d.resource(t.Context(), challenge{resourceMetadata: address})
			if kindOf(err) != "problem" {
				t.Errorf("resource_metadata: %v", err)
			}
			checkText(t, err)
			_, err = d.choose(t.Context(), []string{address}, nil)
			if kindOf(err) != "problem" {
				t.Errorf("authorization_servers: %v", err)
			}
			checkText(t, err)
			for _, field := range []string{"authorization_endpoint", "token_endpoint", "registration_endpoint", "revocation_endpoint"} {
				m := &serverMetadata{
					Issuer: "https://as.example.com", AuthorizationEndpoint: "https://as.example.com/a", TokenEndpoint: "https://as.example.com/t",
					CodeChallengeMethods: []string{"S256"},
				}
				*map[string]*string{
					"authorization_endpoint": &m.AuthorizationEndpoint, "token_endpoint": &m.TokenEndpoint,
					"registration_endpoint": &m.RegistrationEndpoint, "revocation_endpoint": &m.RevocationEndpoint,
				}[field] = address
				err := d.checkServer(m, "https://as.example.com", "https://as.example.com/x")
				if err == nil || !strings.Contains(err.Error(), field) {
					t.Errorf("%s: %v", field, err)
				}
				checkText(t, err)
			}
		})
	}
}

func FuzzDocuments(f *testing.F) {
	for _, seed := range []string{
		`{"resource":["https://192.0.2.1/mcp"],"authorization_servers":["https://as.example.com"],"scopes_supported":["a"]}`,
		`{"issuer":"https://as.example.com","authorization_endpoint":"https://as.example.com/a","token_endpoint":"https://as.example.com/t","code_challenge_methods_supported":["S256"]}`,
		`{"client_id":"a","client_secret":"s","client_secret_expires_at":1e99,"token_endpoint_auth_method":"client_secret_post"}`, `{"resource":null}`, `[[`,
	} {
		f.Add(seed)
	}
	address, err := url.Parse("https://192.0.2.1/mcp")
	if err != nil {
		f.Fatal(err)
	}
	guard, err := webclient.NewGuard(address, webclient.Options{})
	if err != nil {
		f.Fatal(err)
	}
	d, r := newDiscoverer(guard, address, nil, nil), newRegistrar(guard, nil, "", nil)
	f.Fuzz(func(t *testing.T, text string) {
		resource, server, answer := &resourceMetadata{}, &serverMetadata{}, registered{}
		if webclient.DecodeJSON([]byte(text), resource) == nil {
			err := d.checkResource(resource)
			checkText(t, err)
			if err == nil && !covers(string(resource.Resource), address) {
				t.Errorf("accepted the resource %q", resource.Resource)
			}
		}
		if webclient.DecodeJSON([]byte(text), server) == nil {
			err := d.checkServer(server, "https://as.example.com", "https://as.example.com/x")
			checkText(t, err)
			if err == nil && !equalButSlash(server.Issuer, "https://as.example.com") {
				t.Errorf("accepted the issuer %q", server.Issuer)
			}
			server.bound()
			if _, err := d.scopes(challenge{scope: text}, resource, server); err != nil {
				checkText(t, err)
			}
		}
		if webclient.DecodeJSON([]byte(text), &answer) == nil {
			_, err := r.accept(&target{server: server}, answer, 200)
			checkText(t, err)
		}
	})
}
