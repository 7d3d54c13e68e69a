package identity

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

func TestMetadataDocuments(t *testing.T) {
	plain := newBench(t, nil)
	prefixed := newBench(t, func(s *config.HTTPOAuth) { s.Resource, s.Claim = "https://mcp.example.com/tools/", "groups" })
	for _, test := range []struct {
		b              *bench
		path, resource string // "": not found
	}{
		{plain, metadataPath, "https://mcp.example.com"},
		{plain, metadataPath + "/", "https://mcp.example.com"},
		{plain, metadataPath + "/mcp", "https://mcp.example.com/mcp"},
		{plain, metadataPath + "/mcp/", "https://mcp.example.com/mcp"},
		{plain, metadataPath + "/mcp/dev", "https://mcp.example.com/mcp/dev"},
		{plain, metadataPath + "/mcp/no%20such", "https://mcp.example.com/mcp/no%20such"},
		{plain, metadataPath + "/mcp/%22%0d%0a", "https://mcp.example.com/mcp/%22%0D%0A"},
		{plain, metadataPath + "/mcp/dev/x", ""},
		{plain, metadataPath + "/metrics", ""},
		{plain, metadataPath + "/tools/mcp", ""},
		{plain, metadataPath + "/mcp/" + strings.Repeat("x", maxSegment+1), ""},
		{prefixed, metadataPath, "https://mcp.example.com/tools"},
		{prefixed, metadataPath + "/tools", "https://mcp.example.com/tools"},
		{prefixed, metadataPath + "/tools/mcp", "https://mcp.example.com/tools/mcp"},
		{prefixed, metadataPath + "/mcp", "https://mcp.example.com/tools/mcp"},
		{prefixed, metadataPath + "/tools/mcp/dev", "https://mcp.example.com/tools/mcp/dev"},
		{prefixed, metadataPath + "/mcp/dev", "https://mcp.example.com/tools/mcp/dev"},
		{prefixed, metadataPath + "/toolsmcp", ""},
	} {
		request := httptest.NewRequest(http.MethodGet, "/", nil)
		request.URL.Path, request.URL.RawPath = strings.ReplaceAll(strings.ReplaceAll(test.path, "%20", " "), "%22%0d%0a", "\"\r\n"), test.path
		w := httptest.NewRecorder()
		test.b.Metadata().ServeHTTP(w, request)
		if origin := w.Header().Get("Access-Control-Allow-Origin"); origin != "*" {
			t.Errorf("%s: pages of others are told %q", test.path, origin)
		}
		if !test.b.IsMetadata(test.path) {
			t.Errorf("%s is no path of metadata", test.path)
		}
		if test.resource == "" {
			if w.Code != http.StatusNotFound {
				t.Errorf("%s: status %d", test.path, w.Code)
			}
			continue
		}
		var got document
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != http.StatusOK || w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%s: status %d, %v", test.path, w.Code, err)
		}
		if got.Resource != test.resource || !slices.Equal(got.AuthorizationServers, []string{test.b.idp.issuer}) || !slices.Equal(got.BearerMethods, []string{"header"}) {
			t.Errorf("%s: got %+v", test.path, got)
		}
		scopes := []string{"mcp:dev", "mcp:ops", "mcp:all"}
		if test.b == prefixed {
			scopes = nil // nobody can request a group
		}
		if !slices.Equal(got.ScopesSupported, scopes) {
			t.Errorf("%s: scopes %q", test.path, got.ScopesSupported)
		}
	}
	for _, path := range []string{"/mcp", "/.well-known", metadataPath + "x", "/x" + metadataPath} {
		if plain.IsMetadata(path) {
			t.Errorf("%s is a path of metadata", path)
		}
	}
	if identifier, ok := plain.resource.described(metadataPath + "/mcp/%zz"); ok {
		t.Error("not an escape, and taken for ", identifier)
	}
	for method, want := range map[string]int{http.MethodHead: 200, http.MethodOptions: 204, http.MethodPost: 405} {
		w := httptest.NewRecorder()
		plain.Metadata().ServeHTTP(w, httptest.NewRequest(method, metadataPath, nil))
		if w.Code != want {
			t.Errorf("%s: status %d, want %d", method, w.Code, want)
		}
	}
}

// What clients are told to request is the same in both places, and changes with a reload.
func TestScopesThatClientsRequest(t *testing.T) {
	b := newBench(t, func(s *config.HTTPOAuth) { s.Claim, s.Scopes = "groups", []string{"openid", "offline_access"} })
	check := func(want ...string) {
		t.Helper()
		w := httptest.NewRecorder()
		b.Metadata().ServeHTTP(w, httptest.NewRequest(http.MethodGet, metadataPath+"/mcp", nil))
		var got document
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || !slices.Equal(got.ScopesSupported, want) {
			t.Errorf("the metadata has the scopes %q, want %q (%v)", got.ScopesSupported, want, err)
		}
		challenge := b.Challenge("/mcp", nil)
		if named := `scope="` + strings.Join(want, " ") + `"`; strings.Contains(challenge, named) != (want != nil) {
			t.Errorf("want %q in %s", want, challenge)
		}
	}
	check("openid", "offline_access")
	changed := settings(b.idp.issuer)
	for _, test := range []struct {
		claim        string
		scopes, want []string
	}{
		{"groups", []string{"tools"}, []string{"tools"}},
		{"groups", nil, nil},
		{"", nil, []string{"mcp:dev", "mcp:ops", "mcp:all"}},
		{"scp", nil, []string{"mcp:dev", "mcp:ops", "mcp:all"}},
		{"", []string{"openid", "mcp:dev"}, []string{"openid", "mcp:dev"}},
		{"", []string{}, nil},
	} {
		changed.Claim, changed.Scopes = test.claim, test.scopes
		if err := b.Configure(changed); err != nil {
			t.Error(err)
		}
		check(test.want...)
	}
}

