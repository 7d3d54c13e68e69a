package oauthtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
)

// Places of the metadata of the resource.
const (
	resourceWellKnown = "/.well-known/oauth-protected-resource"
	customPlace       = "/about/this/server"
)

// resourceValue is "resource" of the metadata, as one string.
func (p *Provider) resourceValue(options Options) string {
	switch options.Resource {
	case "", "array", "absent":
		return p.URL()
	case "slash":
		return p.URL() + "/"
	case "origin":
		return p.origin()
	}
	return options.Resource
}

// metadataPath is where the metadata of the resource is; "": nowhere.
func (p *Provider) metadataPath(options Options) string {
	switch options.ResourceMetadataAt {
	case "root":
		return resourceWellKnown
	case "custom":
		return customPlace
	case "nowhere":
		return ""
	}
	return resourceWellKnown + p.path
}

// gate lets those requests through to the MCP server that have a good token.
func (p *Provider) gate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		options := p.now()
		switch {
		case r.URL.Path == p.metadataPath(options):
			p.handle(w, r, &Event{Kind: ResourceMetadata}, func(w http.ResponseWriter) int {
				return writeJSON(w, http.StatusOK, p.resourceMetadata(options))
			})
		case r.URL.Path == p.path || r.URL.Path == "/message": // where a client of HTTP+SSE posts
			p.guard(w, r, next)
		case strings.HasPrefix(r.URL.Path, resourceWellKnown) || r.URL.Path == options.AdvertisedMetadata:
			p.handle(w, r, &Event{Kind: ResourceMetadata}, func(w http.ResponseWriter) int {
				http.Error(w, "nothing is here", http.StatusNotFound)
				return http.StatusNotFound
			})
		case options.SameOrigin:
			p.first.ServeHTTP(w, r)
		default:
			p.handle(w, r, &Event{Kind: Other}, func(w http.ResponseWriter) int {
				http.Error(w, "nothing is here", http.StatusNotFound)
				return http.StatusNotFound
			})
		}
	})
}

func (p *Provider) resourceMetadata(options Options) map[string]any {
	var resource any = p.resourceValue(options)
	if options.Resource == "array" {
		resource = []any{resource}
	}
	servers := []string{p.Issuer()}
	if options.AuthorizationServers != nil {
		servers = slices.Clone(options.AuthorizationServers)
		for i, one := range servers {
			servers[i] = strings.NewReplacer("FIRST", p.first.base(), "OTHER", p.other.base()).Replace(one)
		}
	}
	members := map[string]any{"resource": resource, "authorization_servers": servers, "bearer_methods_supported": []string{"header"}}
	if options.Resource == "absent" {
		delete(members, "resource")
	}
	if options.ResourceScopes != nil {
		members["scopes_supported"] = options.ResourceScopes
	}
	return members
}

// message is what the guard needs to know of a message of MCP.
type message struct {
	Method string `json:"method"`
	Params struct {
		Name string `json:"name"`
	} `json:"params"`
}

