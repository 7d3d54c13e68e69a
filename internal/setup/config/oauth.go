package config

import (
	"slices"
	"strconv"
	"strings"
)

// OAuth is how the workbench signs in to a remote server. A server that follows the specification needs none of it.
type OAuth struct {
	Off bool // never sign in

	ClientID          string // a client that was registered by hand
	ClientSecret      string
	ClientMetadataURL string // the address of a client id metadata document
	ClientName        string // "" for the default

	Scopes       []string // requested instead of those that the server names; nil: not set
	Resource     string   // sent instead of the server's own; "": not set
	OmitResource bool     // send none

	Issuer              string // pins the issuer that the authorization server's metadata must name
	AuthorizationServer string // used instead of the one that the server names
	AuthorizeParams     []Variable
	CallbackPort        int // 0: the workbench chooses one and keeps it
	Account             string
	PKCE                string // "", or "assume": the metadata does not mention PKCE, but the server supports S256
	Accounts            string // "": one login for all; or AccountsPerPerson

	Grant            string // "": a person signs in; otherwise one of grants
	TokenAuth        string // "": as registered; otherwise one of tokenAuths
	PrivateKeyFile   string // absolute; for private_key_jwt
	KeyID            string
	SigningAlgorithm string
	AssertionFile    string            // absolute; for jwt-bearer
	IdentityProvider *IdentityProvider // for id-jag
}

// IdentityProvider is where an identity token is exchanged for the assertion that the authorization server accepts.
type IdentityProvider struct {
	Issuer        string
	TokenEndpoint string
	ClientID      string
	ClientSecret  string
	IDTokenFile   string // absolute
}

// HasOwnToken reports whether the headers of a remote server bring its token.
func (s *Server) HasOwnToken() bool {
	return slices.ContainsFunc(s.Headers, func(header Variable) bool { return strings.EqualFold(header.Name, "Authorization") })
}

// SignsIn reports whether the workbench signs in to the server with OAuth: to a remote server, unless that is turned off, or
// its headers bring a token and nothing says how to sign in.
func (s *Server) SignsIn() bool {
	if s.OAuth == nil {
		return s.URL != "" && !s.HasOwnToken() && !s.defers("url")
	}
	return s.URL != "" && !s.OAuth.Off
}

// HasOwnAccounts reports whether each person has an account of their own at a remote server.
func (s *Server) HasOwnAccounts() bool {
	return s.OAuth != nil && s.OAuth.Accounts == AccountsPerPerson
}

// The grants that need no person, and how a client authenticates at the token endpoint.
const (
	GrantClientCredentials = "client_credentials"
	GrantJWTBearer         = "jwt-bearer"
	GrantIDJAG             = "id-jag"

	TokenAuthNone       = "none"
	TokenAuthBasic      = "client_secret_basic"
	TokenAuthPost       = "client_secret_post"
	TokenAuthPrivateKey = "private_key_jwt"

	PKCEAssume = "assume"
)

var (
	grants     = []string{GrantClientCredentials, GrantJWTBearer, GrantIDJAG}
	tokenAuths = []string{TokenAuthNone, TokenAuthBasic, TokenAuthPost, TokenAuthPrivateKey}
)

var oauthKey = key{
	name: "oauth", kinds: []kind{kindBoolean, kindObject}, members: &oauthObject, example: `{"clientId": "abc123"}`, fallback: "true",
	description: "How the workbench signs in to a remote server with OAuth. A server that follows the MCP specification needs none of these keys. false turns it off; a server whose 'headers' set Authorization does not use it either, unless this key is set.",
}

