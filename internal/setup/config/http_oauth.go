package config

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// HTTPOAuth is how 'serve' knows people: by the access tokens of an identity provider.
type HTTPOAuth struct {
	// Resource is the address of /mcp as clients know it, such as https://mcp.example.com/mcp: it ends in /mcp, its host is in small
	// letters, and it never comes from a request.
	Resource      string
	Issuer        string         // that tokens must name exactly
	Audience      []string       // that tokens may name; nil: the resource of the requested path, or of a path above it
	JWKSURI       string         // "": from the issuer's metadata
	Introspection *Introspection // for tokens that are no JWTs; nil: those are refused
	Claim         string         // whose values Toolboxes maps; "scope" by default
	Toolboxes     []ToolboxGrant // in the order of the file
	Scopes        []string       // that clients are told to request; nil: those of Toolboxes if they are scopes, else none

	// The client at the identity provider that people sign in with on the page of /connect; "": there is no such page.
	ClientID, ClientSecret string
}

// Introspection is where the identity provider is asked about tokens that are no JWTs (RFC 7662).
type Introspection struct {
	Endpoint               string // "": from the issuer's metadata
	ClientID, ClientSecret string
}

// ToolboxGrant lets those who have a value, such as a scope, a group or the name of a certificate, use toolboxes.
type ToolboxGrant struct {
	Value     string
	Toolboxes []string // nil: all
}

// PersonLimits is what one person, token or certificate may use at once over HTTP; 0: no limit of its own.
type PersonLimits struct {
	Sessions int
	Calls    int   // in flight
	Memory   int64 // of the processes that run for the person alone, in bytes
}

// For whom a server runs; see Server.Instances.
const (
	InstancesShared    = "shared"     // for all clients that declare the same
	InstancesPerPerson = "per-person" // for the clients of one person that declare the same
	InstancesPerClient = "per-client" // for one client
)

// AccountsPerPerson is a value of OAuth.Accounts: each person has a login of their own.
const AccountsPerPerson = "per-person"

// DefaultClaim is the claim of tokens that http.oauth.toolboxes maps: the scopes, in "scope" or "scp".
const DefaultClaim = "scope"

var httpOAuthKey = key{
	name: "oauth", kinds: []kind{kindObject}, members: &httpOAuthObject,
	example:     `{"resource": "https://mcp.example.com/mcp", "issuer": "https://login.example.com", "toolboxes": {"mcp:dev": ["dev"]}}`,
	description: "Lets people sign in at an identity provider: its access tokens are accepted beside those of 'mcp-workbench token'.",
}

var httpOAuthObject = object{isStrict: true, keys: []key{
	{
		name: "resource", kinds: []kind{kindString}, nonEmpty: true, check: checkResource, required: "must have 'http.oauth.resource', the address of /mcp as clients know it",
		example:     `"https://mcp.example.com/mcp"`,
		description: "The address of /mcp as clients know it, with or without /mcp at its end. Tokens must be for it, unless 'audience' is set. http is for loopback addresses only.",
	},
	{
		name: "issuer", kinds: []kind{kindString}, nonEmpty: true, check: checkIssuer, required: "must have 'http.oauth.issuer', the issuer of the tokens",
		example:     `"https://login.example.com/realms/team"`,
		description: "The issuer of the identity provider, exactly as its tokens and its metadata name it.",
	},
	{
		name: "audience", kinds: []kind{kindString, kindArray}, nonEmpty: true, example: `"mcp-workbench"`,
		description: "What tokens must be for, one of these, where the identity provider does not put the resource into them. The default is the address that is requested, or one above it: a token for /mcp is also one for /mcp/TOOLBOX.",
	},
	{
		name: "jwksUri", kinds: []kind{kindString}, nonEmpty: true, check: checkSafeURL, example: `"https://login.example.com/keys"`,
		description: "The address of the identity provider's keys. The default is what its metadata names.",
	},
	{
		name: "introspection", kinds: []kind{kindObject}, members: &introspectionObject, example: `{"clientId": "workbench", "clientSecret": "${INTROSPECTION_SECRET}"}`,
		description: "How the identity provider is asked about tokens that are no JWTs. Without it, such tokens are refused.",
	},
	{
		name: "claim", kinds: []kind{kindString}, nonEmpty: true, example: `"groups"`, fallback: `"scope"`,
		description: "The claim of tokens whose values 'toolboxes' maps: its name, or the path to it with dots, such as \"realm_access.roles\". \"scope\" also means scp.",
	},
	{
		name: "toolboxes", kinds: []kind{kindObject}, required: "must have 'http.oauth.toolboxes', the toolboxes by scope or group",
		example:     `{"mcp:dev": ["dev"], "mcp:admin": ["*"]}`,
		entries:     &entries{noun: "Value", lists: true, checkName: checkGrantName, checkValue: checkNotEmpty},
		description: "The toolboxes that people may use, by a value of 'claim', such as a scope or a group. \"*\" is all of them; who has no value of the table may use none.",
	},
	{
		name: "scopes", kinds: []kind{kindArray}, nonEmpty: true, check: checkScope, example: `["openid", "offline_access"]`,
		description: "The scopes that clients are told to ask the identity provider for. The default is the values of 'toolboxes' if 'claim' is \"scope\", otherwise none, which some identity providers refuse. An empty list names none.",
	},
	{
		name: "clientId", kinds: []kind{kindString}, nonEmpty: true, example: `"mcp-workbench"`,
		description: "The id of the workbench's own client at the identity provider. Servers with \"accounts\": \"per-person\" need it: people sign in with it on the workbench's page before they sign in to a server. Its redirect URI is the address of 'resource' with /connect/callback instead of /mcp.",
	},
	{
		name: "clientSecret", kinds: []kind{kindString}, nonEmpty: true, example: `"${CLIENT_SECRET}"`,
		description: "The secret of that client, if it has one.",
	},
}}

