package oauth

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/hidden"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/webclient"
)

// Limits of what errors quote of others.
const (
	maxWords   = 300 // characters of a text that an error quotes
	maxAddress = 300 // characters of an address that an error names
)

// TemporaryError means that an authorization server or a server could not be asked now. Another attempt may succeed, and
// nothing follows from it about a login.
type TemporaryError struct {
	Message string
	Cause   error
}

func (e *TemporaryError) Error() string {
	if !e.passes() {
		return e.Message
	}
	return e.Message + "; try again later"
}

// passes reports whether the cause may pass by itself. What is wrong with the store or the network has to be mended, and
// the message says how.
func (e *TemporaryError) passes() bool {
	known, ok := errors.AsType[*toolbox.Error](e.Cause)
	return (!ok || known.Hint == "") && webclient.Passes(e.Cause)
}

// Unwrap returns the cause.
func (e *TemporaryError) Unwrap() error { return e.Cause }

// NoLoginError means that a server does not say how to log in.
type NoLoginError struct{ Message, Hint string }

// Error returns the message, with the hint after it.
func (e *NoLoginError) Error() string { return e.Message + "\n" + e.Hint }

// FailedError is why a login failed, and what to do about it.
type FailedError struct{ Message, Hint string }

// Error returns the message, with the hint after it.
func (e *FailedError) Error() string { return e.Message + ". " + e.Hint }

// loginFailed returns why a login failed.
func loginFailed(hint, format string, arguments ...any) error {
	return &FailedError{Message: fmt.Sprintf(format, arguments...), Hint: hint}
}

// problem returns an error that a user can send to the operator of a server.
func problem(hint, format string, arguments ...any) error {
	return &toolbox.Error{Code: toolbox.LoginImpossible, Message: fmt.Sprintf(format, arguments...), Hint: hint}
}

// split returns what happened, and what to do next.
func split(err error) (message, hint string) {
	if none, ok := errors.AsType[*NoLoginError](err); ok {
		return none.Message, none.Hint
	}
	if login, ok := errors.AsType[*FailedError](err); ok {
		return login.Message, login.Hint
	}
	if known, ok := errors.AsType[*toolbox.Error](err); ok {
		return known.Message, known.Hint
	}
	return err.Error(), ""
}

func isTemporary(err error) bool {
	_, ok := errors.AsType[*TemporaryError](err)
	return ok
}

// words converts foreign text to one visible line of bounded length.
func words(text string) string { return hidden.Line(text, maxWords) }

// shown returns an address for people, without the parts that may be secret.
func shown(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Opaque != "" {
		before, _, _ := strings.Cut(address, "?")
		return hidden.Line(before, maxAddress)
	}
	return hidden.Line(webclient.Plain(u), maxAddress)
}

// status describes a status of HTTP.
func status(code int) string {
	if name := http.StatusText(code); name != "" {
		return fmt.Sprintf("HTTP status %d (%s)", code, name)
	}
	return fmt.Sprintf("HTTP status %d", code)
}

// isTemporaryStatus reports whether a later request may be answered otherwise.
func isTemporaryStatus(code int) bool {
	return code >= 500 || code == http.StatusTooManyRequests || code == http.StatusRequestTimeout
}