var oauthObject = object{keys: []key{
	{
		name: "clientId", kinds: []kind{kindString}, nonEmpty: true, example: `"abc123"`,
		description: "The id of a client that you registered at the authorization server. The default is to register one automatically.",
	},
	{
		name: "clientSecret", kinds: []kind{kindString}, nonEmpty: true, example: `"${CLIENT_SECRET}"`,
		description: "The secret of that client, if it has one.",
	},
	{
		name: "clientMetadataUrl", kinds: []kind{kindString}, nonEmpty: true, check: checkHTTPS, example: `"https://example.com/client.json"`,
		description: "The https address of a client id metadata document, which serves as client id where the authorization server accepts it.",
	},
	{
		name: "clientName", kinds: []kind{kindString}, nonEmpty: true, example: `"MCP Workbench"`, fallback: `"MCP Workbench"`,
		description: "The name under which a client is registered automatically. People see it when they consent.",
	},
	{
		name: "scopes", kinds: []kind{kindArray}, nonEmpty: true, check: checkScope, example: `["read", "write"]`,
		description: "The scopes to request. The default is what the server asks for, else all that it lists. An empty list requests none.",
	},
	{
		name: "resource", kinds: []kind{kindBoolean, kindString}, nonEmpty: true, check: checkURL, example: `"https://example.com/mcp"`,
		description: "The resource that a token is requested for. The default is what the server names. false sends none, for authorization servers that refuse the parameter.",
	},
	{
		name: "issuer", kinds: []kind{kindString}, nonEmpty: true, check: checkURL, example: `"https://auth.example.com"`,
		description: "The issuer that the authorization server's metadata must name, where it is not the address that the metadata was found under.",
	},
	{
		name: "authorizationServer", kinds: []kind{kindString}, nonEmpty: true, check: checkURL, example: `"https://auth.example.com"`,
		description: "The authorization server to use, by its issuer, instead of what the server names.",
	},
	{
		name: "authorizeParams", kinds: []kind{kindObject}, example: `{"prompt": "consent"}`,
		entries:     &entries{noun: "Parameter", checkName: checkParameterName},
		description: "Additional parameters of the authorization request.",
	},
	{
		name: "callbackPort", kinds: []kind{kindInteger}, check: checkPort, example: `33418`,
		description: "The port on 127.0.0.1 that the browser returns to after the login. The default is a free port, which is kept. Set it if the authorization server accepts only a fixed redirect URI, which is http://127.0.0.1:PORT/callback.",
	},
	{
		name: "account", kinds: []kind{kindString}, nonEmpty: true, check: checkAccount, example: `"work"`,
		description: "The name of the login to use, if you have several accounts at the server; 'mcp-workbench login SERVER --account NAME' signs in to it.",
	},
	{
		name: "accounts", kinds: []kind{kindString}, enum: []string{AccountsPerPerson},
		description: "\"per-person\": each person of 'http.oauth' signs in to the server with an account of their own, when they first use it. It needs 'http.oauth.clientId'. The default is one login for all.",
	},
	{
		name: "pkce", kinds: []kind{kindString}, enum: []string{PKCEAssume},
		description: "\"assume\" signs in although the authorization server's metadata does not say that it supports PKCE with S256.",
	},
	{
		name: "grant", kinds: []kind{kindString}, enum: grants,
		description: "How to get a token without a person: \"client_credentials\", \"jwt-bearer\" with the assertion of 'assertionFile', or \"id-jag\" with the identity token of 'identityProvider'. The default is that a person signs in.",
	},
	{
		name: "tokenEndpointAuthMethod", kinds: []kind{kindString}, enum: tokenAuths,
		description: "How the client authenticates at the token endpoint. The default is what was registered, what the authorization server supports, or client_secret_basic.",
	},
	{
		name: "privateKeyFile", kinds: []kind{kindString}, nonEmpty: true, example: `"client-key.pem"`,
		description: "The file with the client's private key in PEM format, for private_key_jwt, relative to the configuration file's folder; a leading ~/ is the home folder.",
	},
	{
		name: "keyId", kinds: []kind{kindString}, nonEmpty: true, example: `"2026-1"`,
		description: "The id of that key, if the authorization server needs it.",
	},
	{
		name: "signingAlgorithm", kinds: []kind{kindString}, enum: []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"},
		description: "The algorithm to sign with that key. The default depends on the type of the key.",
	},
	{
		name: "assertionFile", kinds: []kind{kindString}, nonEmpty: true, example: `"/var/run/secrets/token"`,
		description: "The file with the JWT for the grant jwt-bearer, relative to the configuration file's folder; a leading ~/ is the home folder. It is read again for each token.",
	},
	{
		name: "identityProvider", kinds: []kind{kindObject}, members: &identityProviderObject,
		example:     `{"issuer": "https://login.example.com", "clientId": "abc123", "idTokenFile": "id-token.jwt"}`,
		description: "The identity provider of your organisation, for the grant id-jag.",
	},
}}

