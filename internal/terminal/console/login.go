package console

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/app"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
)

// maxLogins is how often one call logs in: a server may want more scopes with the first request, and others with the tool.
const maxLogins = 3

// loginNeededError says that a tool was not called because its server needs a login.
type loginNeededError struct {
	err *toolbox.Error
	at  place
}

func (e *loginNeededError) Error() string { return e.err.Error() }

// Unwrap returns the error for a person.
func (e *loginNeededError) Unwrap() error { return e.err }

// needsLogin returns the error for a text of the workbench that says that a login is needed; nil if it says something else.
// The workbench may be another process, so only its text tells.
func (c *Console) needsLogin(ref string, at place, text string) error {
	needed := &fleet.LoginNeededError{Toolbox: at.Toolbox, Server: at.Server, Config: c.Config}
	_, said, found := strings.Cut(text, fleet.LoginNeededPrefix)
	if !found || !strings.Contains(said, needed.Command()) {
		return nil
	}
	reason, _, _ := strings.Cut(said, "; ")
	return &loginNeededError{at: at, err: &toolbox.Error{
		Code:    toolbox.LoginNeeded,
		Message: fmt.Sprintf("Tool '%s' was not called, because a login is needed: %s", tty.CleanLine(ref), tty.CleanLine(reason)),
		Hint:    "To sign in: " + needed.Command() + "\nOr let this command do it: add --login",
	}}
}

// refusedForGood returns the error for a text of the workbench that says that another login would not help; nil if it says
// something else.
func refusedForGood(ref, text string) error {
	reason, found := strings.CutSuffix(text, "; "+fleet.FinalAdvice)
	if !found {
		return nil
	}
	if _, after, found := strings.Cut(reason, call.NotRun); found {
		reason = after
	}
	return &toolbox.Error{
		Code:    toolbox.CallFailed,
		Message: fmt.Sprintf("Tool '%s' was not called: %s", tty.CleanLine(ref), tty.CleanLine(reason)),
		Hint:    strings.ToUpper(fleet.FinalAdvice[:1]) + fleet.FinalAdvice[1:] + ".",
	}
}

// needsOneLogin is needsLogin for a tool that was not found: it may be that of the only server that needs a login.
func (c *Console) needsOneLogin(ref string, servers []app.KnownServer) error {
	var found []error
	for _, server := range servers {
		if needed := c.needsLogin(ref, place{server.Toolbox, server.Server}, server.Err.Error()); needed != nil {
			found = append(found, needed)
		}
	}
	if len(found) != 1 {
		return nil
	}
	return found[0]
}

// resultNeedsLogin returns the error for the result of a call that was not run for want of a login.
func (c *Console) resultNeedsLogin(e entry, result wire.Payload, asJSON, logsIn bool) error {
	if !isError(result) {
		return nil
	}
	said := strings.Join(texts(result), "\n")
	if refused := refusedForGood(e.Ref(), said); refused != nil && !asJSON {
		return refused
	}
	needed := c.needsLogin(e.Ref(), e.place, said)
	if asJSON && !logsIn {
		return nil // it is shown as it is
	}
	return needed
}

// callWithLogins calls a tool. If its server needs a login, the person logs in and the tool is called again.
func (c *Console) callWithLogins(ctx context.Context, options CallOptions) error {
	var read bytes.Buffer // the arguments on stdin, which can be read once
	stdin := options.Stdin
	for logins := 0; ; logins++ {
		options.Stdin = io.MultiReader(bytes.NewReader(bytes.Clone(read.Bytes())), io.TeeReader(stdin, &read))
		err := c.callOnce(ctx, options)
		needed, ok := errors.AsType[*loginNeededError](err)
		if !ok || options.Login == nil || logins == maxLogins {
			return err
		}
		if err := options.Login(ctx, needed.at.Toolbox, needed.at.Server); err != nil {
			return err
		}
	}
}

// isLoginPage reports whether a question is that of the workbench itself to visit the page of a login.
func isLoginPage(params wire.Payload) bool {
	page, err := url.Parse(text(params.Member("url")))
	return err == nil && text(params.Member("mode")) == "url" && page.Scheme == "http" && page.Hostname() == "127.0.0.1" && strings.HasPrefix(page.Path, "/go/")
}
