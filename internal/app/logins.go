package app

import (
	"cmp"
	"errors"
	"net/url"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/webclient"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/oauth"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/trust"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
)

// Logins implements control.Subject. No server is asked: the state is that of the store, and of running servers.
func (i Inspector) Logins() []control.Login {
	all := []control.Login{}
	for _, box := range i.App.fleet.Toolboxes() {
		for _, server := range box.Servers {
			if server.Address() != "" {
				all = append(all, i.App.login(server))
			}
		}
	}
	return all
}

// login returns the login of a remote server as a person sees it.
func (a *App) login(server *fleet.Server) control.Login {
	at := toolbox.Place{Toolbox: server.Toolbox(), Server: server.Name()}
	shown := control.Login{
		Toolbox: at.Toolbox, Server: at.Server, Address: a.Mask(plainAddress(server.Address())), State: control.LoginFixed,
		Command: trust.Command(a.config.Load(), "login", at.String()),
	}
	status, ok := server.LoginStatus()
	if !ok {
		return shown
	}
	if server.HasOwnAccounts() {
		shown.State, shown.Command = control.LoginPerPerson, ""
		return shown
	}
	shown.Issuer, shown.Expires, shown.Scopes = a.Mask(status.Issuer), status.Expires, status.Scopes
	shown.Problem = a.Mask(status.Reason)
	switch status.State {
	case oauth.StateSignedIn:
		shown.State = control.LoggedIn
	case oauth.StateExpired:
		shown.State = control.LoginExpired
	case oauth.StateLoginNeeded:
		shown.State = control.LoginNeeded
	case oauth.StateMachine:
		shown.State = control.LoginAutomatic
	case oauth.StateOff:
		shown.State = control.LoginFixed
	default:
		shown.State = control.LoginNone
	}
	if status.Err != nil {
		shown.Problem = status.Err.Error()
		if known, ok := errors.AsType[*toolbox.Error](status.Err); ok {
			shown.Problem = known.Message
		}
		shown.State, shown.Problem = control.LoginNeeded, a.Mask(shown.Problem)
	}
	if needed := server.NeedsLogin(nil); needed != nil { // of whichever copy of the server
		shown.State, shown.Problem = control.LoginNeeded, a.Mask(cmp.Or(shown.Problem, needed.Error()))
	}
	return shown
}

// plainAddress returns an address without the parts that may contain a secret.
func plainAddress(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "(an address that cannot be read)"
	}
	return webclient.Plain(u)
}