// Somebody without a value of the table is told which claim was looked at, and nothing of what is in it.
func TestUnmapped(t *testing.T) {
	for _, test := range []struct{ claim, code, end string }{
		{"", codeScope, "the WWW-Authenticate header, or ask those who run the workbench."},
		{"scp", codeScope, "the WWW-Authenticate header, or ask those who run the workbench."},
		{"groups", "", "'http.oauth.toolboxes'. Ask those who run the workbench."},
		{"realm_access.roles", "", "'http.oauth.toolboxes'. Ask those who run the workbench."},
	} {
		b := newBench(t, func(s *config.HTTPOAuth) { s.Claim, s.Scopes = test.claim, []string{"openid"} })
		refusal := b.refusal(b.token(changes{"scope": "canary", "scp": "canary", "groups": []string{"canary"}}), "/mcp")
		if refusal == nil {
			t.Fatalf("%s: accepted", test.claim)
		}
		claim := "'" + cmp.Or(test.claim, "scope") + "'"
		if refusal.Status != http.StatusForbidden || refusal.Code != test.code || !strings.HasSuffix(refusal.Hint, test.end) ||
			!strings.Contains(refusal.Hint, claim) || !strings.Contains(refusal.Reason, claim) || strings.Contains(refusal.Hint+refusal.Reason, "canary") {
			t.Errorf("%s: got %+v", test.claim, refusal)
		}
	}
}

func TestChallenges(t *testing.T) {
	b := newBench(t, nil)
	groups := newBench(t, func(s *config.HTTPOAuth) { s.Resource, s.Claim = "https://mcp.example.com/tools/mcp", "groups" })
	named := newBench(t, func(s *config.HTTPOAuth) { s.Claim, s.Scopes = "groups", []string{"openid", "offline_access"} })
	instead := newBench(t, func(s *config.HTTPOAuth) { s.Scopes = []string{"api://workbench/mcp:dev"} })
	silent := newBench(t, func(s *config.HTTPOAuth) { s.Scopes = []string{} })
	const known = `resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp`
	const scope = `scope="mcp:dev mcp:ops mcp:all"`
	for _, test := range []struct {
		b       *bench
		path    string
		refusal *Refusal
		want    string
	}{
		{b, "/mcp", nil, `Bearer ` + known + `", ` + scope},
		{b, "/metrics", nil, `Bearer ` + known + `", ` + scope},
		{b, "/mcp/dev", nil, `Bearer ` + known + `/dev", ` + scope},
		{b, "/mcp/a%22%0D%0Ab", nil, `Bearer ` + known + `/a%22%0D%0Ab", ` + scope},
		{b, "/mcp/a/b", nil, `Bearer ` + known + `", ` + scope},
		{b, "/mcp", refuse(reasonExpired), `Bearer error="invalid_token", error_description="the token has expired", ` + known + `", ` + scope},
		{b, "/mcp", b.rules.Load().unmapped(), `Bearer error="insufficient_scope", error_description="` + nothing + `", ` + known + `", ` + scope},
		{b, "/mcp", &Refusal{Status: 401, Code: codeToken, Reason: "a \"quote\" \\ ä\n"}, `Bearer error="invalid_token", error_description="a ?quote? ? ??", ` + known + `", ` + scope},
		{b, "/mcp", unavailable(reasonUnavailable), ""},
		{named, "/mcp", nil, `Bearer ` + known + `", scope="openid offline_access"`},
		{named, "/mcp/dev", refuse(reasonExpired), `Bearer error="invalid_token", error_description="the token has expired", ` + known + `/dev", scope="openid offline_access"`},
		{named, "/mcp", named.rules.Load().unmapped(), `Bearer ` + known + `"`},
		{instead, "/mcp", instead.rules.Load().unmapped(), `Bearer error="insufficient_scope", error_description="` + nothing + `", ` + known + `", scope="api://workbench/mcp:dev"`},
		{instead, "/mcp", nil, `Bearer ` + known + `", scope="api://workbench/mcp:dev"`},
		{silent, "/mcp", nil, `Bearer ` + known + `"`},
		{groups, "/mcp", nil, `Bearer resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/tools/mcp"`},
	} {
		if got := test.b.Challenge(test.path, test.refusal); got != test.want {
			t.Errorf("%s: got\n%s, want\n%s", test.path, got, test.want)
		}
	}
}
