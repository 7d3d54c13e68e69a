package identity

import (
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

type changes = map[string]any

func TestWrongTokens(t *testing.T) {
	b := newBench(t, nil)
	b.idp.change(func(p *idp) {
		p.keys = append(p.keys, jwk("ec", ecKey, nil), jwk("small", smallRSA, nil), jwk("enc", otherRSA, changes{"use": "enc"}),
			jwk("ops", otherRSA, changes{"key_ops": []string{"encrypt"}}), jwk("ps", otherRSA, changes{"alg": "PS256"}),
			map[string]any{"kid": "oct", "kty": "oct", "k": encode([]byte("secret"))})
	})
	now := time.Now()
	at := func(d time.Duration) int64 { return now.Add(d).Unix() }
	good := b.token(nil)
	parts := strings.Split(good, ".")
	public, _ := json.Marshal(jwk("k1", rsaKey, nil))
	for name, test := range map[string]struct{ token, reason string }{
		"nothing":               {"", reasonForm},
		"signature of another":  {parts[0] + "." + parts[1] + "." + strings.Split(b.token(changes{"sub": "bob"}), ".")[2], reasonSignature},
		"changed claims":        {parts[0] + "." + strings.Split(b.token(changes{"sub": "bob"}), ".")[1] + "." + parts[2], reasonSignature},
		"no signature":          {parts[0] + "." + parts[1] + ".", reasonSignature},
		"signature, other form": {good[:len(good)-1] + string(good[len(good)-1]+1), reasonForm},
		"two parts":             {parts[0] + "." + parts[1], reasonInactive},
		"four parts":            {good + ".x", reasonInactive},
		"blank within":          {parts[0] + ". " + parts[1] + "." + parts[2], reasonForm},
		"line end":              {good + "\n", reasonForm},
		"not base64":            {parts[0] + "." + parts[1] + "." + "!", reasonForm},
		"padding":               {parts[0] + "=." + parts[1] + "." + parts[2], reasonForm},
		"too long":              {b.token(changes{"x": strings.Repeat("x", maxToken)}), reasonLong},
		"own token":             {"mcpw_canary", reasonOwn},
		"JSON serialization":    {`{"payload":"` + parts[1] + `","protected":"` + parts[0] + `","signature":"` + parts[2] + `"}`, reasonForm},
		"alg none":              {sign(nil, header(changes{"alg": "none"}), b.claims(nil)), reasonAlgorithm},
		"alg None":              {sign(nil, header(changes{"alg": "None"}), b.claims(nil)), reasonAlgorithm},
		"alg missing":           {sign(rsaKey, header(changes{"alg": nil}), b.claims(nil)), reasonAlgorithm},
		"alg in capitals":       {signText(rsaKey, `{"ALG":"RS256","kid":"k1"}`, `{}`), reasonAlgorithm},
		"HS256, public key":     {sign(public, header(changes{"alg": "HS256"}), b.claims(nil)), reasonAlgorithm},
		"HS256, shared key":     {sign([]byte("secret"), header(changes{"alg": "HS256", "kid": "oct"}), b.claims(nil)), reasonAlgorithm},
		"other key":             {sign(otherRSA, header(nil), b.claims(nil)), reasonSignature},
		"unknown key":           {sign(otherRSA, header(changes{"kid": "k2"}), b.claims(nil)), reasonKey},
		"key in the header":     {sign(otherRSA, header(changes{"jwk": jwk("k1", otherRSA, nil)}), b.claims(nil)), reasonSignature},
		"key in it alone":       {sign(otherRSA, header(changes{"jwk": jwk("k2", otherRSA, nil), "kid": "k2"}), b.claims(nil)), reasonKey},
		"jku":                   {sign(otherRSA, header(changes{"jku": b.idp.issuer + "/evil", "kid": "k2"}), b.claims(nil)), reasonKey},
		"x5u":                   {sign(otherRSA, header(changes{"x5u": b.idp.issuer + "/evil", "kid": "k2"}), b.claims(nil)), reasonKey},
		"small key":             {sign(smallRSA, header(changes{"kid": "small"}), b.claims(nil)), reasonKey},
		"key for encryption":    {sign(otherRSA, header(changes{"kid": "enc"}), b.claims(nil)), reasonKey},
		"key for other uses":    {sign(otherRSA, header(changes{"kid": "ops"}), b.claims(nil)), reasonKey},
		"key for PS256":         {sign(otherRSA, header(changes{"kid": "ps"}), b.claims(nil)), reasonKey},
		"ES256 with RSA key":    {sign(ecKey, header(changes{"alg": "ES256", "kid": "k1"}), b.claims(nil)), reasonKey},
		"ES384 with P-256":      {sign(ecKey, header(changes{"alg": "ES384", "kid": "ec"}), b.claims(nil)), reasonKey},
		"crit":                  {sign(rsaKey, header(changes{"crit": []string{"exp"}, "exp": 1}), b.claims(nil)), reasonCritical},
		"crit, empty":           {sign(rsaKey, header(changes{"crit": []string{}}), b.claims(nil)), reasonCritical},
		"b64":                   {sign(rsaKey, header(changes{"b64": false}), b.claims(nil)), reasonCritical},
		"header with alg twice": {signText(rsaKey, `{"alg":"RS256","alg":"none","kid":"k1"}`, `{}`), reasonForm},
		"claim twice":           {signText(rsaKey, `{"alg":"RS256","kid":"k1"}`, `{"iss":"a","iss":"b"}`), reasonForm},
		"claims not an object":  {signText(rsaKey, `{"alg":"RS256","kid":"k1","typ":"at+jwt"}`, `"x"`), reasonForm},
		"claims null":           {signText(rsaKey, `{"alg":"RS256","kid":"k1","typ":"at+jwt"}`, `null`), reasonIssuer},
		"deep claims":           {b.token(changes{"x": json.RawMessage(strings.Repeat("[", 100) + strings.Repeat("]", 100))}), reasonForm},
		"typ of an ID token":    {sign(rsaKey, header(changes{"typ": "JWT"}), b.claims(changes{"scope": nil})), reasonKind},
		"ID token with nonce":   {sign(rsaKey, header(changes{"typ": "JWT"}), b.claims(changes{"nonce": "n"})), reasonKind},
		"ID token with at_hash": {sign(rsaKey, header(changes{"typ": nil}), b.claims(changes{"at_hash": "n"})), reasonKind},
		"typ of a proof":        {sign(rsaKey, header(changes{"typ": "dpop+jwt"}), b.claims(nil)), reasonKind},
		"typ of a logout":       {sign(rsaKey, header(changes{"typ": "logout+jwt"}), b.claims(nil)), reasonKind},
		"a logout token":        {b.token(changes{"events": changes{"http://schemas.openid.net/event/backchannel-logout": changes{}}}), reasonKind},
		"token_use id":          {b.token(changes{"token_use": "id"}), reasonKind},
		"Keycloak's ID token":   {b.token(changes{"typ": "ID"}), reasonKind},
		"Keycloak's refresh":    {b.token(changes{"typ": "Refresh"}), reasonKind},
		"bound to a key":        {b.token(changes{"cnf": changes{"jkt": "x"}}), reasonBound},
		"bound to a cert":       {b.token(changes{"cnf": changes{"x5t#S256": "x"}}), reasonBound},
		"DPoP":                  {b.token(changes{"token_type": "DPoP"}), reasonBound},
		"no issuer":             {b.token(changes{"iss": nil}), reasonIssuer},
		"other issuer":          {b.token(changes{"iss": "https://evil.example"}), reasonIssuer},
		"issuer with a slash":   {b.token(changes{"iss": b.idp.issuer + "/"}), reasonIssuer},
		"issuer in a list":      {b.token(changes{"iss": []string{b.idp.issuer}}), reasonIssuer},
		"no audience":           {b.token(changes{"aud": nil}), reasonNoAudience},
		"empty audience":        {b.token(changes{"aud": ""}), reasonNoAudience},
		"empty list":            {b.token(changes{"aud": []string{}}), reasonNoAudience},
		"odd audience":          {b.token(changes{"aud": []any{resourceURL, 1}}), reasonNoAudience},
		"other audience":        {b.token(changes{"aud": "https://other.example/mcp"}), reasonAudience},
		"similar audience":      {b.token(changes{"aud": resourceURL + "x"}), reasonAudience},
		"http audience":         {b.token(changes{"aud": "http://mcp.example.com/mcp"}), reasonAudience},
		"the client's audience": {b.token(changes{"aud": clientID}), reasonAudience},
		"audience of a toolbox": {b.token(changes{"aud": resourceURL + "/dev"}), reasonAudience},
		"no subject":            {b.token(changes{"sub": nil}), reasonSubject},
		"empty subject":         {b.token(changes{"sub": ""}), reasonSubject},
		"subject a number":      {b.token(changes{"sub": 1}), reasonSubject},
		"subject too long":      {b.token(changes{"sub": strings.Repeat("a", maxSubject+1)}), reasonSubject},
		"subject hides":         {b.token(changes{"sub": "ali\u200bce"}), reasonSubject},
		"subject with blanks":   {b.token(changes{"sub": " alice"}), reasonSubject},
		"subject for screens":   {b.token(changes{"sub": "alice\x1b[2J"}), reasonSubject},
		"subject with a line":   {b.token(changes{"sub": "alice\nbob"}), reasonSubject},
		"no expiry":             {b.token(changes{"exp": nil}), reasonNoExpiry},
		"expiry null":           {sign(rsaKey, header(nil), b.claims(changes{"exp": json.RawMessage("null")})), reasonNoExpiry},
		"expiry a text":         {b.token(changes{"exp": "9999999999"}), reasonTimes},
		"expiry far":            {b.token(changes{"exp": 1e300}), reasonTimes},
		"expiry negative":       {b.token(changes{"exp": -1}), reasonTimes},
		"expired":               {b.token(changes{"exp": at(-61 * time.Second)}), reasonExpired},
		"too early":             {b.token(changes{"nbf": at(70 * time.Second)}), reasonEarly},
		"nbf a text":            {b.token(changes{"nbf": "now"}), reasonTimes},
		"issued in the future":  {b.token(changes{"iat": at(70 * time.Second)}), reasonEarly},
		"nothing is allowed":    {b.token(changes{"scope": "openid"}), nothing},
		"scope of another name": {b.token(changes{"scope": "MCP:DEV mcp:devx"}), nothing},
	} {
		t.Run(name, func(t *testing.T) {
			refusal := b.refusal(test.token, "/mcp")
			if refusal == nil {
				t.Fatal("accepted")
			}
			want := Refusal{Status: http.StatusUnauthorized, Code: codeToken, Reason: test.reason, wasKnown: name == "audience of a toolbox"}
			if test.reason == nothing {
				want = *b.rules.Load().unmapped()
			}
			if *refusal != want {
				t.Errorf("got %+v, want %+v", *refusal, want)
			}
		})
	}
	b.want(good, "")
	if n := b.idp.count("/evil"); n > 0 {
		t.Error("an address of a token was fetched")
	}
	if n := b.idp.count(keysAt); n > 2 {
		t.Errorf("the keys were fetched %d times", n)
	}
	if slices.Contains(b.idp.questions, "mcpw_canary") {
		t.Error("the provider saw a token of the workbench")
	}
}

func TestGoodTokens(t *testing.T) {
	b := newBench(t, nil)
	b.idp.change(func(p *idp) {
		p.keys = append(p.keys, jwk("ec", ecKey, changes{"use": "sig", "alg": "ES256"}), jwk("ec384", ec384Key, nil), jwk("ed", edKey, nil),
			jwk("x5c", otherRSA, changes{"x5c": []string{"bm90IGEgY2VydGlmaWNhdGU="}, "x5t": "wrong", "key_ops": []string{"verify"}}))
	})
	seconds := float64(time.Now().UnixMilli()) / 1000
	for name, token := range map[string]string{
		"RS256":            b.token(nil),
		"PS256":            sign(rsaKey, header(changes{"alg": "PS256"}), b.claims(nil)),
		"RS384":            sign(rsaKey, header(changes{"alg": "RS384"}), b.claims(nil)),
		"ES256":            sign(ecKey, header(changes{"alg": "ES256", "kid": "ec"}), b.claims(nil)),
		"ES384":            sign(ec384Key, header(changes{"alg": "ES384", "kid": "ec384"}), b.claims(nil)),
		"EdDSA":            sign(edKey, header(changes{"alg": "EdDSA", "kid": "ed"}), b.claims(nil)),
		"odd certificate":  sign(otherRSA, header(changes{"kid": "x5c"}), b.claims(nil)),
		"no key named":     sign(ecKey, header(changes{"alg": "ES256", "kid": nil}), b.claims(nil)),
		"one of two keys":  sign(otherRSA, header(changes{"kid": nil}), b.claims(nil)),
		"long typ":         sign(rsaKey, header(changes{"typ": "application/AT+JWT"}), b.claims(changes{"nonce": "n"})),
		"typ JWT":          sign(rsaKey, header(changes{"typ": "JWT"}), b.claims(nil)),
		"no typ":           sign(rsaKey, header(changes{"typ": nil}), b.claims(nil)),
		"Entra's scp":      sign(rsaKey, header(changes{"typ": "JWT"}), b.claims(changes{"scope": nil, "scp": "mcp:dev x"})),
		"Okta's scp":       sign(rsaKey, header(changes{"typ": "JWT"}), b.claims(changes{"scope": nil, "scp": []string{"x", "mcp:dev"}})),
		"list of audience": b.token(changes{"aud": []string{"account", resourceURL}}),
		"audience, slash":  b.token(changes{"aud": resourceURL + "/"}),
		"root":             b.token(changes{"aud": "https://mcp.example.com"}),
		"root, slash":      b.token(changes{"aud": "https://mcp.example.com/"}),
		"fractions":        b.token(changes{"exp": seconds + 3600.5, "iat": seconds, "nbf": seconds}),
		"within the skew":  b.token(changes{"exp": time.Now().Add(-50 * time.Second).Unix()}),
		"clock behind":     b.token(changes{"iat": time.Now().Add(50 * time.Second).Unix(), "nbf": time.Now().Add(50 * time.Second).Unix()}),
		"only what is due": b.token(changes{"iat": nil, "nbf": nil, "client_id": nil, "preferred_username": nil, "jti": nil}),
		"Keycloak's":       b.token(changes{"typ": "Bearer", "azp": "x"}),
		"Cognito's":        b.token(changes{"token_use": "access"}),
		"jku":              sign(rsaKey, header(changes{"jku": b.idp.issuer + "/evil"}), b.claims(nil)),
	} {
		t.Run(name, func(t *testing.T) {
			person, err := b.Verify(t.Context(), token, "/mcp")
			if err != nil {
				t.Fatal(err)
			}
			if person.Subject != "alice" || person.Issuer != b.idp.issuer || !slices.Equal(person.Toolboxes, []string{"dev"}) || person.Expires.IsZero() {
				t.Errorf("got %+v", person)
			}
			if !b.Holds(person.Credential) {
				t.Error("it does not hold")
			}
		})
	}
	if n := b.idp.count("/evil"); n > 0 {
		t.Error("an address of a token was fetched")
	}
	for _, secret := range []string{clientSecret} {
		if !slices.Contains(b.secrets, secret) {
			t.Error("a secret is not masked")
		}
	}
}

func TestPerson(t *testing.T) {
	b := newBench(t, nil)
	person, err := b.Verify(t.Context(), b.token(changes{"preferred_username": " Al\u200bice\n" + strings.Repeat("x", 200), "scope": "mcp:ops mcp:dev"}), "/mcp/ops")
	if err != nil {
		t.Fatal(err)
	}
	if person.Name != "Alice "+strings.Repeat("x", maxName-6)+"…" || person.Client != "some client" {
		t.Errorf("got %+v", person)
	}
	if !slices.Equal(person.Toolboxes, []string{"dev", "ops"}) || !slices.Equal(person.Scopes, []string{"mcp:ops", "mcp:dev"}) {
		t.Errorf("got %v and %v", person.Toolboxes, person.Scopes)
	}
	all, err := b.Verify(t.Context(), b.token(changes{"scope": "mcp:dev mcp:all"}), "/mcp/any")
	if err != nil || all.Toolboxes != nil {
		t.Errorf("got %v, %v", all.Toolboxes, err)
	}
	none, err := b.Verify(t.Context(), b.token(changes{"scope": ""}), "/mcp")
	if refusal, ok := errors.AsType[*Refusal](err); !ok || refusal.Status != http.StatusForbidden || none.Subject != "alice" || none.Toolboxes == nil || len(none.Toolboxes) != 0 {
		t.Errorf("got %+v, %v", none, err)
	}
}

// A person stays the same with another token, and is not another person, whatever the names.
func TestPersonsAreToldApart(t *testing.T) {
	const issuer = "https://idp.example.com"
	ids := make(map[string]bool)
	for _, person := range [][2]string{{issuer, "ada"}, {issuer, "bob"}, {issuer + "/x", "ada"}, {issuer + `" `, "ada"}, {issuer, `" ada`}, {issuer, `\" "ada`}} {
		id := idOf(person[0], person[1])
		if ids[id] || !strings.HasPrefix(id, PersonPrefix) {
			t.Errorf("%q has the ID of another: %s", person, id)
		}
		ids[id] = true
	}
	b := newBench(t, nil)
	one, err := b.Verify(t.Context(), b.token(changes{"scope": "mcp:ops", "name": "One"}), "/mcp")
	other, otherErr := b.Verify(t.Context(), b.token(changes{"scope": "mcp:dev mcp:ops", "aud": []string{"x", resourceURL}}), "/mcp/ops")
	if err != nil || otherErr != nil || one.ID != other.ID || one.Credential == other.Credential || !slices.Equal(one.Toolboxes, other.Toolboxes) {
		t.Errorf("%+v and %+v, %v, %v", one, other, err, otherErr)
	}
}

func TestValuesOfClaims(t *testing.T) {
	members, err := parseObject([]byte(`{
		"scope": "a b", "scp": ["c"], "groups": ["d e", "f", 1, null, ["g"], {"h": 1}], "one": "i j  k", "words": "q", "empty": "", "number": 1, "nothing": null,
		"realm_access": {"roles": ["l"], "deep": {"er": "m"}}, "https://example.com/roles": ["n"], "realm_access.flat": "o", "list": [{"x": "p"}]
	}`))
	if err != nil {
		t.Fatal(err)
	}
	for claim, want := range map[string][]string{
		"scope": {"a", "b"}, "scp": {"c"}, "groups": {"d e", "f"}, "one": {"i j  k"}, "words": {"q"}, "number": nil, "nothing": nil, "none": nil, "empty": nil,
		"realm_access.roles": {"l"}, "realm_access.deep.er": {"m"}, "realm_access": nil, "realm_access.none": nil, "realm_access.roles.x": nil,
		"https://example.com/roles": {"n"}, "realm_access.flat": {"o"}, "list.x": nil, "": nil, ".": nil, "scope.": nil,
	} {
		if got := members.values(claim); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", claim, got, want)
		}
	}
	delete(members, "scope")
	if got := members.values("scope"); !slices.Equal(got, []string{"c"}) {
		t.Errorf("scp instead of scope: got %q", got)
	}
}

