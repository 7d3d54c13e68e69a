package oauth

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
)

// Reasons for which a person has to log in.
const (
	reasonAsked     = "the server asks for a login"
	reasonRefused   = "the server refuses the token of the login, also after a refresh"
	reasonNoRefresh = "the login has expired, and the authorization server gave no refresh token"
	reasonLoggedOut = "the login was removed"
	reasonNobody    = "there is no login to the account of the person"
)

// codeScope is the error of a request whose token has too few scopes.
const codeScope = "insufficient_scope"

// Accept refreshes a token that the server refused, once, and tells apart what only a person can solve.
func (c *Credentials) Accept(ctx context.Context, request *http.Request, response *http.Response) (again bool, err error) {
	if response.StatusCode != http.StatusUnauthorized && response.StatusCode != http.StatusForbidden {
		if h := c.held.Load(); h != nil && h.values != nil && (h.key != nil || !h.accepted.Load()) && sent(request) == h.credential.Access {
			h.accepted.Store(true)
			if h.key != nil {
				c.proved(request, response)
			}
		}
		return false, nil
	}
	if c.problem != nil || !c.covers(request.URL) || response.Request != nil && !c.covers(response.Request.URL) {
		return false, c.problem
	}
	all := parseChallenges(response.Header)
	if h := c.held.Load(); h != nil && h.key != nil && c.proveAgain(request, response, all) {
		return true, nil
	}
	asked := chosen(all)
	if asked.code == codeScope {
		return c.stepUp(ctx, request, asked)
	}
	if response.StatusCode == http.StatusForbidden {
		return false, nil
	}
	c.remember(asked)
	return c.refused(ctx, request)
}

// sent returns the token of a request.
func sent(request *http.Request) string {
	_, token, _ := strings.Cut(request.Header.Get("Authorization"), " ")
	return token
}

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

// remember keeps a challenge for the next login.
func (c *Credentials) remember(asked challenge) {
	c.rememberPlace(asked)
	c.mu.Lock()
	defer c.mu.Unlock()
	if asked.scheme != "" || c.challenge == nil {
		c.challenge = &asked
	}
}

// rememberPlace keeps where the server's metadata is, which not every challenge says.
func (c *Credentials) rememberPlace(asked challenge) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if asked.resourceMetadata != "" {
		c.metadataAt = asked.resourceMetadata
	}
}

// lastChallenge returns what the server asked for last, and where its metadata is; the scheme is "" if it did not ask since
// the last login.
func (c *Credentials) lastChallenge() challenge {
	c.mu.Lock()
	defer c.mu.Unlock()
	var last challenge
	if c.challenge != nil {
		last = *c.challenge
	}
	last.resourceMetadata = cmp.Or(last.resourceMetadata, c.metadataAt)
	return last
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
	case h.values != nil && h.credential.Access != sent(request):
		return true, nil // there is another one since
	case h.isHopeless(time.Now()):
		return false, c.refusedAgain()
	}
	h.refused.Store(true)
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
