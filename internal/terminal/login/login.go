// Package login signs a person at a terminal in to a remote server: it shows each step, prints the address, opens it in a
// browser, and accepts the address that the browser ended at from the keyboard.
package login

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/access/credentials"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/oauth"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/trust"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/browser"
)

// waitTime is how long an attempt waits for a person, as it is shown.
const waitTime = 10 * time.Minute

// Options say how a person logs in.
type Options struct {
	Server    string // TOOLBOX/SERVER
	URL       string // of the server, without parts that may be secret
	Fresh     bool   // forget the earlier login and the registered client first
	NoBrowser bool   // open nothing

	Config *config.Config // that the server is in

	Screen *tty.Screen // for the steps
	Input  *tty.Lines  // for the pasted address: of the screen's keyboard, or of a pipe; nil: none
	Getenv func(string) string
	Mask   func(string) string // hides secrets in the texts of others
}

// Run logs in. It returns when the login is stored.
func Run(ctx context.Context, credentials *oauth.Credentials, options Options) (*oauth.Outcome, error) {
	l := &login{Options: options}
	return l.run(ctx, credentials)
}

// login is a login under way.
type login struct {
	Options
	attempt *oauth.Attempt
	writing sync.Mutex // lines come from several goroutines
	waiting *waiting   // nil unless a line shows the remaining time
}

func (l *login) run(ctx context.Context, credentials *oauth.Credentials) (*oauth.Outcome, error) {
	l.say("%s", l.Screen.Paint(tty.Strong, "Login to "+tty.CleanLine(l.Server))+" ("+l.clean(l.URL)+")")
	attempt, err := credentials.Begin(ctx, oauth.LoginOptions{Fresh: l.Fresh, Guess: true, Trace: l.step})
	if err != nil {
		return nil, l.failed(ctx, err)
	}
	defer attempt.Close()
	l.attempt = attempt
	opened := l.invite()
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	l.startWaiting(waitTime)
	var helpers sync.WaitGroup
	helpers.Go(func() { l.reportBrowser(within, opened) })
	helpers.Go(func() { l.readPasted(within) })
	helpers.Go(func() { l.countDown(within) })
	outcome, err := attempt.Wait(within)
	cancel()
	helpers.Wait()
	l.endWaiting()
	if err != nil {
		return nil, l.failed(ctx, err)
	}
	l.done(outcome)
	return outcome, nil
}

// step shows one step when it is done.
func (l *login) step(step oauth.Step) {
	mark := l.Screen.Paint(tty.Good, "✓")
	text := l.clean(step.Title)
	if step.Detail != "" {
		text += ": " + l.clean(step.Detail)
	}
	switch {
	case step.Missing:
		mark = l.Screen.Paint(tty.Faint, "-")
	case step.Err != nil:
		mark = l.Screen.Paint(tty.Caution, "!")
		text += ": " + l.clean(step.Err.Error())
	}
	l.say("%s %s", mark, l.Screen.Wrap(text, 2))
	if step.Title == oauth.StepAnswer && step.Err == nil {
		l.endWaiting() // nothing can be pasted any more
	}
	if step.Hint != "" {
		l.say("  %s", l.Screen.Wrap(l.clean(step.Hint), 2))
	}
}

// invite prints the addresses, and opens the one of this machine unless nothing is to be opened. The channel receives why a
// browser failed; nil if none was started. The addresses are on lines of their own, unbroken, so that they can be copied.
func (l *login) invite() <-chan error {
	address, page := tty.CleanLine(l.attempt.AuthorizeURL()), l.attempt.Page()
	why := "--no-browser"
	if !l.NoBrowser {
		opener, err := browser.Find(l.Getenv)
		if err == nil {
			l.say("\nOpening the browser. If nothing opens, open this address on this machine:\n\n  %s\n\n"+
				"Or this one on any other, and paste the address that the browser ends at\n"+
				"(http://127.0.0.1:…), even if it says that it cannot connect:\n\n  %s\n", page, address)
			return opener.Open(page)
		}
		why = err.Error()
	}
	l.say("\nNo browser is opened here (%s). Open this address on any machine:\n\n  %s\n\n"+
		"Then paste the address that the browser ends at (http://127.0.0.1:…), even if it\n"+
		"says that it cannot connect, as over SSH, in WSL and in containers. In a browser\n"+
		"on this machine, open this one instead, and nothing has to be pasted:\n\n  %s\n", tty.CleanLine(why), address, page)
	return nil
}

// reportBrowser reports a browser that failed.
func (l *login) reportBrowser(ctx context.Context, opened <-chan error) {
	if opened == nil {
		return
	}
	select {
	case err := <-opened:
		if err != nil {
			l.say("%s The browser could not be opened (%s). Open an address yourself.", l.Screen.Paint(tty.Caution, "!"), tty.CleanLine(err.Error()))
		}
	case <-ctx.Done():
	}
}

// done reports a login that succeeded.
func (l *login) done(outcome *oauth.Outcome) {
	text := "Signed in to " + tty.CleanLine(l.Server) + " at " + l.clean(outcome.Issuer)
	if outcome.Account != "" {
		text += ", account '" + tty.CleanLine(outcome.Account) + "'"
	}
	if len(outcome.Scopes) > 0 {
		text += ", scopes: " + l.clean(strings.Join(outcome.Scopes, ", "))
	}
	l.say("%s %s", l.Screen.Paint(tty.Good, "✓"), l.Screen.Wrap(text+".", 2))
	if len(outcome.Missing) > 0 {
		l.say("%s %s", l.Screen.Paint(tty.Caution, "!"), l.Screen.Wrap("Not granted, although requested: "+l.clean(strings.Join(outcome.Missing, ", "))+
			". Calls that need more will fail. Sign in with an account that may have it, or ask the administrator.", 2))
	}
	switch {
	case outcome.Refreshable:
		l.say("  It is renewed automatically.")
	case !outcome.Expires.IsZero():
		l.say("  It cannot be renewed automatically, and ends at %s.", outcome.Expires.Local().Format("2006-01-02 15:04"))
	}
}

// failed returns the error of a login for a person.
func (l *login) failed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	code, message, hint := toolbox.LoginFailed, err.Error(), ""
	if none, ok := errors.AsType[*oauth.NoLoginError](err); ok {
		message, hint = none.Message, none.Hint
	}
	if explained, ok := errors.AsType[*oauth.FailedError](err); ok {
		message, hint = explained.Message, explained.Hint
	}
	if known, ok := errors.AsType[*toolbox.Error](err); ok {
		if known.Code != toolbox.LoginImpossible {
			return l.aboutStore(known)
		}
		code, message, hint = known.Code, known.Message, known.Hint
	}
	if hint == "" {
		hint = "To see each step: " + trust.Command(l.Config, "doctor", l.Server)
	}
	return &toolbox.Error{
		Code: code, Message: fmt.Sprintf("The login to '%s' failed: %s", l.Server, l.clean(message)),
		Hint: l.clean(hint), Cause: err,
	}
}

// aboutStore returns an error that is not about the login, but about where it is kept, with the name of the server.
func (l *login) aboutStore(err *toolbox.Error) error {
	named := *err
	named.Hint = strings.ReplaceAll(err.Hint, credentials.LoginCommand, trust.Command(l.Config, "login", l.Server))
	return &named
}

// clean makes a text of others harmless and free of secrets.
func (l *login) clean(text string) string {
	if l.Mask != nil {
		text = l.Mask(text)
	}
	return tty.Clean(text)
}
