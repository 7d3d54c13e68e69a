package oauthtest

import (
	"encoding/json"
	"io"
	"time"

	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
)

// Options say how a Provider behaves. The zero value follows the RFCs: every field is a departure from them, or chooses
// between two things that they allow. All of them can change while it runs, but the server, its transport and the logs;
// see Provider.Change.
type Options struct {
	// Server is the MCP server behind the token check; nil: one with the tool "echo", in the eras of Era.
	Server *mcptest.Server `json:"-"`
	// Spec is Server in JSON, as in the files of fakeserver.
	Spec json.RawMessage `json:"server"`
	// Era of the default server: "", "modern" or "both".
	Era string `json:"era"`
	// Transport of the MCP server: "" Streamable HTTP, "sse" HTTP+SSE. It does not change while the provider runs.
	Transport string `json:"transport"`
	// Log gets each Event as a line of JSON when it has ended, and ServerLog the lines of the MCP server. May be nil.
	Log       io.Writer `json:"-"`
	ServerLog io.Writer `json:"-"`

	// Network is how the provider is reached: "" over http, "secure" over https with certificates of an authority of its
	// own, "proxied" the same under names that only its proxy knows. It cannot change.
	Network string `json:"network"`

	ResourceOptions
	MetadataOptions
	ClientOptions
	TokenOptions

	// Faults replace or delay answers, by the kind of the request; see Event.Kind.
	Faults map[string]Fault `json:"faults"`
}

// ResourceOptions are about the protected MCP server.
type ResourceOptions struct {
	// Challenge is what a 401 has in WWW-Authenticate: "" all that the specification asks for, "bare" just Bearer,
	// "none" no header, "basic" another scheme, "several" Basic and Bearer in one header, or any other text as it is.
	Challenge string `json:"challenge"`
	// ChallengeScope is the scope in the challenge of a 401.
	ChallengeScope string `json:"challengeScope"`
	// AdvertisedMetadata is the path of the resource metadata in the challenge, instead of where it is. A whole URL is
	// sent as it is.
	AdvertisedMetadata string `json:"advertisedMetadata"`
	// ResourceMetadataAt is where the resource metadata is: "" at the well-known path of the server, "root" at the
	// well-known path of the origin, "custom" at a path that only the challenge tells, "nowhere".
	ResourceMetadataAt string `json:"resourceMetadataAt"`
	// Resource is the form of "resource" in the metadata: "" the URL of the server, "array" the same in an array of one,
	// "slash" with a slash at its end, "origin" without its path, "absent", or any other text as it is.
	Resource string `json:"resource"`
	// ResourceScopes are scopes_supported of the resource.
	ResourceScopes []string `json:"resourceScopes"`
	// AuthorizationServers replaces the list of the resource metadata. "FIRST" and "OTHER" in it stand for the issuers.
	AuthorizationServers []string `json:"authorizationServers"`
	// Migrated makes the resource name the other authorization server, and refuse tokens of the first.
	Migrated bool `json:"migrated"`
	// TokenFor names the methods of MCP that need a token; nil: all.
	TokenFor []string `json:"tokenFor"`
	// ToolScopes are the scopes that calls of a tool need, and MethodScopes those of a method; a token without them
	// gets 403 insufficient_scope.
	ToolScopes   map[string]string `json:"toolScopes"`
	MethodScopes map[string]string `json:"methodScopes"`
	// NeverEnoughScope makes a call that needs a scope fail with 403 even if it is granted.
	NeverEnoughScope bool `json:"neverEnoughScope"`
	// PlainForbidden makes a 403 without a challenge of a call that needs a scope.
	PlainForbidden bool `json:"plainForbidden"`
	// AnyAudience makes the resource take tokens for other resources.
	AnyAudience bool `json:"anyAudience"`
	// FixedTokens are access tokens that are always good.
	FixedTokens []string `json:"fixedTokens"`
	// Introspect tells of tokens of an authorization server that is not this package's, whose issuer is in
	// AuthorizationServers; nil for a token that is not good.
	Introspect func(token string) *Introspection `json:"-"`
}

// Introspection is what another authorization server says about a token.
type Introspection struct {
	Client   string
	Scopes   []string
	Resource string
	Key      string // thumbprint of the DPoP key that it is bound to
}

// MetadataOptions are about the metadata of the authorization server.
type MetadataOptions struct {
	// SameOrigin puts the authorization server at the origin of the MCP server.
	SameOrigin bool `json:"sameOrigin"`
	// IssuerPath is the path of the issuer, such as "/tenant".
	IssuerPath string `json:"issuerPath"`
	// MetadataAt is where the metadata is: "" RFC 8414, "openid" where OpenID Connect has it (behind the path of the
	// issuer), "openid inserted" (before it), "nowhere".
	MetadataAt string `json:"metadataAt"`
	// Issuer is the issuer in the metadata: "" the right one, "slash" with a slash at its end, or any other text.
	Issuer string `json:"issuer"`
	// MetadataSet are members of the metadata, which replace those there are; null removes one.
	MetadataSet map[string]json.RawMessage `json:"metadataSet"`
	// Scopes are scopes_supported of the authorization server.
	Scopes []string `json:"scopes"`
}