var identityProviderObject = object{keys: []key{
	{
		name: "issuer", kinds: []kind{kindString}, nonEmpty: true, check: checkURL, example: `"https://login.example.com"`,
		description: "The issuer of the identity provider. Its metadata names the token endpoint.",
	},
	{
		name: "tokenEndpoint", kinds: []kind{kindString}, nonEmpty: true, check: checkURL, example: `"https://login.example.com/token"`,
		description: "The token endpoint of the identity provider, if its metadata does not name it.",
	},
	{
		name: "clientId", kinds: []kind{kindString}, nonEmpty: true, example: `"abc123"`,
		description: "The id of the workbench's client at the identity provider.",
	},
	{
		name: "clientSecret", kinds: []kind{kindString}, nonEmpty: true, example: `"${IDP_SECRET}"`,
		description: "The secret of that client, if it has one.",
	},
	{
		name: "idTokenFile", kinds: []kind{kindString}, nonEmpty: true, required: "must name the file 'oauth.identityProvider.idTokenFile'", example: `"id-token.jwt"`,
		description: "The file with the identity token, relative to the configuration file's folder; a leading ~/ is the home folder. It is read again for each token.",
	},
}}

// oauth reads how to sign in to a server; nil if the file does not say it.
func (b *builder) oauth(n *node, p place) *OAuth {
	if n == nil {
		return nil
	}
	if n.kind != kindObject {
		return &OAuth{Off: !n.isTrue()}
	}
	resource := n.get("resource")
	o := &OAuth{
		ClientID: n.get("clientId").string(), ClientSecret: n.get("clientSecret").string(),
		ClientMetadataURL: n.get("clientMetadataUrl").string(), ClientName: n.get("clientName").string(),
		Scopes: n.get("scopes").strings(), Resource: resource.string(), OmitResource: resource != nil && resource.kind == kindBoolean && !resource.isTrue(),
		Issuer: n.get("issuer").string(), AuthorizationServer: n.get("authorizationServer").string(),
		AuthorizeParams: n.get("authorizeParams").variables(), CallbackPort: n.get("callbackPort").integer(),
		Account: n.get("account").string(), PKCE: n.get("pkce").string(), Accounts: n.get("accounts").string(),
		Grant: n.get("grant").string(), TokenAuth: n.get("tokenEndpointAuthMethod").string(),
		PrivateKeyFile: b.file(n.get("privateKeyFile"), p.member("privateKeyFile")),
		KeyID:          n.get("keyId").string(), SigningAlgorithm: n.get("signingAlgorithm").string(),
		AssertionFile: b.file(n.get("assertionFile"), p.member("assertionFile")),
	}
	if provider := n.get("identityProvider"); provider != nil {
		o.IdentityProvider = &IdentityProvider{
			Issuer: provider.get("issuer").string(), TokenEndpoint: provider.get("tokenEndpoint").string(),
			ClientID: provider.get("clientId").string(), ClientSecret: provider.get("clientSecret").string(),
			IDTokenFile: b.file(provider.get("idTokenFile"), p.member("identityProvider").member("idTokenFile")),
		}
	}
	b.checkOAuth(n, o, p)
	return o
}

// checkOAuth checks that each way to get a token has what it needs.
func (b *builder) checkOAuth(n *node, o *OAuth, p place) {
	needs := func(key, because string, given bool) {
		if !given {
			below := p.member(key)
			b.report.fail(n.offset, p.at, below.describe("must be set, because "+because), exampleHint(oauthObject.key(key)))
		}
	}
	switch o.Grant {
	case GrantClientCredentials:
		needs("clientId", "'oauth.grant' is \"client_credentials\"", o.ClientID != "")
		if o.TokenAuth != TokenAuthPrivateKey && o.PrivateKeyFile == "" {
			needs("clientSecret", "'oauth.grant' is \"client_credentials\"", o.ClientSecret != "")
		}
	case GrantJWTBearer:
		needs("assertionFile", "'oauth.grant' is \"jwt-bearer\"", o.AssertionFile != "")
	case GrantIDJAG:
		needs("clientId", "'oauth.grant' is \"id-jag\"", o.ClientID != "")
		needs("identityProvider", "'oauth.grant' is \"id-jag\"", o.IdentityProvider != nil)
	}
	if resource := n.get("resource"); resource != nil && resource.kind == kindBoolean && resource.isTrue() {
		below := p.member("resource")
		b.report.fail(resource.offset, below.at, below.describe("must be false or an address"), "without the key, what the server names is sent")
	}
	if o.TokenAuth == TokenAuthPrivateKey {
		needs("privateKeyFile", "'oauth.tokenEndpointAuthMethod' is \"private_key_jwt\"", o.PrivateKeyFile != "")
	}
	if o.ClientSecret != "" {
		needs("clientId", "'oauth.clientSecret' belongs to a client", o.ClientID != "")
	}
	if provider := o.IdentityProvider; provider != nil && provider.Issuer == "" && provider.TokenEndpoint == "" {
		below := p.member("identityProvider")
		b.report.fail(n.offset, below.at, below.describe("must have an 'issuer' or a 'tokenEndpoint'"), exampleHint(oauthObject.key("identityProvider")))
	}
}

