//go:build unix

package idp

import (
	"crypto"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"maps"
	"math/big"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/test/oauthtest"
)

// This file is the protected MCP server: it asks the identity provider about each token, or checks its signature.

var asker = &http.Client{Timeout: 10 * time.Second}

// server is a protected MCP server with the tool "echo".
type server struct {
	*oauthtest.Provider

	mu       sync.Mutex
	seen     map[string]bool
	distrust map[string]bool
}

// protect runs a server that takes tokens of the identity provider.
func (p *identityProvider) protect(t *testing.T, options oauthtest.Options, check func(token string) *oauthtest.Introspection) *server {
	t.Helper()
	s := &server{seen: make(map[string]bool), distrust: make(map[string]bool)}
	options.AuthorizationServers, options.ResourceScopes = []string{p.issuer}, []string{"tools:read", "tools:write"}
	options.Introspect = func(token string) *oauthtest.Introspection {
		s.mu.Lock()
		s.seen[token] = true
		distrusted := s.distrust[token]
		s.mu.Unlock()
		if distrusted {
			return nil
		}
		return check(token)
	}
	t.Cleanup(asker.CloseIdleConnections)
	s.Provider = oauthtest.Start(t, options)
	return s
}

// expire makes the server refuse all tokens that it has seen, as if they had expired: no test waits for a clock.
func (s *server) expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.distrust = maps.Clone(s.seen)
}

// introspect asks about a token (RFC 7662).
func (p *identityProvider) introspect(t *testing.T) func(token string) *oauthtest.Introspection {
	return func(token string) *oauthtest.Introspection {
		request, err := http.NewRequest(http.MethodPost, p.issuer+"/token/introspection", strings.NewReader(url.Values{"token": {token}}.Encode()))
		if err != nil {
			t.Error(err)
			return nil
		}
		request.SetBasicAuth("resource-server", "secret-of-the-resource-server")
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		response, err := asker.Do(request)
		if err != nil {
			t.Error(err)
			return nil
		}
		defer response.Body.Close()
		var told struct {
			Active       bool
			Aud          string
			Client       string `json:"client_id"`
			Scope        string
			Confirmation struct{ JKT string } `json:"cnf"`
		}
		if err := json.NewDecoder(response.Body).Decode(&told); err != nil || response.StatusCode != http.StatusOK {
			t.Errorf("introspection: %s %v", response.Status, err)
		}
		if !told.Active {
			return nil
		}
		return &oauthtest.Introspection{Client: told.Client, Scopes: strings.Fields(told.Scope), Resource: told.Aud, Key: told.Confirmation.JKT}
	}
}

// signed checks a JWT with the keys that the identity provider publishes (RFC 9068).
func (p *identityProvider) signed(t *testing.T) func(token string) *oauthtest.Introspection {
	return func(token string) *oauthtest.Introspection {
		claims, err := oauthtest.CheckJWT(token, func(kid string) crypto.PublicKey { return p.key(t, kid) })
		if err != nil || claims["iss"] != p.issuer {
			t.Errorf("the token is not signed by %s: %v", p.issuer, err)
			return nil
		}
		expires, _ := claims["exp"].(float64)
		if time.Unix(int64(expires), 0).Before(time.Now()) {
			return nil
		}
		audience, _ := claims["aud"].(string)
		client, _ := claims["client_id"].(string)
		scope, _ := claims["scope"].(string)
		return &oauthtest.Introspection{Client: client, Scopes: strings.Fields(scope), Resource: audience}
	}
}

func (p *identityProvider) key(t *testing.T, kid string) crypto.PublicKey {
	response, err := asker.Get(p.issuer + "/jwks")
	if err != nil {
		t.Error(err)
		return nil
	}
	defer response.Body.Close()
	var set struct {
		Keys []struct{ Kid, Kty, N, E string }
	}
	if err := json.NewDecoder(response.Body).Decode(&set); err != nil {
		t.Error(err)
		return nil
	}
	for _, one := range set.Keys {
		n, errN := base64.RawURLEncoding.DecodeString(one.N)
		e, errE := base64.RawURLEncoding.DecodeString(one.E)
		if one.Kid == kid && one.Kty == "RSA" && errN == nil && errE == nil {
			return &rsa.PublicKey{N: new(big.Int).SetBytes(n), E: int(new(big.Int).SetBytes(e).Int64())}
		}
	}
	return nil
}

// calls are the statuses that calls of tools got.
func (s *server) calls() []int {
	var statuses []int
	for _, event := range s.Events(oauthtest.MCP) {
		if event.Method == "tools/call" {
			statuses = append(statuses, event.Status)
		}
	}
	return statuses
}
