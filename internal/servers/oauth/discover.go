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

	"github.com/mcp-workbench/mcp-workbench/internal/base/hidden"
	"github.com/mcp-workbench/mcp-workbench/internal/base/webclient"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// Limits of discovery.
const (
	discoveryTime = 30 * time.Second // to find out how to log in to a server
	probeTime     = 10 * time.Second // for the request that a server answers with its challenge
)

// firstEndpoints is what a login tries where a server says nothing.
const firstEndpoints = "the endpoints /authorize, /token and /register, as in MCP revision 2025-03-26"

// Step is one step of a login or an examination, for people.
type Step struct {
	Title   string
	Detail  string
	Missing bool   // there is nothing at this place that can be used; the next one is tried, or an error follows
	Err     error  // what is wrong; nil: nothing
	Hint    string // what to do about it; may be empty
}

// StepAnswer is the title of the step after the person's part: an answer came.
const StepAnswer = "answer"

// target is where to log in, and what for.
type target struct {
	resource string // to send; "": none
	server   *serverMetadata
	scopes   []string // to request; nil: none
	guessed  bool     // the server says nothing, and the endpoints are those that revision 2025-03-26 assumes
}

// discoverer finds out how to log in to a server.
type discoverer struct {
	guard    *webclient.Guard
	server   *url.URL
	settings *config.OAuth
	trace    func(Step)
	limit    time.Duration // of find
}

// newDiscoverer returns a discoverer for the server at an address. Settings may be nil, and so may trace, which gets each
// step as it happens.
func newDiscoverer(guard *webclient.Guard, server *url.URL, settings *config.OAuth, trace func(Step)) *discoverer {
	if settings == nil {
		settings = &config.OAuth{}
	}
	if trace == nil {
		trace = func(Step) {}
	}
	return &discoverer{guard, server, settings, trace, discoveryTime}
}

// find finds out how to log in, from the server's challenge, which may be empty. Held says for which issuers there is a
// login: those are preferred. With guess, a server that says nothing is taken for one of revision 2025-03-26. The error is
// a *TemporaryError or a *NoLoginError, or says what is wrong with the server.
func (d *discoverer) find(ctx context.Context, from challenge, held func(issuer string) bool, guess bool) (*target, error) {
	bounded, cancel := context.WithTimeout(ctx, d.limit)
	defer cancel()
	found, err := d.search(bounded, from, held, guess)
	if err != nil && ctx.Err() == nil && bounded.Err() != nil {
		err = &TemporaryError{fmt.Sprintf("The search for the login of %s took longer than %v", shown(d.server.String()), d.limit), err}
	}
	return found, err
}

func (d *discoverer) search(ctx context.Context, from challenge, held func(issuer string) bool, guess bool) (*target, error) {
	if err := d.checkTransport(); err != nil {
		return nil, err
	}
	if issuer := d.settings.AuthorizationServer; issuer != "" {
		server, err := d.choose(ctx, []string{issuer}, held)
		if err != nil {
			return nil, err
		}
		return d.target(from, nil, server)
	}
	resource, err := d.resource(ctx, from)
	if err != nil {
		return nil, err
	}
	if resource == nil {
		return d.searchOrigin(ctx, from, guess)
	}
	server, err := d.choose(ctx, resource.AuthorizationServers[:min(len(resource.AuthorizationServers), maxServers)], held)
	if err != nil {
		return nil, err
	}
	return d.target(from, resource, server)
}

// checkTransport refuses a server that would get its token unencrypted.
func (d *discoverer) checkTransport() error {
	if d.server.Scheme == "https" {
		return nil
	}
	return d.refuse(d.guard.Check(webclient.Origin(d.server)))
}

// refuse says that a server has no address for a login; nil if it has one.
func (d *discoverer) refuse(err error) error {
	if refused, ok := errors.AsType[*webclient.RefusedError](err); ok {
		return problem("A login needs an address with https in 'url'.", "A login to this server is not possible: %v", refused)
	}
	return err
}