var introspectionObject = object{isStrict: true, keys: []key{
	{
		name: "endpoint", kinds: []kind{kindString}, nonEmpty: true, check: checkSafeURL, example: `"https://login.example.com/introspect"`,
		description: "The address of the introspection endpoint. The default is what the identity provider's metadata names.",
	},
	{
		name: "clientId", kinds: []kind{kindString}, nonEmpty: true, required: "must have 'http.oauth.introspection.clientId'", example: `"workbench"`,
		description: "The id of the client that may ask about tokens.",
	},
	{
		name: "clientSecret", kinds: []kind{kindString}, nonEmpty: true, required: "must have 'http.oauth.introspection.clientSecret'", example: `"${INTROSPECTION_SECRET}"`,
		description: "The secret of that client.",
	},
}}

// httpOAuth reads how people sign in; nil if the file does not say it.
func (b *builder) httpOAuth(n *node, p place) *HTTPOAuth {
	if n == nil || n.kind != kindObject {
		return nil
	}
	o := &HTTPOAuth{
		Resource: normalResource(n.get("resource").string()), Issuer: n.get("issuer").string(), JWKSURI: n.get("jwksUri").string(),
		Claim: DefaultClaim, Toolboxes: toolboxGrants(n.get("toolboxes")), Scopes: n.get("scopes").strings(),
		ClientID: n.get("clientId").string(), ClientSecret: n.get("clientSecret").string(),
	}
	if claim := n.get("claim").string(); claim != "" {
		o.Claim = claim
	}
	audience := n.get("audience")
	for _, one := range audience.each() {
		o.Audience = append(o.Audience, one.text)
	}
	if asking := n.get("introspection"); asking != nil && asking.kind == kindObject {
		o.Introspection = &Introspection{
			Endpoint: asking.get("endpoint").string(), ClientID: asking.get("clientId").string(), ClientSecret: asking.get("clientSecret").string(),
		}
		b.collectClientSecret(asking)
	}
	b.collectClientSecret(n)
	b.checkHTTPOAuth(n, o, p)
	return o
}

// checkHTTPOAuth checks the rules that involve more than one key, and lists that must not be empty.
func (b *builder) checkHTTPOAuth(n *node, o *HTTPOAuth, p place) {
	empty := func(key string, isEmpty bool) {
		if value, below := n.get(key), p.member(key); value != nil && isEmpty {
			b.report.fail(value.offset, below.at, below.describe("must not be empty"), exampleHint(httpOAuthObject.key(key)))
		}
	}
	audience, table := n.get("audience"), n.get("toolboxes")
	empty("audience", audience != nil && audience.kind == kindArray && len(audience.elements) == 0)
	empty("toolboxes", table != nil && table.kind == kindObject && len(table.members) == 0)
	if o.ClientSecret != "" && n.lacks("clientId") {
		below := p.member("clientId")
		b.report.fail(n.get("clientSecret").offset, below.at, below.describe("must be set, because 'http.oauth.clientSecret' belongs to a client"), exampleHint(httpOAuthObject.key("clientId")))
	}
	if o.Claim != DefaultClaim {
		return
	}
	for _, m := range table.entries() {
		if below := p.member("toolboxes").member(m.raw); !m.unresolved && checkScope(m.name) != "" {
			b.report.fail(m.offset, below.at, below.describe(checkScope(m.name)), "for groups or roles, set 'http.oauth.claim'")
		}
	}
}

