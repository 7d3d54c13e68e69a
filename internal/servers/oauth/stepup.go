package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/access/credentials"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
)

// Limits of logins for more scopes.
const (
	maxUpgrades = 2       // logins for the scopes that one call asks for; then it is refused for good
	maxUpgraded = 100     // calls for which these logins are counted; then counting begins anew
	maxCalled   = 1 << 20 // bytes of a refused request that are read to tell which tool it calls
)

// upgrade counts the logins for more scopes that one call led to.
type upgrade struct {
	requested string // scopes of the login that was refused last
	logins    int
}

// stepUp answers that the token has too few scopes. The scopes are kept for the next login.
func (c *Credentials) stepUp(ctx context.Context, request *http.Request, asked challenge) (again bool, err error) {
	h := c.reload()
	scopes := asked.scopes()
	if h.hasLogin() {
		c.rememberPlace(asked) // the scopes are kept with the login, and are not what a first one needs
	} else {
		c.remember(asked)
	}
	problem := &downstream.LoginError{Scopes: scopes}
	switch {
	case h.err != nil:
		return false, h.err
	case c.isMachine():
		return false, errors.New("the token has too few scopes: the server asks for " + nameScopes(scopes) + "; add them to 'oauth.scopes'")
	case !h.hasLogin():
		problem.Reason = reasonAsked + " with " + nameScopes(scopes)
		return false, problem
	case h.credential.Dead != "":
		problem.Reason = h.credential.Dead
		return false, problem
	case h.values != nil && h.credential.Access != sent(request):
		return true, nil // there is another token since
	case isSubset(scopes, h.credential.Scopes):
		problem.Final = true
		problem.Reason = "the server asks for " + nameScopes(scopes) + ", which the login requested already: the account may not be allowed to do this"
		return false, problem
	case !c.countUpgrade(operation(request), h.credential.Scopes):
		problem.Final = true
		problem.Reason = "the server asks for more scopes after each login, now for " + nameScopes(scopes)
		return false, problem
	}
	problem.Reason = "the server asks for more than the login allows: " + nameScopes(scopes)
	if !isSubset(scopes, h.credential.Wanted) {
		if err := c.want(ctx, h.credential.Key, scopes); err != nil {
			c.manager.options.Log.Warn("the scopes that a call needs could not be kept for the next login", "server", c.server.Name, "reason", err)
		}
	}
	return false, problem
}

// countUpgrade reports whether one more login may be made for a call that was refused with the requested scopes.
func (c *Credentials) countUpgrade(called string, requested []string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.upgrades == nil || len(c.upgrades) >= maxUpgraded {
		c.upgrades = make(map[string]upgrade)
	}
	now := strings.Join(requested, " ")
	u, known := c.upgrades[called]
	if known && u.requested != now {
		u.logins++
	}
	u.requested = now
	c.upgrades[called] = u
	return u.logins < maxUpgrades
}

// want keeps scopes for the next login.
func (c *Credentials) want(ctx context.Context, key credentials.Key, scopes []string) error {
	lock, err := c.manager.options.Store.Lock(ctx, key)
	if err != nil {
		return err
	}
	defer lock.Unlock()
	credential, err := lock.Load()
	if err != nil || credential == nil {
		return err
	}
	credential.Wanted = union(credential.Wanted, scopes)
	return lock.Save(credential)
}

// operation names what a request calls.
func operation(request *http.Request) string {
	if method := request.Header.Get("Mcp-Method"); method != "" {
		return method + " " + request.Header.Get("Mcp-Name")
	}
	var message struct {
		Method string
		Params struct{ Name, URI string }
	}
	if request.GetBody != nil {
		if body, err := request.GetBody(); err == nil {
			_ = json.NewDecoder(io.LimitReader(body, maxCalled)).Decode(&message) // what cannot be read counts as one operation
			body.Close()
		}
	}
	return message.Method + " " + message.Params.Name + message.Params.URI
}

func isSubset(part, all []string) bool {
	for _, scope := range part {
		if !slices.Contains(all, scope) {
			return false
		}
	}
	return true
}

// union returns the scopes of all lists in order, each once.
func union(lists ...[]string) []string {
	var all []string
	for _, scope := range slices.Concat(lists...) {
		if len(all) < maxScopes && !slices.Contains(all, scope) {
			all = append(all, scope)
		}
	}
	return all
}

func nameScopes(scopes []string) string {
	if len(scopes) == 0 {
		return "scopes that it does not name"
	}
	word := "the scopes "
	if len(scopes) == 1 {
		word = "the scope "
	}
	return word + words(strings.Join(scopes, " "))
}
