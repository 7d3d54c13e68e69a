package oauth

import (
	"net/http"
	"reflect"
	"strings"
	"testing"
)

func TestParseChallenges(t *testing.T) {
	const metadata = "https://mcp.example.com/.well-known/oauth-protected-resource"
	tests := []struct {
		name   string
		header []string
		want   []challenge
	}{
		{"no header", nil, nil},
		{"an empty header", []string{""}, nil},
		{"only commas", []string{" , ,,"}, nil},
		{"a bare scheme", []string{"Bearer"}, []challenge{{scheme: "bearer"}}},
		{"any case", []string{`bEARER REALM="x", Resource_Metadata="` + metadata + `"`}, []challenge{{scheme: "bearer", realm: "x", resourceMetadata: metadata}}},
		{
			"all parameters",
			[]string{`Bearer realm="r", error="invalid_token", error_description="No, it has expired", scope="a b", resource_metadata="` + metadata + `"`},
			[]challenge{{scheme: "bearer", realm: "r", code: "invalid_token", description: "No, it has expired", scope: "a b", resourceMetadata: metadata}},
		},
		{"escapes in a quoted string", []string{`Bearer realm="a \"b\", c\\", scope="d"`}, []challenge{{scheme: "bearer", realm: `a "b", c\`, scope: "d"}}},
		{
			"several challenges in one header",
			[]string{`Basic realm="x", charset="UTF-8", Bearer scope="a", DPoP algs="ES256 RS256"`},
			[]challenge{{scheme: "basic", realm: "x"}, {scheme: "bearer", scope: "a"}, {scheme: "dpop", algorithms: "ES256 RS256"}},
		},
		{"several headers", []string{`Negotiate`, `Bearer scope="a"`}, []challenge{{scheme: "negotiate"}, {scheme: "bearer", scope: "a"}}},
		{"token68 before another challenge", []string{`Negotiate YII/+a==, Bearer scope="a"`}, []challenge{{scheme: "negotiate"}, {scheme: "bearer", scope: "a"}}},
		{"token68 without padding", []string{`NTLM TlRM, Bearer scope="a"`}, []challenge{{scheme: "ntlm"}, {scheme: "bearer", scope: "a"}}},
		{"empty elements", []string{`, Bearer ,, scope="a",, realm="b" ,`}, []challenge{{scheme: "bearer", scope: "a", realm: "b"}}},
		{"a parameter without a value", []string{`Bearer realm=, scope="a"`}, []challenge{{scheme: "bearer", scope: "a"}}},
		{"a later parameter without a value", []string{`Bearer scope="a", error=, realm="b"`}, []challenge{{scheme: "bearer", scope: "a", realm: "b"}}},
		{"empty quoted strings", []string{`Bearer realm="", error="", scope="a"`}, []challenge{{scheme: "bearer", scope: "a"}}},
		{"a parameter without a value at the end", []string{`Bearer scope="a", error=`}, []challenge{{scheme: "bearer", scope: "a"}}},
		{"blanks around the sign", []string{"Bearer realm = \"x\" ,\tscope =\t\"a\""}, []challenge{{scheme: "bearer", realm: "x", scope: "a"}}},
		{"tokens as values", []string{`Bearer realm=x, error=invalid_token`}, []challenge{{scheme: "bearer", realm: "x", code: "invalid_token"}}},
		{"a URL that is not quoted", []string{`Bearer resource_metadata=` + metadata + `, scope=a`}, []challenge{{scheme: "bearer", resourceMetadata: metadata, scope: "a"}}},
		{"no comma between parameters", []string{`Bearer realm="x" resource_metadata="` + metadata + `"`}, []challenge{{scheme: "bearer", realm: "x", resourceMetadata: metadata}}},
		{"a parameter twice: the first counts", []string{`Bearer scope="a", scope="b"`}, []challenge{{scheme: "bearer", scope: "a"}}},
		{"a parameter of no challenge", []string{`scope="a", Bearer`}, []challenge{{scheme: "bearer"}}},
		{"a parameter does not belong to the header before", []string{`Bearer`, `scope="a"`}, []challenge{{scheme: "bearer"}}},
		{"parameters within a quoted string are text", []string{`Basic realm="x, Bearer resource_metadata=https://evil.example"`}, []challenge{{scheme: "basic", realm: "x, Bearer resource_metadata=https://evil.example"}}},
		{"a quoted string without end", []string{`Bearer scope="a b`}, []challenge{{scheme: "bearer", scope: "a b"}}},
		{"a backslash at the end", []string{`Bearer scope="a\`}, []challenge{{scheme: "bearer", scope: `a\`}}},
		{"garbage is skipped", []string{`@"x, Bearer" y, Bearer scope="a"`}, []challenge{{scheme: "bearer", scope: "a"}}},
		{"parameters of unknown names", []string{`Bearer foo="bar", scope="a", scope*=UTF-8''b`}, []challenge{{scheme: "bearer", scope: "a"}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := parseChallenges(http.Header{"Www-Authenticate": test.header})
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("%q\n got %+v\nwant %+v", test.header, got, test.want)
			}
		})
	}
}

func TestChallengesAreBounded(t *testing.T) {
	many := strings.Repeat("Bearer, ", 10*maxChallenges)
	if got := parseChallenges(http.Header{"Www-Authenticate": {many, many}}); len(got) != maxChallenges {
		t.Errorf("%d challenges were read, want %d", len(got), maxChallenges)
	}
	long := `Bearer realm="` + strings.Repeat("x", 2*maxChallengeSize) + `"`
	got := parseChallenges(http.Header{"Www-Authenticate": {long, `Bearer scope="a"`}})
	if len(got) != 1 || len(got[0].realm) > maxChallengeSize {
		t.Errorf("%d challenges were read of headers that are too long", len(got))
	}
}

func TestTokenChallenge(t *testing.T) {
	tests := []struct {
		header string
		want   challenge
		ok     bool
	}{
		{`Basic realm="x"`, challenge{}, false},
		{`Basic realm="x", Bearer scope="a"`, challenge{scheme: "bearer", scope: "a"}, true},
		{`DPoP algs="ES256", Bearer resource_metadata="https://a.example"`, challenge{scheme: "bearer", resourceMetadata: "https://a.example"}, true},
		{`Bearer scope="a", Bearer scope="b"`, challenge{scheme: "bearer", scope: "a"}, true},
		{`Basic resource_metadata="https://evil.example"`, challenge{}, false},
	}
	for _, test := range tests {
		got, ok := tokenChallenge(parseChallenges(http.Header{"Www-Authenticate": {test.header}}))
		if got != test.want || ok != test.ok {
			t.Errorf("%s: got %+v, %t", test.header, got, ok)
		}
	}
}

func TestScopesOfAChallenge(t *testing.T) {
	tests := []struct {
		scope string
		want  []string
	}{
		{"", nil},
		{"  ", nil},
		{"files:read  https://example.com/x files:read", []string{"files:read", "https://example.com/x"}},
		{"a \x1b[31mred b\"c d\\e é b", []string{"a", "b"}},
	}
	for _, test := range tests {
		c := challenge{scope: test.scope}
		if got := c.scopes(); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%q: got %q, want %q", test.scope, got, test.want)
		}
	}
}

func FuzzParseChallenges(f *testing.F) {
	for _, seed := range []string{
		`Bearer realm="a \"b\"", scope="x y"`, `Negotiate YII==, Basic realm=x`, `Bearer realm=, scope="a`, `,,= =, "`, "Bearer\tscope = a", `Bearer scope="\`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		all := parseChallenges(http.Header{"Www-Authenticate": {text, `Bearer scope="last"`}})
		if len(all) > maxChallenges {
			t.Fatalf("%d challenges", len(all))
		}
		for _, c := range all {
			if c.scheme == "" || c.scheme != strings.ToLower(c.scheme) {
				t.Fatalf("scheme %q", c.scheme)
			}
			for _, scope := range c.scopes() {
				if !isScope(scope) {
					t.Fatalf("scope %q", scope)
				}
			}
		}
		// Whatever a header holds, it does not change what the next one says.
		if len(text) < maxChallengeSize/2 && len(all) > 0 && len(all) < maxChallenges && all[len(all)-1].scope != "last" {
			t.Fatalf("%q changes the next header: %+v", text, all)
		}
	})
}