// collectOAuthSecrets records the secrets in the settings of a login.
func (b *builder) collectOAuthSecrets(n *node) {
	if n == nil || n.kind != kindObject {
		return
	}
	for _, holder := range []*node{n, n.get("identityProvider")} {
		if holder == nil || holder.kind != kindObject {
			continue
		}
		if secret := holder.get("clientSecret"); secret != nil {
			for _, text := range secret.literals() {
				b.secrets.add(text)
			}
		}
	}
}

// Credentials is how logins are kept.
type Credentials struct {
	Seal              string // "": not sealed; otherwise one of seals
	KeyFile           string // absolute; for SealFile
	SystemdCredential string // the name; for SealSystemd
}

// Where the key that seals logins comes from.
const (
	SealKeyring = "keyring"
	SealFile    = "file"
	SealSystemd = "systemd"

	DefaultSystemdCredential = "mcp-workbench-key"
)

var credentialsKey = key{
	name: "credentials", kinds: []kind{kindObject}, members: &credentialsObject, example: `{"seal": "keyring"}`,
	description: "How the logins of remote servers are kept.",
}

var credentialsObject = object{isStrict: true, keys: []key{
	{
		name: "seal", kinds: []kind{kindString}, enum: []string{SealKeyring, SealFile, SealSystemd},
		description: "Encrypts the files with a key from the system's \"keyring\", from a \"file\" or from a \"systemd\" credential. If the key cannot be had, logins cannot be used or stored. The default is files that only you can read.",
	},
	{
		name: "keyFile", kinds: []kind{kindString}, nonEmpty: true, example: `"~/.config/mcp-workbench/credentials.key"`,
		description: "The file with the key, which only you may be able to read, relative to the configuration file's folder; a leading ~/ is the home folder. For \"seal\": \"file\".",
	},
	{
		name: "systemdCredential", kinds: []kind{kindString}, nonEmpty: true, check: checkAccount, example: `"mcp-workbench-key"`, fallback: `"mcp-workbench-key"`,
		description: "The name of the systemd credential with the key. For \"seal\": \"systemd\".",
	},
}}

func (b *builder) credentials(n *node) Credentials {
	if n == nil || n.kind != kindObject {
		return Credentials{}
	}
	p := rootPlace.member("credentials")
	c := Credentials{
		Seal: n.get("seal").string(), KeyFile: b.file(n.get("keyFile"), p.member("keyFile")),
		SystemdCredential: n.get("systemdCredential").string(),
	}
	if c.SystemdCredential == "" {
		c.SystemdCredential = DefaultSystemdCredential
	}
	if c.Seal == SealFile && c.KeyFile == "" {
		b.report.fail(n.offset, p.at, p.member("keyFile").describe("must be set, because 'credentials.seal' is \"file\""), exampleHint(credentialsObject.key("keyFile")))
	}
	return c
}

func checkHTTPS(text string) string {
	if wrong := checkURL(text); wrong != "" || strings.HasPrefix(text, "https://") {
		return wrong
	}
	return "must start with https://"
}

// checkScope accepts the characters of a scope in RFC 6749.
func checkScope(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == '"' || r == '\\' || r > '~' }) {
		return "holds a blank or a character that a scope cannot have; write each scope as one element"
	}
	return ""
}

// ownParameters are the parameters of an authorization request that the workbench sets.
var ownParameters = []string{"response_type", "client_id", "redirect_uri", "state", "code_challenge", "code_challenge_method", "scope", "resource"}

func checkParameterName(name string) string {
	switch {
	case name == "":
		return "name cannot be empty"
	case slices.Contains(ownParameters, name):
		return "'" + name + "' is set by the workbench; it cannot be changed here"
	}
	return ""
}

func checkPort(text string) string {
	if port, err := strconv.Atoi(text); err != nil || port < 1 || port > 65535 {
		return "must be a port from 1 to 65535"
	}
	return ""
}

// CheckAccount returns what is wrong with the name of an account; "" if nothing is.
func CheckAccount(text string) string {
	if text == "" {
		return "cannot be empty"
	}
	return checkAccount(text)
}

func checkAccount(text string) string {
	if len(text) > 64 || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == '/' || r == '\\' || r == 0x7f }) {
		return "must be a name of at most 64 characters, without blanks and slashes"
	}
	return ""
}