// choose returns the first of some authorization servers that can be used. One that there is a login for comes first, and
// is not replaced by another only because it cannot be asked now.
func (d *discoverer) choose(ctx context.Context, issuers []string, held func(issuer string) bool) (*serverMetadata, error) {
	isHeld := func(issuer string) bool {
		bare := strings.TrimSuffix(issuer, "/")
		return held != nil && (held(bare) || held(bare+"/"))
	}
	ordered := slices.Clone(issuers)
	slices.SortStableFunc(ordered, func(a, b string) int {
		switch {
		case isHeld(a) == isHeld(b):
			return 0
		case isHeld(a):
			return -1
		}
		return 1
	})
	var failure error
	for _, issuer := range ordered {
		server, err := d.authorizationServer(ctx, issuer)
		if err == nil && server == nil {
			err = d.withoutMetadata(issuer)
		}
		if err == nil {
			return server, nil
		}
		if ctx.Err() != nil || isTemporary(err) && isHeld(issuer) {
			return nil, err
		}
		if failure == nil || isTemporary(err) && !isTemporary(failure) {
			failure = err
		}
	}
	return nil, failure
}

func (d *discoverer) withoutMetadata(issuer string) error {
	tried := issuer
	if u, err := url.Parse(issuer); err == nil {
		tried = strings.Join(webclient.MetadataOf(u), ", ")
	}
	return problem("Ask its operator to publish the metadata, or set 'oauth.authorizationServer' to the right issuer.",
		"The authorization server '%s' has no metadata (RFC 8414): none of these addresses has a JSON document: %s", shown(issuer), hidden.Line(tried, 3*maxAddress))
}

// searchOrigin finds the login of a server without protected resource metadata: in revision 2025-03-26, the server's
// origin was the authorization server.
func (d *discoverer) searchOrigin(ctx context.Context, from challenge, guess bool) (*target, error) {
	issuer := webclient.Origin(d.server)
	server, err := d.authorizationServer(ctx, issuer)
	if err != nil {
		return nil, err
	}
	if server != nil {
		return d.target(from, nil, server)
	}
	if !guess || d.settings.Grant != "" {
		return nil, d.noLogin()
	}
	d.trace(Step{Title: serverTitle, Detail: "none: trying " + firstEndpoints, Missing: true})
	t, err := d.target(from, nil, &serverMetadata{
		Issuer: issuer, AuthorizationEndpoint: issuer + "/authorize", TokenEndpoint: issuer + "/token", RegistrationEndpoint: issuer + "/register",
		CodeChallengeMethods: []string{challengeMethod},
	})
	if t != nil {
		t.guessed = true
	}
	return t, err
}

func (d *discoverer) noLogin() error {
	return &NoLoginError{
		Message: fmt.Sprintf("The server at %s does not say how to log in: it has no protected resource metadata (RFC 9728), and its origin no authorization server metadata (RFC 8414)", shown(d.server.String())),
		Hint:    "If it needs no login, or a fixed token in 'headers', set 'oauth' to false. If you know its authorization server, set 'oauth.authorizationServer' to the issuer.",
	}
}

// target puts together what to request. Resource is nil if the server has no metadata.
func (d *discoverer) target(from challenge, resource *resourceMetadata, server *serverMetadata) (*target, error) {
	t := &target{server: server}
	switch {
	case d.settings.OmitResource:
	case d.settings.Resource != "":
		t.resource = d.settings.Resource
	case resource != nil:
		t.resource = string(resource.Resource)
	default:
		t.resource = webclient.Origin(d.server) + strings.TrimSuffix(d.server.EscapedPath(), "/")
	}
	scopes, err := d.scopes(from, resource, server)
	t.scopes = scopes
	return t, err
}

