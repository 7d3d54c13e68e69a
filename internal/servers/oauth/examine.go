package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/access/credentials"
	"github.com/mcp-workbench/mcp-workbench/internal/base/webclient"
)

// probeBody is a request that runs nothing and begins no session.
const probeBody = `{"jsonrpc":"2.0","id":1,"method":"ping"}`

// probe asks the server for its challenge with a request without a token. It returns the status of the response, and the
// zero challenge if the server has none.
func (d *discoverer) probe(ctx context.Context) (asked challenge, code int, err error) {
	header := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	document, err := d.guard.Post(ctx, d.server.String(), header, []byte(probeBody), probeTime)
	if err != nil {
		if _, ok := errors.AsType[*webclient.TooLargeError](err); ok {
			return challenge{}, http.StatusOK, nil
		}
		if _, ok := errors.AsType[*webclient.RefusedError](err); ok {
			return challenge{}, 0, d.refuse(err)
		}
		return challenge{}, 0, d.fetchFailure("server's challenge", err)
	}
	if document.Status == http.StatusUnauthorized || document.Status == http.StatusForbidden {
		asked, _ = tokenChallenge(parseChallenges(document.Header))
	}
	return asked, document.Status, nil
}

// examine returns the steps of a login up to where something would change at the authorization server. It registers
// nothing. Known says whether there is a registration of an earlier login at an issuer.
func examine(ctx context.Context, d *discoverer, r *registrar, redirectURI string, held, known func(issuer string) bool) []Step {
	var steps []Step
	d.trace = func(step Step) { steps = append(steps, step) }
	asked, code, err := d.probe(ctx)
	if err != nil {
		return append(steps, failed("request without a token", err))
	}
	steps = append(steps, challengeStep(asked, code))
	t, err := d.find(ctx, asked, held, false)
	if err != nil {
		if _, ok := errors.AsType[*NoLoginError](err); ok && d.settings.Grant == "" {
			return append(steps, silentStep(err, code))
		}
		return append(steps, failed("login", err))
	}
	steps = append(steps, Step{Title: "authorization server", Detail: describe(t)})
	if d.settings.Grant != "" {
		return append(steps, grantStep(d.settings, t.server))
	}
	return append(steps, r.sourceStep(t, redirectURI, known))
}

// silentStep says what becomes of a server that does not say how to log in. It is not an error: a login may succeed.
func silentStep(err error, code int) Step {
	message, hint := split(err)
	if code != http.StatusUnauthorized {
		return Step{Title: "login", Detail: "none is offered, and the server did not ask for one: " + message, Missing: true}
	}
	return Step{Title: "login", Detail: message + "; a login tries " + firstEndpoints, Hint: hint, Missing: true}
}

func failed(title string, err error) Step {
	message, hint := split(err)
	return Step{Title: title, Err: errors.New(message), Hint: hint}
}

// challengeStep says what the server answers to those who have no token.
func challengeStep(asked challenge, code int) Step {
	step := Step{Title: "request without a token", Detail: status(code)}
	switch {
	case code != http.StatusUnauthorized:
		step.Detail += ": the server asks for no login yet"
	case asked.scheme == "":
		step.Detail += ", without a challenge for a token"
		step.Hint = "The server should send 'WWW-Authenticate: Bearer resource_metadata=\"…\"' (RFC 9728, section 5.1). The well-known addresses are tried instead."
	default:
		step.Detail += ", WWW-Authenticate: " + strings.ToUpper(asked.scheme[:1]) + asked.scheme[1:]
		if asked.resourceMetadata != "" {
			step.Detail += ", resource_metadata " + shown(asked.resourceMetadata)
		}
		if scopes := asked.scopes(); len(scopes) > 0 {
			step.Detail += ", scope " + words(strings.Join(scopes, " "))
		}
	}
	return step
}

// describe says where a login would take place, and what for.
func describe(t *target) string {
	text := words(t.server.Issuer)
	if t.resource != "" {
		text += ", resource " + shown(t.resource)
	} else {
		text += ", without a resource"
	}
	if len(t.scopes) > 0 {
		return text + ", scopes " + words(strings.Join(t.scopes, " "))
	}
	return text + ", its default scopes"
}

// sourceStep says where the client id would come from.
func (r *registrar) sourceStep(t *target, redirectURI string, known func(issuer string) bool) Step {
	const title = "client"
	source, err := r.source(t, redirectURI)
	switch {
	case err != nil:
		return failed(title, err)
	case source == credentials.SourceConfigured:
		return Step{Title: title, Detail: "the configured client id"}
	case source == credentials.SourceDocument:
		return Step{Title: title, Detail: "the metadata document " + shown(r.document())}
	case known != nil && known(t.server.Issuer):
		return Step{Title: title, Detail: "registered earlier"}
	}
	return Step{Title: title, Detail: fmt.Sprintf("can be registered at %s", shown(t.server.RegistrationEndpoint))}
}