func (p *Provider) guard(w http.ResponseWriter, r *http.Request, next http.Handler) {
	options := p.now()
	body, err := io.ReadAll(io.LimitReader(r.Body, 128<<20))
	if err != nil {
		panic(http.ErrAbortHandler) // the client is gone
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	var sent message
	_ = json.Unmarshal(body, &sent) // a stream, or the end of a session: it has no method
	event := &Event{Kind: MCP, Verb: r.Method, Path: r.URL.Path, Method: sent.Method, Tool: sent.Params.Name, Status: http.StatusOK}
	event.Auth, _, _ = strings.Cut(r.Header.Get("Authorization"), " ")
	p.begin(event)
	if fault, ok := p.faultOf(r, MCP); ok && fault.Status != 0 {
		event.Status = fault.Status
		p.end(event)
		fault.write(w)
		return
	}
	status, challenge := p.admit(r, options, sent, event)
	event.Status = status
	p.end(event)
	if status == http.StatusOK {
		next.ServeHTTP(w, r)
		return
	}
	if challenge != "" {
		w.Header().Set("WWW-Authenticate", challenge)
	}
	if strings.HasPrefix(challenge, "DPoP") {
		w.Header().Set("DPoP-Nonce", p.nonceOf("resource"))
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"error":"%s"}`, event.Error)
}

// admit decides over a request, with the challenge of a refusal.
func (p *Provider) admit(r *http.Request, options Options, sent message, event *Event) (status int, challenge string) {
	scheme, text, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	event.Access = Hash(text)
	if text == "" {
		if options.TokenFor != nil && !slices.Contains(options.TokenFor, sent.Method) {
			return http.StatusOK, ""
		}
		return http.StatusUnauthorized, p.challenge(options, "")
	}
	if slices.Contains(options.FixedTokens, text) {
		return http.StatusOK, ""
	}
	token := p.accessToken(text, options)
	if problem := p.tokenProblem(token, options); problem != "" {
		event.Error = "invalid_token"
		refused := p.challenge(options, `error="invalid_token", error_description="The token is not good"`)
		if strings.EqualFold(scheme, "DPoP") {
			refused = strings.Replace(refused, "Bearer ", `DPoP algs="ES256", `, 1)
		}
		return http.StatusUnauthorized, refused
	}
	event.Login = token.login.id
	if token.key != "" || strings.EqualFold(scheme, "DPoP") {
		if refused := p.proofAtResource(r, scheme, text, token, event); refused != "" {
			return http.StatusUnauthorized, refused
		}
	}
	wanted := strings.Fields(options.MethodScopes[sent.Method])
	if sent.Method == "tools/call" {
		wanted = append(wanted, strings.Fields(options.ToolScopes[sent.Params.Name])...)
	}
	lacking := slices.ContainsFunc(wanted, func(scope string) bool { return !slices.Contains(token.scopes, scope) })
	if !lacking && (len(wanted) == 0 || !options.NeverEnoughScope) {
		return http.StatusOK, ""
	}
	event.Error = "insufficient_scope"
	if options.PlainForbidden {
		return http.StatusForbidden, ""
	}
	return http.StatusForbidden, fmt.Sprintf(`Bearer error="insufficient_scope", scope="%s", resource_metadata="%s"`, strings.Join(wanted, " "), p.advertised(options))
}

// accessToken finds what a token stands for; nil: nothing.
func (p *Provider) accessToken(text string, options Options) *grant {
	if options.Introspect == nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.tokens[text]
	}
	told := options.Introspect(text)
	if told == nil {
		return nil
	}
	return &grant{login: &login{}, client: told.Client, scopes: told.Scopes, resource: told.Resource, key: told.Key}
}

func (p *Provider) tokenProblem(token *grant, options Options) string {
	issuer := p.Issuer()
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case token == nil || token.refresh:
		return "unknown"
	case token.dead != "":
		return token.dead
	case !token.expires.IsZero() && p.clock().After(token.expires):
		return "expired"
	case token.issuer != issuer && options.AuthorizationServers == nil:
		return "of another issuer"
	case token.resource != "" && token.resource != p.resourceValue(options) && token.resource != p.URL() && !options.AnyAudience:
		return "for another resource"
	}
	return ""
}

func (p *Provider) proofAtResource(r *http.Request, scheme, text string, token *grant, event *Event) (challenge string) {
	key, stale, err := p.checkProof(r, p.origin()+r.URL.Path, text, "resource")
	switch {
	case err != nil || !strings.EqualFold(scheme, "DPoP") || key != token.key:
		event.Error = "invalid_dpop_proof"
	case stale:
		event.Error = "use_dpop_nonce"
	default:
		return ""
	}
	return fmt.Sprintf(`DPoP error="%s", algs="ES256"`, event.Error)
}

// advertised is the address of the metadata in challenges.
func (p *Provider) advertised(options Options) string {
	switch path := options.AdvertisedMetadata; {
	case strings.Contains(path, "://"):
		return path
	case path != "":
		return p.origin() + path
	}
	if path := p.metadataPath(options); path != "" {
		return p.origin() + path
	}
	return ""
}

func (p *Provider) challenge(options Options, problem string) string {
	var parts []string
	if problem != "" {
		parts = append(parts, problem)
	}
	if address := p.advertised(options); address != "" {
		parts = append(parts, fmt.Sprintf(`resource_metadata="%s"`, address))
	}
	if options.ChallengeScope != "" {
		parts = append(parts, fmt.Sprintf(`scope="%s"`, options.ChallengeScope))
	}
	whole := strings.TrimSpace("Bearer " + strings.Join(parts, ", "))
	switch options.Challenge {
	case "":
		return whole
	case "bare":
		return "Bearer"
	case "none":
		return ""
	case "basic":
		return `Basic realm="members"`
	case "several":
		return `Basic realm="a, \"b\"", ` + whole
	}
	return options.Challenge
}
