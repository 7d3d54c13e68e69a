package oauth

import (
	"context"
	"net"
	"strconv"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/access/credentials"
)

// State is the state of the login to a server.
type State string

// The states of a login.
const (
	StateNone        State = "none"         // no login is kept: the server needs none, or nobody has logged in yet
	StateSignedIn    State = "signed in"    // there is a token
	StateExpired     State = "expired"      // the token is refreshed at the next call
	StateLoginNeeded State = "login needed" // only a person can go on
	StateMachine     State = "machine"      // tokens come from a grant without a person
	StateOff         State = "off"          // the configuration turns logins off
)

// Status describes the login to a server, without secrets.
type Status struct {
	State            State
	Reason           string // why a login is needed
	Account          string // "": the default one, or that of a person
	Issuer, ClientID string
	Scopes           []string  // granted
	Wanted           []string  // that a refused call asked for; the next login requests them
	Expires          time.Time // of the access token; zero: unknown
	Updated          time.Time
	Refreshable      bool
	Err              error // why the store cannot be read
}

// Status returns the state of the login, from the store alone.
func (c *Credentials) Status() Status {
	s := Status{State: StateNone, Account: c.settings.Account}
	if credentials.IsPersonal(s.Account) { // no name of anybody
		s.Account = ""
	}
	switch {
	case c.settings.Off:
		s.State = StateOff
		return s
	case c.problem != nil:
		s.Err = c.problem
		return s
	case c.isMachine():
		s.State = StateMachine
		return s
	}
	h := c.reload()
	s.Err = h.err
	if !h.hasLogin() {
		return s
	}
	kept := h.credential
	s.State, s.Issuer, s.ClientID, s.Scopes, s.Wanted = StateSignedIn, kept.Issuer, kept.Client.ID, kept.Granted, kept.Wanted
	s.Expires, s.Updated, s.Refreshable = kept.Expires, kept.Updated, kept.Refresh != "" && kept.Dead == ""
	switch {
	case kept.Dead != "":
		s.State, s.Reason = StateLoginNeeded, kept.Dead
	case h.isExpired(time.Now()) && s.Refreshable:
		s.State = StateExpired
	case h.isExpired(time.Now()):
		s.State, s.Reason = StateLoginNeeded, reasonNoRefresh
	case len(kept.Wanted) > 0:
		s.Reason = "a call was refused that needs " + nameScopes(kept.Wanted)
	}
	return s
}

// Examine returns each step of a login up to where something would change at the authorization server.
func (c *Credentials) Examine(ctx context.Context) []Step {
	if c.problem != nil {
		return []Step{{Title: "address", Err: c.problem}}
	}
	all, err := c.manager.options.Store.Find(c.canonical, c.settings.Account)
	var steps []Step
	if err != nil {
		steps = append(steps, failed("store of logins", err))
	}
	redirectURI := "http://" + net.JoinHostPort(callbackHost, "PORT") + callbackPath
	if port := c.settings.CallbackPort; port != 0 {
		redirectURI = "http://" + net.JoinHostPort(callbackHost, strconv.Itoa(port)) + callbackPath
	}
	held := func(issuer string) bool { return findIssuer(all, issuer) != nil }
	known := func(issuer string) bool {
		kept := findIssuer(all, issuer)
		return kept != nil && kept.Client.ID != ""
	}
	d := newDiscoverer(c.guard, c.address, &c.settings, nil)
	return append(steps, examine(ctx, d, newRegistrar(c.guard, &c.settings, c.server.Version, nil), redirectURI, held, known)...)
}
