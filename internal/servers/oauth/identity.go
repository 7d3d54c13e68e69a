package oauth

import (
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/access/credentials"
)

// Login identifies the login in use: it changes when a person logs in anew, perhaps as somebody else, and not when a token
// is refreshed. It is "" without a login that can be used. The store is looked at once a second at most.
func (c *Credentials) Login() string {
	if c.problem != nil {
		return ""
	}
	return c.look(time.Now()).login()
}

// Current returns the login in use as the store has it now, and the stamp of the store.
func (c *Credentials) Current() (stamp credentials.Stamp, login string) {
	if c.problem != nil {
		return stamp, ""
	}
	stamp = c.Stamp() // first: a change after it makes another one
	return stamp, c.reload().login()
}

func (h *holding) login() string {
	if !h.hasLogin() || h.credential.Dead != "" {
		return ""
	}
	return h.credential.Login
}

// HasLogin reports whether a person has logged in, even if the login is of no use any more. The store is looked at once a
// second at most; if it cannot be read, that is to be found out by using it.
func (c *Credentials) HasLogin() bool {
	if c.problem != nil {
		return true
	}
	h := c.look(time.Now())
	return h.err != nil || h.hasLogin()
}
