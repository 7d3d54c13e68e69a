package identity

import (
	"fmt"
	"net/http"
	"strings"
)

// Refusal is why a request is not let in.
type Refusal struct {
	Status int    // of HTTP: 401; 403; 503 when the provider cannot be asked
	Code   string // of RFC 6750; "" with 503, and where a client could only ask for the same again
	Reason string // for the log and error_description; it has nothing of the token
	Hint   string // with 403: what is missing, and what to do

	wasKnown bool // the token was good before, or is for another path
}

// Error returns the reason.
func (r *Refusal) Error() string { return r.Reason }

// IsGuess reports whether the token may have been made up. One that has expired is no guess, whoever signed it: it opens nothing, and
// its client has to hear that it needs the next one. Neither is one that was good before, or that is good at another path.
func (r *Refusal) IsGuess() bool {
	return r.Status == http.StatusUnauthorized && r.Reason != reasonExpired && !r.wasKnown
}

// Codes of RFC 6750, section 3.1.
const (
	codeToken = "invalid_token"
	codeScope = "insufficient_scope"
)

// Reasons of refusals.
const (
	reasonLong        = "the token is too long"
	reasonForm        = "the token is not valid"
	reasonOwn         = "the token is of the workbench itself, and unknown"
	reasonOpaque      = "only tokens that are JWTs are accepted here"
	reasonAlgorithm   = "the token is not signed with an accepted algorithm"
	reasonCritical    = "the token has a critical header that is not supported"
	reasonKind        = "the token is not an access token"
	reasonBound       = "the token is bound to a key, and is not a bearer token"
	reasonIssuer      = "the token is of another issuer"
	reasonAudience    = "the token is for another resource"
	reasonNoAudience  = "the token does not say which resource it is for"
	reasonSubject     = "the token does not say who it is for, in a form that is accepted"
	reasonNoExpiry    = "the token does not say when it expires"
	reasonTimes       = "the token has a time that is not a number of seconds"
	reasonExpired     = "the token has expired"
	reasonEarly       = "the token is not valid yet"
	reasonKey         = "the token is signed with a key that the issuer does not have"
	reasonSignature   = "the signature of the token is wrong"
	reasonInactive    = "the issuer says that the token is not active"
	reasonUnavailable = "the identity provider cannot be asked now"
	reasonNonce       = "the token is not the answer to this login"
	reasonLeft        = "the request ended before its token was verified"
)

// refuse returns the refusal of a token.
func refuse(reason string) *Refusal {
	return &Refusal{Status: http.StatusUnauthorized, Code: codeToken, Reason: reason}
}

// unmapped returns the refusal of a token whose claim has no value of the table. Only of scopes can its client ask for others: it
// would sign in again for each request if it were told so of a group.
func (r *rules) unmapped() *Refusal {
	refusal := &Refusal{Status: http.StatusForbidden, Reason: fmt.Sprintf("the claim '%s' of the token allows no toolbox", r.claim)}
	refusal.Hint = fmt.Sprintf("No value of the claim '%s' in the token is in 'http.oauth.toolboxes'. ", r.claim)
	if r.areScopes() {
		refusal.Code = codeScope
		refusal.Hint += "Sign in again with the scopes of the WWW-Authenticate header, or ask those who run the workbench."
	} else {
		refusal.Hint += "Ask those who run the workbench."
	}
	return refusal
}

func unavailable(reason string) *Refusal {
	return &Refusal{Status: http.StatusServiceUnavailable, Reason: reason}
}

// Challenge returns the value of WWW-Authenticate for a path (RFC 6750 and RFC 9728). The refusal is nil if no token came. It
// returns "" for a refusal that no other token would change.
func (v *Verifier) Challenge(path string, refusal *Refusal) string {
	var parameters []string
	scopes := v.rules.Load().scopes
	add := func(name, value string) {
		if value != "" { // an empty one fails the whole header for some clients
			parameters = append(parameters, name+`="`+quotable(value)+`"`)
		}
	}
	if refusal != nil {
		if refusal.Status == http.StatusServiceUnavailable {
			return ""
		}
		if refusal.Code == "" {
			scopes = nil
		} else {
			add("error", refusal.Code)
			add("error_description", refusal.Reason)
		}
	}
	add("resource_metadata", v.resource.metadataOf(path))
	add("scope", strings.Join(scopes, " "))
	return "Bearer " + strings.Join(parameters, ", ")
}

// quotable replaces what may not be in a quoted parameter (RFC 6750, section 3).
func quotable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || r == '"' || r == '\\' {
			return '?'
		}
		return r
	}, text)
}
