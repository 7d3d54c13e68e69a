package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/access/credentials"
	"github.com/mcp-workbench/mcp-workbench/internal/base/webclient"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

const (
	// defaultClientName is what people see when they consent.
	defaultClientName = "MCP Workbench"
	// defaultClientDocument is the address of the workbench's own client id metadata document; "": there is none.
	defaultClientDocument = ""
	// softwareID names the program in registrations, the same in all versions (RFC 7591, section 2).
	softwareID = "mcp-workbench"
)

// registrationTime is how long a registration may take.
const registrationTime = 20 * time.Second

// registrar gets the client id for an authorization server.
type registrar struct {
	guard    *webclient.Guard
	settings *config.OAuth
	version  string // of the workbench
	trace    func(Step)
	hosted   bool // the redirect URI is no loopback address of the program's own
}

// newRegistrar returns a registrar. Settings and trace may be nil.
func newRegistrar(guard *webclient.Guard, settings *config.OAuth, version string, trace func(Step)) *registrar {
	if settings == nil {
		settings = &config.OAuth{}
	}
	if trace == nil {
		trace = func(Step) {}
	}
	return &registrar{guard: guard, settings: settings, version: version, trace: trace}
}

// client returns the client to log in with: the configured one, a metadata document where the authorization server
// accepts one, or a registered one. Known is the client of an earlier login at the same issuer; it is used again if it
// was registered with the same redirect URI, unless renew is set.
func (r *registrar) client(ctx context.Context, t *target, redirectURI string, known *credentials.Client, renew bool) (credentials.Client, error) {
	source, err := r.source(t, redirectURI)
	if err != nil {
		if canReuse(known, redirectURI, renew) {
			return *known, nil
		}
		return credentials.Client{}, err
	}
	switch source {
	case credentials.SourceConfigured:
		r.trace(Step{Title: "client", Detail: "the configured client id"})
		return credentials.Client{
			ID: r.settings.ClientID, Secret: r.settings.ClientSecret, Method: r.method(r.settings.ClientSecret, t.server), RedirectURI: redirectURI, Source: source,
		}, nil
	case credentials.SourceDocument:
		r.trace(Step{Title: "client", Detail: "the metadata document " + shown(r.document())})
		return credentials.Client{ID: r.document(), Method: r.method("", t.server), RedirectURI: redirectURI, Source: source}, nil
	}
	if canReuse(known, redirectURI, renew) {
		r.trace(Step{Title: "client", Detail: "registered earlier"})
		return *known, nil
	}
	return r.register(ctx, t, redirectURI)
}

// source returns where the client id comes from, a constant credentials.Source…, or an error that says what to configure.
func (r *registrar) source(t *target, redirectURI string) (string, error) {
	document := r.document()
	switch {
	case r.settings.ClientID != "":
		return credentials.SourceConfigured, nil
	case t.server.AcceptsClientDocument && document != "":
		return credentials.SourceDocument, checkDocument(document)
	case t.server.RegistrationEndpoint != "":
		return credentials.SourceDynamic, nil
	}
	message := fmt.Sprintf("The authorization server %s does not let the workbench register itself", shown(t.server.Issuer))
	switch {
	case t.server.AcceptsClientDocument:
		message += ": it has no dynamic client registration (RFC 7591), and its other way, a client id metadata document, needs one that you host"
	case document != "":
		message += ": it has no dynamic client registration (RFC 7591), and does not accept the client id metadata document of 'oauth.clientMetadataUrl'"
	default:
		message += ": it has no dynamic client registration (RFC 7591)"
	}
	return "", problem(r.ownClient(redirectURI), "%s", message)
}

// ownClient says how to register a client by hand.
func (r *registrar) ownClient(redirectURI string) string {
	if r.hosted {
		return "Those who run the workbench have to register an application in the settings of that service as a web application with the redirect URI " + redirectURI +
			", and to set 'oauth.clientId' of the server to the id that they get, and 'oauth.clientSecret' if they get a secret."
	}
	hint := "Register an application in the settings of that service (or ask its operator to do it) as a native or desktop application with the redirect URI " + redirectURI +
		", then set 'oauth.clientId' of the server to the id that you get, and 'oauth.clientSecret' if you get a secret."
	u, err := url.Parse(redirectURI)
	switch {
	case r.settings.CallbackPort != 0:
	case err != nil: // no port is chosen yet
		hint += " PORT is a free port that you choose, and that you set as 'oauth.callbackPort'."
	default:
		hint += fmt.Sprintf(" Set 'oauth.callbackPort' to %s, so that the redirect URI stays the same.", u.Port())
	}
	return hint
}

