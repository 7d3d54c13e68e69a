package control

import "time"

// Login is the login of a remote server. It has nothing secret.
type Login struct {
	Toolbox string    `json:"toolbox"`
	Server  string    `json:"server"`
	Address string    `json:"address,omitempty"` // of the server, without what may be secret
	Issuer  string    `json:"issuer,omitempty"`
	State   string    `json:"state"` // "logged in", "login needed", "expired"
	Problem string    `json:"problem,omitempty"`
	Expires time.Time `json:"expires,omitzero"` // of the access token; it is renewed before
	Scopes  []string  `json:"scopes,omitempty"`
	Command string    `json:"command"` // that logs in
}