func TestAudienceByPath(t *testing.T) {
	for _, test := range []struct{ resource, audience, allowed, refused string }{
		{"https://h/mcp", "https://h", "/mcp /mcp/T /mcp/U /metrics", ""},
		{"https://h/mcp", "https://h/mcp", "/mcp /mcp/T /mcp/U", ""},
		{"https://h", "https://h/mcp", "/mcp /mcp/T", ""},
		{"https://H:443/mcp/", "https://h/mcp", "/mcp /mcp/T", ""},
		{"https://h/mcp", "https://h/mcp/T", "/mcp/T /mcp/%54", "/mcp /mcp/ /mcp/U /mcp/T/ /mcp/t /metrics / /mcp//T /mcp/T/U"},
		{"https://h/mcp", "https://h/mcp/a%20b", "/mcp/a%20b", "/mcp/a+b /mcp/a%2520b"},
		{"https://h/mcp", "https://h/mcp/a b", "/mcp/a%20b", "/mcp/ab"},
		{"https://h/mcp", "https://h/mcp/T/U", "", "/mcp/T /mcp/U /mcp/T/U /mcp/T%2FU /mcp"},
		{"https://h/mcp", "https://h/mc", "", "/mcp"},
		{"https://h/tools/mcp", "https://h/tools", "/mcp /mcp/T", ""},
		{"https://h/tools", "https://h/tools/mcp", "/mcp /mcp/T", ""},
		{"https://h/tools/mcp", "https://h", "", "/mcp /mcp/T"},
		{"https://h/tools/mcp", "https://h/mcp", "", "/mcp /mcp/T"},
		{"https://h/mcp", "", "", "/mcp"},
	} {
		r, err := parseResource(test.resource)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range strings.Fields(test.allowed) {
			if !r.accepts(nil, []string{"x", test.audience}, path) {
				t.Errorf("%s: a token for %s is refused at %s", test.resource, test.audience, path)
			}
		}
		for _, path := range strings.Fields(test.refused) {
			if r.accepts(nil, []string{test.audience}, path) {
				t.Errorf("%s: a token for %s is accepted at %s", test.resource, test.audience, path)
			}
		}
	}
	b := newBench(t, func(s *config.HTTPOAuth) { s.Audience = []string{"workbench", "other"} })
	b.want(b.token(changes{"aud": "workbench"}), "")
	b.want(b.token(changes{"aud": []string{"x", "other"}}), "")
	b.want(b.token(changes{"aud": resourceURL}), reasonAudience)
	c := newBench(t, nil)
	token := c.token(changes{"aud": resourceURL + "/dev"})
	if refusal := c.refusal(token, "/mcp/dev"); refusal != nil {
		t.Error(refusal)
	}
	if refusal := c.refusal(token, "/mcp/ops"); refusal == nil || refusal.Reason != reasonAudience {
		t.Error("a cached token is accepted at another path: ", refusal)
	} else if refusal.IsGuess() {
		t.Error("a good token at another path is taken for a guess")
	}
	if refusal := c.refusal(c.token(changes{"aud": "https://elsewhere.example.com"}), "/mcp"); refusal == nil || !refusal.IsGuess() {
		t.Error("a token for elsewhere is no guess: ", refusal)
	}
}

