package downstream

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// Credentials authorize the HTTP requests of a session. They are safe for concurrent use.
type Credentials interface {
	// Authorize adds to a request what the server needs, such as Authorization. It may block for a refresh, until ctx ends.
	// A *LoginError means that nothing was sent.
	Authorize(ctx context.Context, request *http.Request) error
	// Accept looks at each response, of whatever status, and does not read or close its body. With again, the same request
	// is authorized and sent once more. An error replaces the response; a *LoginError means that only a person can go on,
	// and that nothing was run.
	Accept(ctx context.Context, request *http.Request, response *http.Response) (again bool, err error)
}

// maxSends is how often a request is sent at most: once more after a refresh, and once more with a nonce that the server
// requires. It was not processed before: it was answered with status 401 or 403.
const maxSends = 3

// LoginError says that a server wants a login, which only a person can give.
type LoginError struct {
	// Reason is for people, a complete clause without a secret, such as "the server asks for a login".
	Reason string
	// Scopes are what a refused request asks for; nil if it is not about scopes.
	Scopes []string
	// Final means that another login would not help: the scopes were requested already.
	Final bool
	// Unchallenged means that the server did not ask for a token of OAuth: it may want another kind of header.
	Unchallenged bool
}

func (e *LoginError) Error() string { return e.Reason }

// isLogin reports whether a request failed because a person has to log in.
func isLogin(err error) bool {
	_, ok := errors.AsType[*LoginError](err)
	return ok
}

// TokenError means that there was no token for a request, and that a person cannot help. It was not sent, or not run.
type TokenError struct{ err error }

func (e *TokenError) Error() string { return e.err.Error() }

// Unwrap returns the reason.
func (e *TokenError) Unwrap() error { return e.err }

// withoutToken marks an error of the credentials. That a person has to log in stays as it is.
func withoutToken(err error) error {
	if err == nil || isLogin(err) {
		return err
	}
	return &TokenError{err}
}

// lacksToken reports whether a request failed for want of a token, whether a person can help or not.
func lacksToken(err error) bool {
	_, ok := errors.AsType[*TokenError](err)
	return ok || isLogin(err)
}

// RefusedError is the error of a request that was not run, for want of a login.
type RefusedError struct {
	Params wire.Payload // of the request, as they were sent
	Err    error        // has a *LoginError
}

func (e *RefusedError) Error() string { return e.Err.Error() }

// Unwrap returns the reason.
func (e *RefusedError) Unwrap() error { return e.Err }

// withRequest adds a request to the error for which it was not run. Other errors stay as they are.
func withRequest(err error, request outgoing) error {
	if !isLogin(err) {
		return err
	}
	message, invalid := wire.Parse(wire.NewFrame(request.message))
	if invalid != nil {
		return err
	}
	return &RefusedError{message.Params, err}
}

// judge lets the credentials look at a response, and returns whether to send the request again, which mayRepeat limits. If
// it returns true or an error, the response is closed.
func (t *remote) judge(ctx context.Context, request *http.Request, response *http.Response, mayRepeat bool) (again bool, err error) {
	again, err = t.session.options.Remote.Credentials.Accept(ctx, request, response)
	again = again && mayRepeat
	if again || err != nil {
		refusal(response) // makes the connection reusable
		response.Body.Close()
	}
	if login, ok := errors.AsType[*LoginError](err); ok && response.StatusCode == http.StatusUnauthorized && !wantsToken(response.Header) {
		unchallenged := *login
		unchallenged.Unchallenged = true
		err = &unchallenged
	}
	return again, withoutToken(err)
}

// wantsToken reports whether a server's challenge is for a token of OAuth.
func wantsToken(header http.Header) bool {
	for _, value := range header.Values("Www-Authenticate") {
		for word := range strings.FieldsFuncSeq(value, func(r rune) bool { return r == ' ' || r == ',' || r == '\t' }) {
			if strings.EqualFold(word, "Bearer") || strings.EqualFold(word, "DPoP") {
				return true
			}
		}
	}
	return false
}