// checkAccounts checks that people can have accounts of their own at a server that wants them.
func (b *builder) checkAccounts(n *node, s *Server, p place) {
	settings := n.get("oauth")
	accounts := settings.get("accounts")
	if s.OAuth == nil || s.OAuth.Accounts != AccountsPerPerson {
		return
	}
	at := p.member("oauth").member("accounts")
	if b.people == nil || b.people.ClientID == "" {
		needed := "'http.oauth' with a 'clientId'"
		if b.people != nil {
			needed = "'http.oauth.clientId'"
		}
		b.report.fail(accounts.offset, at.at, at.describe(fmt.Sprintf("is %q, which needs %s: people sign in there first", AccountsPerPerson, needed)),
			"register the workbench as a client at the identity provider; see docs/team.md")
	}
	for _, key := range []string{"account", "grant"} {
		if other := settings.get(key); other != nil {
			below := p.member("oauth").member(key)
			b.report.fail(other.offset, below.at, fmt.Sprintf("%s: 'oauth.accounts' and 'oauth.%s' cannot be given together", p.subject, key),
				"with an account for each person there is no common one; remove one of them")
		}
	}
	if s.Instances == InstancesShared {
		below := p.member("instances")
		b.report.fail(n.get("instances").offset, below.at, fmt.Sprintf("%s: 'instances' cannot be %q with \"accounts\": %q", p.subject, InstancesShared, AccountsPerPerson),
			"people would use each other's accounts; remove it")
	}
}

// collectClientSecret records the secret of a client.
func (b *builder) collectClientSecret(n *node) {
	if secret := n.get("clientSecret"); secret != nil {
		b.secrets.add(secret.resolved())
	}
}

// normalResource returns the address of /mcp in the form in which addresses are compared.
func normalResource(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return text // a mistake, which was reported
	}
	u.Scheme, u.Host = strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	at := strings.TrimRight(u.EscapedPath(), "/")
	if !strings.HasSuffix(at, "/mcp") {
		at += "/mcp"
	}
	return u.Scheme + "://" + u.Host + at
}

func checkResource(text string) string {
	if wrong := checkIssuer(text); wrong != "" {
		return wrong
	}
	u, _ := url.Parse(text)
	port := u.Port()
	parts := strings.Split(strings.TrimPrefix(strings.TrimSuffix(u.Path, "/"), "/"), "/")
	isOdd := func(part string) bool { return part == "." || part == ".." || part == "" && len(parts) > 1 }
	switch {
	case u.Scheme == "http" && port == "80", u.Scheme == "https" && port == "443", strings.HasSuffix(u.Host, ":"):
		return "must not name the usual port of its scheme, since clients leave it out"
	case slices.ContainsFunc(parts, isOdd):
		return "must not have empty parts, '.' or '..' in its path"
	}
	return ""
}

func checkIssuer(text string) string {
	if wrong := checkSafeURL(text); wrong != "" {
		return wrong
	}
	if u, _ := url.Parse(text); u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || strings.HasSuffix(text, "#") {
		return "must not have a query or a fragment"
	}
	return ""
}

// checkSafeURL accepts addresses that nobody on the way can read or answer for.
func checkSafeURL(text string) string {
	if wrong := checkURL(text); wrong != "" {
		return wrong
	}
	u, _ := url.Parse(text)
	switch {
	case u.User != nil:
		return "must not have a user or a password"
	case u.Scheme == "http" && !isLoopback(u.Hostname()):
		return "must start with https://; http:// is for loopback addresses only"
	}
	return ""
}

func isLoopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return err == nil && address.Unmap().IsLoopback() || strings.EqualFold(host, "localhost")
}
