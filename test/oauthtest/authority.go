package oauthtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// authority is an authorization server. Its state is guarded by the mutex of its provider.
type authority struct {
	provider *Provider
	listener net.Listener
	clients  map[string]*Client // that registered
	codes    map[string]*code
	asked    map[string]url.Values // authorization requests that a form shows
}

// login is what a person agreed to: all tokens that come from it share it.
type login struct {
	id         string
	refreshing int
}

// code is an authorization code.
type code struct {
	grant
	redirect  string
	challenge string
	used      bool
}

// grant is an access or a refresh token.
type grant struct {
	login    *login
	refresh  bool
	issuer   string
	client   string
	scopes   []string
	resource string
	key      string // thumbprint of the DPoP key that it is bound to
	expires  time.Time
	used     bool
	dead     string // why it is not good any more; "": it is
}

// oauthError is an error answer of RFC 6749.
type oauthError struct {
	status      int
	code        string
	description string
	nonce       string
}

func refusal(code, description string) *oauthError {
	return &oauthError{status: http.StatusBadRequest, code: code, description: description}
}

func newAuthority(p *Provider, listener net.Listener) *authority {
	return &authority{provider: p, listener: listener, clients: make(map[string]*Client), codes: make(map[string]*code), asked: make(map[string]url.Values)}
}

// root is the origin of the authorization server, and base its issuer.
func (a *authority) root() string {
	if a.provider.now().SameOrigin && a == a.provider.first {
		return a.provider.origin()
	}
	name := firstHost
	if a == a.provider.other {
		name = otherHost
	}
	return a.provider.originOf(a.listener, name)
}

func (a *authority) base() string { return a.root() + a.provider.now().IssuerPath }

func (a *authority) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	options := a.provider.now()
	if a.isMetadata(r.URL.Path, options) {
		a.provider.handle(w, r, &Event{Kind: Metadata, Issuer: a.base()}, func(w http.ResponseWriter) int {
			return writeJSON(w, http.StatusOK, a.metadata(options))
		})
		return
	}
	path, ok := strings.CutPrefix(r.URL.Path, options.IssuerPath)
	handlers := map[string]http.HandlerFunc{
		"/authorize": a.authorize, "/token": a.token, "/revoke": a.revoke, "/introspect": a.introspect, "/decide": a.decide, "/jwks": a.keys,
	}
	if !options.NoRegistration {
		handlers["/register"] = a.register
	}
	switch handler := handlers[path]; {
	case ok && handler != nil:
		handler(w, r)
	case strings.HasPrefix(r.URL.Path, "/control/"):
		a.provider.control(w, r)
	default:
		a.provider.handle(w, r, &Event{Kind: Other, Issuer: a.base()}, func(w http.ResponseWriter) int {
			http.Error(w, "nothing is here", http.StatusNotFound)
			return http.StatusNotFound
		})
	}
}

// Places of the metadata of an issuer with and without a path.
const (
	oauthWellKnown  = "/.well-known/oauth-authorization-server"
	openidWellKnown = "/.well-known/openid-configuration"
)

func (a *authority) isMetadata(path string, options Options) bool {
	switch options.MetadataAt {
	case "":
		return path == oauthWellKnown+options.IssuerPath
	case "openid":
		return path == options.IssuerPath+openidWellKnown
	case "openid inserted":
		return path == openidWellKnown+options.IssuerPath
	}
	return false
}

func (a *authority) metadata(options Options) map[string]any {
	base := a.base()
	issuer := base
	switch options.Issuer {
	case "":
	case "slash":
		issuer += "/"
	default:
		issuer = options.Issuer
	}
	members := map[string]any{
		"issuer":                                issuer,
		"authorization_endpoint":                base + "/authorize",
		"token_endpoint":                        base + "/token",
		"revocation_endpoint":                   base + "/revoke",
		"introspection_endpoint":                base + "/introspect",
		"jwks_uri":                              base + "/jwks",
		"response_types_supported":              []string{"code"},
		"grant_types_supported":                 []string{codeGrant, refreshGrant, credentialsGrant, assertionGrant, exchangeGrant},
		"token_endpoint_auth_methods_supported": []string{"none", "client_secret_basic", "client_secret_post", "private_key_jwt"},
		"code_challenge_methods_supported":      []string{"S256"},
	}
	if !options.NoRegistration {
		members["registration_endpoint"] = base + "/register"
	}
	if options.Scopes != nil {
		members["scopes_supported"] = options.Scopes
	}
	if !slices.Contains([]string{"unadvertised", "none", "unexpected"}, options.Iss) {
		members["authorization_response_iss_parameter_supported"] = true
	}
	if options.ClientDocuments {
		members["client_id_metadata_document_supported"] = true
	}
	if options.DPoP != "" {
		members["dpop_signing_alg_values_supported"] = []string{"ES256"}
	}
	for name, value := range options.MetadataSet {
		members[name] = value
	}
	maps.DeleteFunc(members, func(_ string, value any) bool {
		raw, ok := value.(json.RawMessage)
		return ok && string(raw) == "null"
	})
	return members
}

func writeJSON(w http.ResponseWriter, status int, value any) int {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	text, _ := json.Marshal(value) // of strings and numbers
	_, _ = w.Write(text)           // the client may be gone
	return status
}

func (e *oauthError) write(w http.ResponseWriter, event *Event) int {
	event.Error = e.code
	if e.nonce != "" {
		w.Header().Set("DPoP-Nonce", e.nonce)
	}
	return writeJSON(w, e.status, map[string]string{"error": e.code, "error_description": e.description})
}

// next makes a name that is unique in the provider. Its caller holds the mutex.
func (p *Provider) next(prefix string) string {
	p.made++
	return fmt.Sprintf("%s-%d-%s", prefix, p.made, randomText())
}