func TestConfigure(t *testing.T) {
	b := newBench(t, nil)
	token := b.token(changes{"scope": "mcp:ops", "groups": []string{"mcp:dev"}})
	verify := func() Person {
		t.Helper()
		person, err := b.Verify(t.Context(), token, "/mcp")
		if err != nil {
			t.Fatal(err)
		}
		return person
	}
	first := verify()
	changed := settings(b.idp.issuer)
	changed.Toolboxes = append(slices.Clone(changed.Toolboxes), config.ToolboxGrant{Value: "mcp:new", Toolboxes: []string{"new"}})
	if err := b.Configure(changed); err != nil || !b.Holds(first.Credential) {
		t.Errorf("a grant to others ended it (%v)", err)
	}
	changed.Toolboxes = changed.Toolboxes[:1] // mcp:ops is gone
	if err := b.Configure(changed); err != nil || b.Holds(first.Credential) {
		t.Errorf("it still holds (%v)", err)
	}
	b.want(token, nothing)
	changed.Claim = "groups"
	if err := b.Configure(changed); err != nil {
		t.Error(err)
	}
	second := verify()
	if !slices.Equal(second.Toolboxes, []string{"dev"}) || !b.Holds(second.Credential) || b.Holds(first.Credential) {
		t.Errorf("got %v", second.Toolboxes)
	}
	changed.Audience = []string{"elsewhere"}
	if err := b.Configure(changed); err != nil || b.Holds(second.Credential) {
		t.Errorf("it holds for another audience (%v)", err)
	}
	b.want(token, reasonAudience)
	again := settings(b.idp.issuer)
	again.Issuer, again.Introspection, again.ClientSecret = "https://other.example", nil, "canary"
	err := b.Configure(again)
	if err == nil || err.Error() != "http.oauth.issuer, http.oauth.introspection, http.oauth.clientSecret changed, which takes effect when the workbench is started again" {
		t.Error("got ", err)
	}
	if third := verify(); third.Credential != first.Credential || !reflect.DeepEqual(third.Toolboxes, first.Toolboxes) {
		t.Error("the table did not change back")
	}
}

func TestSettingsThatCannotBeUsed(t *testing.T) {
	for _, change := range []func(*config.HTTPOAuth){
		func(s *config.HTTPOAuth) { s.Resource = "" },
		func(s *config.HTTPOAuth) { s.Resource = "mcp.example.com" },
		func(s *config.HTTPOAuth) { s.Resource = "https://u:p@mcp.example.com/mcp" },
		func(s *config.HTTPOAuth) { s.Resource = "https://mcp.example.com/mcp?x" },
		func(s *config.HTTPOAuth) { s.Issuer = "" },
		func(s *config.HTTPOAuth) { s.Issuer = "file:///etc" },
	} {
		chosen := settings("https://idp.example")
		change(&chosen)
		if _, err := New(Options{Settings: chosen}); err == nil {
			t.Errorf("%+v is accepted", chosen)
		}
	}
}