// scopes returns what to request: what the configuration says, else what the server's challenge asks for, else all that
// its metadata lists, else nothing. A refresh token is asked for only where the authorization server knows the scope for
// it, and only beside others: alone it would replace the default scopes.
func (d *discoverer) scopes(from challenge, resource *resourceMetadata, server *serverMetadata) ([]string, error) {
	if d.settings.Scopes != nil {
		return d.settings.Scopes, nil
	}
	scopes, where := from.scopes(), "challenge (WWW-Authenticate)"
	if len(scopes) == 0 && resource != nil {
		scopes, where = scopeList(resource.Scopes), resourceTitle+" at "+shown(resource.address)
	}
	if len(scopes) > maxScopes {
		return nil, problem("Set 'oauth.scopes' to those that you need.", "The server's %s asks for more than %d scopes", where, maxScopes)
	}
	offline := slices.Contains(server.ScopesSupported, offlineAccess)
	scopes = slices.DeleteFunc(scopes, func(scope string) bool { return scope == offlineAccess && !offline })
	if offline && len(scopes) > 0 && !slices.Contains(scopes, offlineAccess) && d.settings.Grant == "" {
		scopes = append(scopes, offlineAccess)
	}
	if len(scopes) == 0 {
		return nil, nil
	}
	return scopes, nil
}

// document fetches a JSON document that may be at an address. It is not found if the answer is another than JSON with
// status 200, which includes pages that servers have for everything. JSON of another form is an error: nobody is sent to
// a weaker login by it.
func (d *discoverer) document(ctx context.Context, title, address string, into any) (found bool, err error) {
	const isFound = "found"
	at := shown(address)
	step := func(format string, arguments ...any) {
		d.trace(Step{Title: title, Detail: at + ": " + fmt.Sprintf(format, arguments...), Missing: format != isFound})
	}
	document, err := d.guard.Get(ctx, address)
	if err != nil {
		if large, ok := errors.AsType[*webclient.TooLargeError](err); ok {
			step("not found: %v", large)
			return false, nil
		}
		return false, d.fetchFailure(title, err)
	}
	switch {
	case isTemporaryStatus(document.Status):
		step("%s", status(document.Status))
		return false, &TemporaryError{fmt.Sprintf("The %s at %s cannot be had now: %s", title, at, status(document.Status)), nil}
	case document.Status != http.StatusOK:
		step("not found: %s", status(document.Status))
		return false, nil
	case !json.Valid(trimMark(document.Body)):
		step("not found: %s", notJSON(document))
		return false, nil
	}
	if err := webclient.DecodeJSON(document.Body, into); err != nil {
		step("not valid")
		return false, problem("Ask the operator of "+at+" to correct it.", "The %s at %s is not valid: %v", title, at, err)
	}
	step(isFound)
	return true, nil
}

func notJSON(document *webclient.Document) string {
	if strings.HasSuffix(document.MediaType, "json") {
		return "the answer is not valid JSON"
	}
	return "the answer is not JSON, but " + mediaType(document)
}

// trimMark removes a byte order mark.
func trimMark(body []byte) []byte { return []byte(strings.TrimPrefix(string(body), "\ufeff")) }

func mediaType(document *webclient.Document) string {
	if document.MediaType == "" {
		return "of an unknown type"
	}
	return words(document.MediaType)
}

// fetchFailure converts an error of the guard.
func (d *discoverer) fetchFailure(title string, err error) error {
	if unreachable, ok := errors.AsType[*webclient.UnreachableError](err); ok {
		return &TemporaryError{fmt.Sprintf("The %s cannot be had: %v", title, unreachable), err}
	}
	if refused, ok := errors.AsType[*webclient.RefusedError](err); ok {
		return problem("Ask the server's operator to correct the address.", "The %s cannot be had: %v", title, refused)
	}
	return err
}

func isUnreachable(err error) bool {
	_, ok := errors.AsType[*webclient.UnreachableError](err)
	return ok
}
