package downstream

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"

	"github.com/mcp-workbench/mcp-workbench/internal/base/webclient"
)

// maxRedirects is how many redirects of a request are followed; a further one fails it.
const maxRedirects = 5

// newClient returns the HTTP client of one session.
func newClient(options *Remote, log *slog.Logger) *http.Client {
	transport := webclient.NewTransport(webclient.Options{Environ: options.Environ, Log: log})
	if options.dial != nil {
		transport.DialContext = options.dial
	}
	return &http.Client{CheckRedirect: checkRedirect, Transport: transport}
}

// checkRedirect follows only redirects to the same origin with the same request. Nothing is sent elsewhere: it may
// contain a token, and contains arguments.
func checkRedirect(next *http.Request, via []*http.Request) error {
	first := via[0]
	switch {
	case !webclient.SameOrigin(next.URL, first.URL):
		return &redirectError{next.URL, "another server"}
	case next.Method != first.Method:
		return &redirectError{next.URL, "another kind of request"}
	case len(via) > maxRedirects:
		return &redirectError{next.URL, "one more address after many"}
	}
	return nil
}

// redirectError is a redirect that was not followed.
type redirectError struct {
	target *url.URL
	kind   string
}

func (e *redirectError) Error() string {
	return fmt.Sprintf("the server redirects to %s, which was not followed; if this address is right, put it into 'url': %s", e.kind, e.Words())
}

// Words returns the part of the text that comes from the server.
func (e *redirectError) Words() string { return brief(webclient.Plain(e.target)) }

// UnreachableError means that no connection to the server could be made.
type UnreachableError struct {
	text string
	err  error
}

func (e *UnreachableError) Error() string { return "cannot connect to the server: " + e.text }

// Words returns the part of the text that names the host or the address, which may be a secret.
func (e *UnreachableError) Words() string { return e.text }

// Unwrap returns the error of the system.
func (e *UnreachableError) Unwrap() error { return e.err }

// brokenError means that a request got no response, or part of one.
type brokenError struct{ err error }

func (e *brokenError) Error() string { return "the connection to the server broke off: " + e.Words() }

// Words returns the part of the text that may come from the server.
func (e *brokenError) Words() string { return brief(e.err.Error()) }

func (e *brokenError) Unwrap() error { return e.err }

// clientError converts an error of the HTTP client to one for people. It drops the client's own text, which contains
// the whole URL.
func clientError(err error) error {
	if outer, ok := errors.AsType[*url.Error](err); ok {
		err = outer.Err
	}
	if redirect, ok := errors.AsType[*redirectError](err); ok {
		return redirect
	}
	if text := webclient.ConnectProblem(err, "'url'"); text != "" {
		return &UnreachableError{text, err}
	}
	return &brokenError{err}
}
