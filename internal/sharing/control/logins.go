package control

import (
	"context"
	"net/http"
	"time"
)

// The states of a login.
const (
	LoggedIn       = "logged in"
	LoginExpired   = "expired"      // the token is renewed at the next call
	LoginNeeded    = "login needed" // only a person can go on
	LoginNone      = "none"         // there is no login: the server needs none, or was not asked yet
	LoginAutomatic = "automatic"    // tokens come without a person
	LoginFixed     = "fixed header" // the configuration says what is sent
	LoginPerPerson = "per person"   // each person has an account, and signs in by a link
)

// Login is the login of a remote server. It has nothing secret.
type Login struct {
	Toolbox string    `json:"toolbox"`
	Server  string    `json:"server"`
	Address string    `json:"address,omitempty"` // of the server, without what may be secret
	Issuer  string    `json:"issuer,omitempty"`
	State   string    `json:"state"` // one of the states below
	Problem string    `json:"problem,omitempty"`
	Expires time.Time `json:"expires,omitzero"` // of the access token; it is renewed before
	Scopes  []string  `json:"scopes,omitempty"`
	Command string    `json:"command"` // that logs in; "": none does
}

// Logins are the logins of the remote servers of a workbench.
type Logins struct {
	Logins []Login `json:"logins"`
}

// logins writes the logins.
func logins(w http.ResponseWriter, subject Subject) { answer(w, Logins{subject.Logins()}) }

// Logins returns the logins of the remote servers.
func (c *Client) Logins(ctx context.Context) ([]Login, error) {
	var all Logins
	err := c.read(ctx, loginsPath, nil, &all)
	return all.Logins, err
}
