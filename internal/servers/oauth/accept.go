package oauth

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
)

// Reasons for which a person has to log in.
const (
	reasonAsked     = "the server asks for a login"
	reasonRefused   = "the server refuses the token of the login, also after a refresh"
	reasonNoRefresh = "the login has expired, and the authorization server gave no refresh token"
	reasonLoggedOut = "the login was removed"
)

// codeScope is the error of a request whose token has too few scopes.
const codeScope = "insufficient_scope"

// Accept refreshes a token that the server refused, once, and tells apart what only a person can solve.
func (c *Credentials) Accept(ctx context.Context, request *http.Request, response *http.Response) (again bool, err error) {
	if response.StatusCode != http.StatusUnauthorized && response.StatusCode != http.StatusForbidden {
		if h := c.held.Load(); h != nil && !h.accepted.Load() && h.values != nil && sent(request) == h.values[0] {
			h.accepted.Store(true)
		}
		return false, nil
	}
	if c.problem != nil || !c.covers(request.URL) || response.Request != nil && !c.covers(response.Request.URL) {
		return false, c.problem
	}
	asked := chosen(parseChallenges(response.Header))
	if asked.code == codeScope {
		return c.stepUp(ctx, request, asked)
	}
	if response.StatusCode == http.StatusForbidden {
		return false, nil
	}
	c.remember(asked)
	return c.refused(ctx, request)
}

func sent(request *http.Request) string { return request.Header.Get("Authorization") }

// chosen returns the challenge that counts: that about scopes, else that which says most about how to get a token. It is
// the zero value if there is none.
func chosen(all []challenge) challenge {
	for _, one := range all {
		if one.isToken() && one.code == codeScope {
			return one
		}
	}
	asked, _ := tokenChallenge(all)
	return asked
}

// remember keeps a challenge for the next login. It does not forget where the metadata is.
func (c *Credentials) remember(asked challenge) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if asked.scheme == "" && c.challenge != nil {
		return
	}
	c.challenge = &asked
}

// refused answers status 401.
func (c *Credentials) refused(ctx context.Context, request *http.Request) (again bool, err error) {
	h := c.reload()
	switch {
	case h.err != nil:
		return false, h.err
	case !h.hasLogin() && !c.isMachine():
		return false, &downstream.LoginError{Reason: reasonAsked}
	case h.hasLogin() && h.credential.Dead != "":
		return false, &downstream.LoginError{Reason: h.credential.Dead}
	case h.values != nil && h.header() != sent(request):
		return true, nil // there is another one since
	case h.isHopeless(time.Now()):
		return false, c.refusedAgain()
	}
	renewed, err := c.renew(ctx, h)
	if err != nil {
		return false, err
	}
	if renewed.values == nil {
		return false, &downstream.LoginError{Reason: reasonAsked}
	}
	renewed.isAnswer.Store(true)
	return true, nil
}

func (c *Credentials) refusedAgain() error {
	if c.isMachine() {
		return errors.New("the server refuses the token that the authorization server gave for the grant '" + c.settings.Grant + "'")
	}
	return &downstream.LoginError{Reason: reasonRefused}
}
