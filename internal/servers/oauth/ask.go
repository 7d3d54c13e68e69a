package oauth

import (
	"context"
	"net/http"
)

// AsksForLogin reports whether the server refuses a request without a token. It sends one request, which runs nothing.
func (c *Credentials) AsksForLogin(ctx context.Context) (bool, error) {
	if c.problem != nil {
		return false, c.problem
	}
	asked, code, err := newDiscoverer(c.guard, c.address, &c.settings, nil).probe(ctx)
	return err == nil && (code == http.StatusUnauthorized || code == http.StatusForbidden && asked.isToken()), err
}