func (r *registrar) document() string {
	if r.settings.ClientMetadataURL != "" {
		return r.settings.ClientMetadataURL
	}
	return defaultClientDocument
}

// checkDocument checks that an address can be a client id.
func checkDocument(address string) error {
	u, err := url.Parse(address)
	wrong := ""
	switch {
	case err != nil || u.Scheme != "https" || u.Host == "":
		wrong = "it has to be an https address"
	case u.EscapedPath() == "" || u.EscapedPath() == "/":
		wrong = "it has to have a path"
	case u.User != nil || strings.Contains(address, "#"):
		wrong = "it must not have a user name or a fragment"
	case slices.ContainsFunc(strings.Split(u.Path, "/"), func(segment string) bool { return segment == "." || segment == ".." }):
		wrong = "its path must not have . or .. in it"
	default:
		return nil
	}
	return problem("Correct 'oauth.clientMetadataUrl'.", "The address in 'oauth.clientMetadataUrl' cannot be a client id: %s", wrong)
}

// canReuse reports whether a registered client can be used again. A redirect URI that was not registered is never sent.
func canReuse(known *credentials.Client, redirectURI string, renew bool) bool {
	return known != nil && !renew && known.ID != "" && known.Source == credentials.SourceDynamic && known.RedirectURI == redirectURI &&
		(known.SecretExpires.IsZero() || time.Now().Before(known.SecretExpires))
}

// method returns how a client authenticates that was not told how.
func (r *registrar) method(secret string, server *serverMetadata) string {
	return chooseMethod(r.settings, secret, server)
}

// registration is the request, and the part of the response that is used (RFC 7591).
type registration struct {
	ClientName              string   `json:"client_name"`
	RedirectURIs            []string `json:"redirect_uris"`
	GrantTypes              []string `json:"grant_types"`
	ResponseTypes           []string `json:"response_types"`
	TokenEndpointAuthMethod string   `json:"token_endpoint_auth_method"`
	ApplicationType         string   `json:"application_type"`
	SoftwareID              string   `json:"software_id"`
	SoftwareVersion         string   `json:"software_version,omitempty"`
}

type registered struct {
	ClientID                string      `json:"client_id"`
	ClientSecret            string      `json:"client_secret"`
	ClientSecretExpiresAt   json.Number `json:"client_secret_expires_at"`
	TokenEndpointAuthMethod string      `json:"token_endpoint_auth_method"`
	Error                   string      `json:"error"`
	Description             string      `json:"error_description"`
}

// register registers a client: a public one, since a program on a person's machine cannot keep a secret. An authorization
// server that wants a secret all the same is asked again in its way.
func (r *registrar) register(ctx context.Context, t *target, redirectURI string) (credentials.Client, error) {
	name := r.settings.ClientName
	if name == "" {
		name = defaultClientName
	}
	request := registration{
		ClientName: name, RedirectURIs: []string{redirectURI},
		GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
		TokenEndpointAuthMethod: config.TokenAuthNone, ApplicationType: applicationType(redirectURI), SoftwareID: softwareID, SoftwareVersion: r.version,
	}
	client, err := r.send(ctx, t, request)
	methods := t.server.TokenEndpointAuthMethods
	if refused, ok := errors.AsType[*registrationError](err); ok && refused.status == http.StatusBadRequest && len(methods) > 0 && !slices.Contains(methods, config.TokenAuthNone) {
		if request.TokenEndpointAuthMethod = r.method("any", t.server); request.TokenEndpointAuthMethod != config.TokenAuthNone {
			client, err = r.send(ctx, t, request)
		}
	}
	if err != nil {
		return credentials.Client{}, r.explain(t, redirectURI, err)
	}
	client.RedirectURI = redirectURI
	r.trace(Step{Title: "client", Detail: "registered at " + shown(t.server.RegistrationEndpoint)})
	return client, nil
}

// applicationType is what a client is to an authorization server, which allows other redirect URIs for each (OpenID Connect
// Dynamic Client Registration, section 2).
func applicationType(redirectURI string) string {
	if strings.HasPrefix(redirectURI, "https:") {
		return "web"
	}
	return "native"
}