// ClientOptions are about clients, and how they are authorized.
type ClientOptions struct {
	// Clients are known without registration.
	Clients []Client `json:"clients"`
	// NoRegistration leaves out dynamic registration.
	NoRegistration bool `json:"noRegistration"`
	// ClientDocuments makes the authorization server take URLs of client metadata documents as client ids. A document
	// that is not here is fetched.
	ClientDocuments bool                       `json:"clientDocuments"`
	Documents       map[string]json.RawMessage `json:"documents"`
	// RegisterMethod is the token_endpoint_auth_method that registrations get, whatever they asked for.
	RegisterMethod string `json:"registerMethod"`
	// SaysNone makes the answer of a registration say the method none, although the secret is wanted.
	SaysNone bool `json:"saysNone"`
	// SecretSeconds is how long the secret of a registration lasts, 0: forever. Negative: it has expired when it is
	// issued.
	SecretSeconds int `json:"secretSeconds"`
	// AllowedNames are the client names that may register; nil: all.
	AllowedNames []string `json:"allowedNames"`
	// ExactRedirect takes a redirect URI only with the port that was registered.
	ExactRedirect bool `json:"exactRedirect"`
	// Consent is what a person does: "" it logs in and agrees at once, "form" by a form, "deny" it does not agree.
	Consent string `json:"consent"`
	// ResourceParameter is what becomes of "resource": "" it has to be that of the metadata, "refused", "ignored".
	ResourceParameter string `json:"resourceParameter"`
	// Iss is the parameter of the redirect: "" advertised and sent, "unadvertised" but sent, "missing" although
	// advertised, "none" neither, "unexpected" wrong and not advertised, or any other text as its value.
	Iss string `json:"iss"`
	// WrongState sends a redirect with another state.
	WrongState bool `json:"wrongState"`
}

// TokenOptions are about the token endpoint.
type TokenOptions struct {
	// AccessSeconds is how long an access token lasts, 0: an hour.
	AccessSeconds int `json:"accessSeconds"`
	// NoExpiry leaves out expires_in.
	NoExpiry bool `json:"noExpiry"`
	// Refresh is what becomes of refresh tokens: "" each is used once, and its reuse ends all tokens of the login;
	// "kept": it stays, and no new one is sent; "none": there are none; "offline": there is one only if the scope
	// offline_access was granted; "rotated": the old one goes on as well.
	Refresh string `json:"refresh"`
	// TokenType is token_type in answers; "": Bearer, or DPoP for a token that is bound to a key.
	TokenType string `json:"tokenType"`
	// NoScope leaves out scope in answers.
	NoScope bool `json:"noScope"`
	// NeverGranted are scopes that no token gets.
	NeverGranted []string `json:"neverGranted"`
	// DPoP is "" not offered, "offered", "required". With Nonces, proofs need the nonce of who checks them.
	DPoP   string `json:"dpop"`
	Nonces bool   `json:"nonces"`
	// Assertions are the JWTs that the grant jwt-bearer takes, and IDTokens what a token exchange takes.
	Assertions []string `json:"assertions"`
	IDTokens   []string `json:"idTokens"`

	// Now is the clock that tokens expire by; nil: the system's.
	Now func() time.Time `json:"-"`
}

// Client is one that an authorization server knows.
type Client struct {
	ID            string    `json:"id"`
	Secret        string    `json:"secret"`
	Method        string    `json:"method"` // "": none without a secret, client_secret_basic with one
	RedirectURIs  []string  `json:"redirectUris"`
	Name          string    `json:"name"`
	Key           string    `json:"key"` // PEM, public: for private_key_jwt
	SecretExpires time.Time `json:"secretExpires"`
}

// Fault is another answer than the usual one.
type Fault struct {
	// Status and Body are sent instead, with the media type Type ("application/json") and Header; 0: the usual answer.
	Status int               `json:"status"`
	Type   string            `json:"type"`
	Body   string            `json:"body"`
	Header map[string]string `json:"header"`
	// Endless repeats Body forever.
	Endless bool `json:"endless"`
	// Cut does what was asked for, and ends the connection without the answer. With Status nothing is done.
	Cut bool `json:"cut"`
	// Milliseconds passes before anything is done.
	Milliseconds int `json:"milliseconds"`
	// After leaves the first requests of the kind alone, and Times bounds how many get the fault; 0: all.
	After int `json:"after"`
	Times int `json:"times"`
}

// defaultTool is what the default server has.
const defaultTool = `{"name":"echo","description":"Echoes its arguments","inputSchema":{"type":"object"}}`

func (o *Options) server() (*mcptest.Server, error) {
	if o.Server != nil {
		return o.Server, nil
	}
	if len(o.Spec) > 0 {
		return mcptest.Parse(o.Spec)
	}
	return &mcptest.Server{Era: o.Era, Pages: [][]json.RawMessage{{json.RawMessage(defaultTool)}}}, nil
}
