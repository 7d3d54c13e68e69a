package httpauth

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/access/identity"
)

// Verifier knows people by the tokens of their identity provider. *identity.Verifier implements it.
type Verifier interface {
	// Verify checks a token for a path as sent. The error is an *identity.Refusal.
	Verify(ctx context.Context, token, path string) (identity.Person, error)
	// Holds reports whether a verified token still counts, apart from its expiry.
	Holds(credential string) bool
	// Challenge is the value of WWW-Authenticate for a path; the refusal is nil if no token came.
	Challenge(path string, refusal *identity.Refusal) string
	// IsMetadata reports whether a path, as sent, is one of Metadata, which everybody may read.
	IsMetadata(path string) bool
	Metadata() http.Handler
}

// Reasons and hints of refusals.
const (
	howToken       = "Send the header 'Authorization: Bearer TOKEN' once. To make a token: mcp-workbench token add NAME"
	howPerson      = "Sign in, or send the header 'Authorization: Bearer TOKEN' once, with a token of the identity provider or one of: mcp-workbench token add NAME"
	howMapped      = "Ask those who run the workbench: 'http.oauth.toolboxes' has nothing for you."
	reasonNotOne   = "there is not exactly one token"
	reasonUnknown  = "the token is unknown"
	reasonTooMany  = "too many wrong tokens"
	reasonNoName   = "the subject of the token is missing, too long, or holds characters that cannot be seen"
	reasonNoBox    = "the token is for no toolbox here"
	reasonNotAsked = "the identity provider cannot be asked now"
)

// identify returns the sender of a request. A valid token passes regardless of earlier failures, so that nobody can lock others
// out.
func (g *Gate) identify(request *http.Request) (Identity, *refusal) {
	if g.store == nil && g.verifier == nil {
		return Identity{}, nil
	}
	values := request.Header["Authorization"]
	if len(values) == 0 {
		if who, refused, ok := g.byCertificate(request); ok {
			return who, refused
		}
	}
	if reason := g.unlisted(request); len(values) == 0 && reason != "" {
		return Identity{}, g.unauthorized(request, reason, "The workbench needs a token")
	}
	if len(values) == 0 && g.verifier != nil {
		refused := g.unauthorized(request, "there is no token", "The workbench needs a token")
		refused.isInvitation = g.needs(request.URL.EscapedPath()) == Calls
		return Identity{}, refused
	}
	if len(values) != 1 {
		return Identity{}, g.unauthorized(request, reasonNotOne, "The workbench needs a token")
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	if lower(scheme) != "bearer" {
		return Identity{}, g.unauthorized(request, "there is no bearer token", "The workbench needs a bearer token")
	}
	token = strings.TrimLeft(token, " ")
	if g.verifier != nil && !strings.HasPrefix(token, tokenPrefix) {
		return g.byPerson(request, token)
	}
	if g.store != nil {
		if who, ok := g.store.Verify(token); ok {
			return who, nil
		}
	}
	return Identity{}, g.wrongToken(request, &identity.Refusal{Status: http.StatusUnauthorized, Code: "invalid_token", Reason: reasonUnknown}, refusal{
		Error: "The workbench does not know this token",
		Hint:  "It may have been removed, see: mcp-workbench token list. To make one: mcp-workbench token add NAME",
	})
}

// byPerson returns the person whose token came.
func (g *Gate) byPerson(request *http.Request, token string) (Identity, *refusal) {
	person, err := g.verifier.Verify(request.Context(), token, request.URL.EscapedPath())
	refused, isRefusal := errors.AsType[*identity.Refusal](err)
	if err != nil && !isRefusal {
		refused = &identity.Refusal{Status: http.StatusServiceUnavailable, Reason: reasonNotAsked}
	}
	who := Identity{}
	switch isNamed := identity.IsSubject(person.Subject); { // with some refusals as well
	case isNamed:
		who = ofPerson(&person)
		if err == nil && person.Toolboxes != nil && len(person.Toolboxes) == 0 {
			refused = &identity.Refusal{Status: http.StatusForbidden, Reason: reasonNoBox, Hint: howMapped}
		}
	case err == nil:
		refused = &identity.Refusal{Status: http.StatusUnauthorized, Code: "invalid_token", Reason: reasonNoName}
	}
	if refused == nil {
		return who, nil
	}
	switch refused.Status {
	case http.StatusServiceUnavailable:
		return who, &refusal{
			status: refused.Status, reason: refused.Reason, Error: "The identity provider cannot be asked about this token now", Hint: "Try again in a few seconds.",
		}
	case http.StatusForbidden:
		return who, &refusal{
			status: refused.Status, reason: refused.Reason, challenge: g.challenge(request, refused),
			Error: "You may not use this workbench: " + refused.Reason,
			Hint:  refused.Hint,
		}
	}
	return who, g.wrongToken(request, refused, refusal{
		Error: "The workbench does not accept this token: " + refused.Reason,
		Hint:  "Sign in again at the identity provider.",
	})
}

// wrongToken refuses a token that is not good. If too many came from one address, the answer says so instead.
func (g *Gate) wrongToken(request *http.Request, why *identity.Refusal, answer refusal) *refusal {
	if why.IsGuess() && !g.wrong.allow(request.RemoteAddr) {
		return &refusal{
			status: http.StatusTooManyRequests, reason: reasonTooMany, Error: "Too many wrong tokens came from this address",
			Hint: "Wait a second. A right token is always accepted; to make one: mcp-workbench token add NAME",
		}
	}
	answer.status, answer.reason, answer.challenge = http.StatusUnauthorized, why.Reason, g.challenge(request, why)
	return &answer
}

// unauthorized refuses a request that no token came with, or none that could be read.
func (g *Gate) unauthorized(request *http.Request, reason, text string) *refusal {
	how := howToken
	if g.verifier != nil {
		how = howPerson
	}
	return &refusal{status: http.StatusUnauthorized, reason: reason, challenge: g.challenge(request, nil), Error: text, Hint: how}
}

// challenge returns how a client can get a token for a path. A person's is for calls only.
func (g *Gate) challenge(request *http.Request, why *identity.Refusal) string {
	path := request.URL.EscapedPath()
	if g.verifier == nil || g.needs(path) != Calls {
		return "Bearer"
	}
	return g.verifier.Challenge(path, why)
}