// registrationError is an answer that is not a registration.
type registrationError struct {
	status int
	text   string // what the authorization server said, cleaned; or what is wrong with the answer
}

func (e *registrationError) Error() string {
	if e.text == "" {
		return status(e.status)
	}
	return status(e.status) + ": " + e.text
}

func (r *registrar) send(ctx context.Context, t *target, request registration) (credentials.Client, error) {
	body, err := json.Marshal(request)
	if err != nil {
		return credentials.Client{}, err
	}
	header := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json"}}
	document, err := r.guard.Post(ctx, t.server.RegistrationEndpoint, header, body, registrationTime)
	if err != nil {
		return credentials.Client{}, err
	}
	var answer registered
	decoded := webclient.DecodeJSON(document.Body, &answer)
	switch {
	case document.Status != http.StatusCreated && document.Status != http.StatusOK:
		text := strings.TrimPrefix(words(answer.Error)+": "+words(answer.Description), ": ")
		return credentials.Client{}, &registrationError{document.Status, words(strings.TrimSuffix(text, ": "))}
	case decoded != nil:
		return credentials.Client{}, &registrationError{document.Status, "the answer is not what RFC 7591 (section 3.2.1) describes: " + decoded.Error()}
	case len(answer.ClientID) > maxToken || len(answer.ClientSecret) > maxToken:
		return credentials.Client{}, &registrationError{document.Status, fmt.Sprintf("the 'client_id' or the 'client_secret' of the answer is longer than %d KiB", maxToken>>10)}
	case answer.ClientID == "":
		return credentials.Client{}, &registrationError{document.Status, "the answer has no 'client_id', which RFC 7591 (section 3.2.1) requires"}
	}
	return r.accept(t, answer, document.Status)
}

// accept makes a client of the answer, which decides how it authenticates.
func (r *registrar) accept(t *target, answer registered, code int) (credentials.Client, error) {
	client := credentials.Client{
		ID: answer.ClientID, Secret: answer.ClientSecret, Method: answer.TokenEndpointAuthMethod,
		Source: credentials.SourceDynamic, Registered: time.Now(),
	}
	if seconds, err := answer.ClientSecretExpiresAt.Float64(); err == nil && answer.ClientSecret != "" && seconds > 0 && seconds < 1<<40 {
		client.SecretExpires = time.Unix(int64(seconds), 0)
	}
	switch client.Method {
	case config.TokenAuthNone:
	case config.TokenAuthBasic, config.TokenAuthPost:
		if client.Secret == "" {
			client.Method = config.TokenAuthNone
		}
	case "":
		client.Method = config.TokenAuthNone
		if client.Secret != "" {
			client.Method = r.method(client.Secret, t.server)
		}
	default:
		return credentials.Client{}, &registrationError{code, fmt.Sprintf("the client has to authenticate by '%s', which was not asked for", words(client.Method))}
	}
	return client, nil
}

// explain makes an error for people of why a registration failed.
func (r *registrar) explain(t *target, redirectURI string, err error) error {
	at := shown(t.server.RegistrationEndpoint)
	refused, ok := errors.AsType[*registrationError](err)
	switch {
	case !ok:
		if _, ok := errors.AsType[*webclient.UnreachableError](err); ok {
			return &TemporaryError{fmt.Sprintf("The workbench could not be registered: %v", err), err}
		}
		return err
	case isTemporaryStatus(refused.status):
		return &TemporaryError{fmt.Sprintf("The workbench could not be registered at %s: %s", at, refused), err}
	case t.guessed && refused.status != http.StatusBadRequest:
		return &NoLoginError{
			Message: fmt.Sprintf("The server does not say how to log in, and has no login where MCP revision 2025-03-26 assumes it either (%s: %s)", at, refused),
			Hint:    "If it needs no login, or a fixed token in 'headers', set 'oauth' to false. If you know its authorization server, set 'oauth.authorizationServer' to the issuer.",
		}
	}
	hint := "If it registers only clients whose names are on a list, set 'oauth.clientName' of the server to one of them. If it registers none: " + r.ownClient(redirectURI)
	return problem(hint, "The authorization server %s refused to register the workbench (dynamic client registration, RFC 7591) at %s: %s", shown(t.server.Issuer), at, refused)
}
