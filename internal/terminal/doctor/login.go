package doctor

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/access/credentials"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/oauth"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// Login is the state of the login to a remote server.
type Login struct {
	State   string      `json:"state"`
	Reason  string      `json:"reason,omitempty"` // why one is needed
	Account string      `json:"account,omitempty"`
	Issuer  string      `json:"issuer,omitempty"`
	Expires *time.Time  `json:"expires,omitempty"` // of the token
	Steps   []LoginStep `json:"steps,omitempty"`   // that a login would take; of a server that refuses
}

// perPerson is the state of the login to a server at which each person has an account of their own.
const perPerson = "per person"

func (s *Server) isPerPerson() bool { return s.Login != nil && s.Login.State == perPerson }

// LoginStep is one step of a login, up to where something would change at the authorization server.
type LoginStep struct {
	Name    string  `json:"name"`
	Verdict Verdict `json:"status"`
	Detail  string  `json:"detail,omitempty"`
	Fix     string  `json:"fix,omitempty"`
}

// Logins returns the login of a server.
type Logins func(toolbox string, server *config.Server) *oauth.Credentials

// loginTime is the time limit for all steps of a login; each request has its own.
const loginTime = 30 * time.Second

// login returns the state of the login to a server; nil if nobody signs in to it. If the server refused, the steps of a login
// are tried.
func (e *Examiner) login(ctx context.Context, patient *Patient, refusal error) *Login {
	if e.Logins == nil || !patient.Config.SignsIn() {
		return nil
	}
	kept := e.Logins(patient.Toolbox, &patient.Config)
	status := kept.Status()
	login := &Login{
		State: string(status.State), Reason: e.mask(status.Reason), Account: status.Account, Issuer: status.Issuer,
	}
	if !status.Expires.IsZero() {
		login.Expires = &status.Expires
	}
	if isRefusal(refusal) && storeProblem(refusal) == nil && ctx.Err() == nil {
		within, cancel := context.WithTimeout(ctx, loginTime)
		defer cancel()
		for _, step := range kept.Examine(within) {
			login.Steps = append(login.Steps, e.loginStep(step))
		}
	}
	return login
}

func (e *Examiner) loginStep(step oauth.Step) LoginStep {
	shown := LoginStep{Name: step.Title, Verdict: Fine, Detail: e.mask(step.Detail), Fix: e.mask(step.Hint)}
	switch {
	case step.Err != nil:
		shown.Verdict, shown.Detail = Failed, e.mask(step.Err.Error())
	case step.Missing:
		shown.Verdict = Skipped
	}
	return shown
}

// isRefusal reports whether a server refused, or there was no token for it.
func isRefusal(err error) bool {
	if _, ok := errors.AsType[*fleet.LoginNeededError](err); ok || lacksToken(err) {
		return true
	}
	status, ok := errors.AsType[*downstream.StatusError](err)
	return ok && (status.Code == http.StatusUnauthorized || status.Code == http.StatusForbidden)
}

// lacksToken reports whether no token could be had, for a reason that a login does not remove.
func lacksToken(err error) bool {
	_, ok := errors.AsType[*downstream.TokenError](err)
	return ok
}

// storeProblem returns what is wrong with the files of logins on this machine; nil if it is something else.
func storeProblem(err error) *toolbox.Error {
	known, ok := errors.AsType[*toolbox.Error](err)
	if !ok || known.Code != toolbox.LoginsUnusable && known.Code != toolbox.LoginsSealed && known.Code != toolbox.NoStateFolder {
		return nil
	}
	return known
}

// stepToken is the step that failed if there was no token to send: the connection is not to blame.
const stepToken = "token"

// nameToken names the failed step after the token, if that was missing.
func (s *Server) nameToken(err error) {
	if len(s.Steps) == 0 {
		return
	}
	last := &s.Steps[len(s.Steps)-1]
	_, needed := errors.AsType[*fleet.LoginNeededError](err)
	if last.Verdict == Failed && (lacksToken(err) || needed && last.Name == fleet.StepConnect) {
		last.Name = stepToken
	}
}

// fixToken advises on a server without a token, where a login by a person does not help or is not possible.
func (e *Examiner) fixToken(patient *Patient, err error) string {
	if kept := storeProblem(err); kept != nil {
		return strings.ReplaceAll(kept.Hint, credentials.LoginCommand, e.commandFor("login", patient))
	}
	if advice := fixNetwork(err); advice != "" {
		return advice
	}
	if settings := patient.Config.OAuth; settings != nil && settings.Grant != "" {
		return "Correct what the text names, in 'oauth' of the server. No login by a person is needed."
	}
	if _, ok := errors.AsType[*oauth.TemporaryError](err); ok {
		return "The login is kept. Try again later; if it stays so, ask those who run the authorization server."
	}
	return ""
}

// isImpossible reports whether a step failed that a login needs.
func (l *Login) isImpossible() bool {
	return l != nil && slices.ContainsFunc(l.Steps, func(step LoginStep) bool { return step.Verdict == Failed })
}

// showLogin writes the steps of a login.
func showLogin(screen *tty.Screen, login *Login) {
	label := "login"
	for _, step := range login.Steps {
		writeDetail(screen, label, mark(screen, step.Verdict)+" "+tty.CleanLine(step.Name+": "+step.Detail))
		label = ""
		if step.Fix != "" {
			writeDetail(screen, "", "  "+tty.CleanLine(step.Fix))
		}
	}
}
