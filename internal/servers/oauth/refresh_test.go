package oauth

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/access/credentials"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
	"github.com/mcp-workbench/mcp-workbench/test/oauthtest"
)

func TestLoginAndCall(t *testing.T) {
	b := newBench(t, oauthtest.Options{}, nil)
	if login := b.refusedCall("echo"); login.Reason != reasonAsked || login.Scopes != nil || login.Final {
		t.Errorf("without a login: %#v", login)
	}
	outcome := b.mustLogIn(LoginOptions{})
	if outcome.Issuer != b.provider.Issuer() || !outcome.Refreshable || time.Until(outcome.Expires) < 30*time.Minute {
		t.Errorf("the login was %+v", outcome)
	}
	b.mustCall("echo")
	b.restart()
	b.mustCall("echo")
	if n := b.provider.Count(oauthtest.Refresh); n != 0 {
		t.Errorf("%d refreshes, want none", n)
	}
	for _, kind := range []string{oauthtest.Authorize, oauthtest.Token} {
		if form := b.provider.Last(kind).Form; form.Get("resource") != b.provider.URL() {
			t.Errorf("%s has resource %q", kind, form.Get("resource"))
		}
	}
}

// TestRefusedTokenIsRefreshedOnce: silently, and the request is sent again.
func TestRefusedTokenIsRefreshedOnce(t *testing.T) {
	b := newBench(t, oauthtest.Options{}, nil)
	b.mustLogIn(LoginOptions{})
	for range 3 {
		b.provider.ExpireAccess()
		before := b.provider.Count(oauthtest.Refresh)
		b.mustCall("echo")
		if n := b.provider.Count(oauthtest.Refresh) - before; n != 1 {
			t.Fatalf("%d refreshes, want 1", n)
		}
	}
	form := b.provider.Last(oauthtest.Refresh).Form
	if form.Get("resource") != b.provider.URL() || form.Has("scope") {
		t.Errorf("the refresh sent %v", form)
	}
	b.provider.EndLogins()
	login := b.refusedCall("echo")
	if want := "the login has expired: the authorization server refused the refresh token"; login.Reason != want {
		t.Errorf("got %q", login.Reason)
	}
	if kept := b.kept(); kept.Dead != login.Reason || kept.Refresh == "" {
		t.Errorf("the store has %v, dead: %q", kept, kept.Dead)
	}
	before := b.provider.Count(oauthtest.Refresh)
	b.refusedCall("echo")
	b.restart()
	b.refusedCall("echo")
	if n := b.provider.Count(oauthtest.Refresh) - before; n != 0 {
		t.Errorf("a dead login was refreshed %d times", n)
	}
}

// TestFreshTokenThatIsRefused has a server that accepts no token of the authorization server.
func TestFreshTokenThatIsRefused(t *testing.T) {
	b := newBench(t, oauthtest.Options{}, nil)
	b.mustLogIn(LoginOptions{})
	b.provider.Change(func(o *oauthtest.Options) {
		o.Faults = map[string]oauthtest.Fault{oauthtest.MCP: {Status: http.StatusUnauthorized, Header: map[string]string{"WWW-Authenticate": "Bearer"}}}
	})
	if login := b.refusedCall("echo"); login.Reason != reasonRefused {
		t.Errorf("got %q", login.Reason)
	}
	b.refusedCall("echo")
	if n := b.provider.Count(oauthtest.Refresh); n != 1 {
		t.Errorf("%d refreshes, want 1", n)
	}
	if kept := b.kept(); kept.Dead != "" {
		t.Errorf("the login is dead: %s", kept.Dead)
	}
}

func TestRefreshBeforeExpiry(t *testing.T) {
	for _, test := range []struct {
		name          string
		lifetime, age time.Duration
		want          int
	}{
		{"long before", time.Hour, 58 * time.Minute, 0},
		{"a minute before", time.Hour, 59*time.Minute + 5*time.Second, 1},
		{"short, before its tenth", 100 * time.Second, 80 * time.Second, 0},
		{"short, in its tenth", 100 * time.Second, 95 * time.Second, 1},
		{"expired", time.Hour, 2 * time.Hour, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t, oauthtest.Options{}, nil)
			b.mustLogIn(LoginOptions{})
			b.edit(func(c *credentials.Credential) {
				c.Issued = time.Now().Add(-test.age)
				c.Expires = c.Issued.Add(test.lifetime)
			})
			b.restart()
			b.mustCall("echo")
			if n := b.provider.Count(oauthtest.Refresh); n != test.want {
				t.Errorf("%d refreshes, want %d", n, test.want)
			}
		})
	}
}

func (b *bench) expire() {
	b.t.Helper()
	b.provider.ExpireAccess()
	b.edit(func(c *credentials.Credential) {
		c.Issued, c.Expires = time.Now().Add(-2*time.Hour), time.Now().Add(-time.Hour)
	})
	b.restart()
}

// TestRefreshThatFailsForNow keeps the login, and does not ask for another one.
func TestRefreshThatFailsForNow(t *testing.T) {
	html := oauthtest.Fault{Status: 200, Type: "text/html", Body: "<html>Please wait</html>"}
	for name, fault := range map[string]oauthtest.Fault{
		"server error":     {Status: 503, Body: `{"error":"invalid_grant"}`},
		"HTML":             html,
		"HTML, forbidden":  {Status: 403, Type: "text/html", Body: "<html>Blocked</html>"},
		"no access token":  {Status: 200, Body: `{"ok":true,"token_type":"Bearer"}`},
		"too many":         {Status: 429, Body: `{"error":"slow_down"}`},
		"unavailable":      {Status: 400, Body: `{"error":"temporarily_unavailable"}`},
		"redirect":         {Status: 307, Header: map[string]string{"Location": "/elsewhere"}},
		"endless":          {Status: 200, Body: "xxxxxxxxxxxxxxxxxxxxxxxx", Endless: true},
		"not for a header": {Status: 200, Body: `{"access_token":"a\r\nb","token_type":"Bearer"}`},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, oauthtest.Options{}, nil)
			b.mustLogIn(LoginOptions{})
			b.expire()
			b.provider.Change(func(o *oauthtest.Options) { o.Faults = map[string]oauthtest.Fault{oauthtest.Refresh: fault} })
			_, err := b.call("echo")
			if _, ok := errors.AsType[*downstream.LoginError](err); ok || err == nil {
				t.Fatalf("got %v, want a temporary error", err)
			}
			if !isTemporary(err) || !strings.Contains(err.Error(), "The authorization server gave no token: ") {
				t.Errorf("got %v", err)
			}
			b.refuseSecrets("the error", err.Error())
			b.provider.Change(func(o *oauthtest.Options) { o.Faults = nil })
			b.mustCall("echo")
			if kept := b.kept(); kept.Refreshing != nil || kept.Dead != "" {
				t.Errorf("the store has %v, %v", kept, kept.Refreshing)
			}
		})
	}
}

// TestEarlyRefreshThatFails uses the token as long as it is valid.
func TestEarlyRefreshThatFails(t *testing.T) {
	b := newBench(t, oauthtest.Options{}, nil)
	b.mustLogIn(LoginOptions{})
	b.edit(func(c *credentials.Credential) {
		c.Issued, c.Expires = time.Now().Add(-time.Hour), time.Now().Add(30*time.Second)
	})
	b.provider.Change(func(o *oauthtest.Options) { o.Faults = map[string]oauthtest.Fault{oauthtest.Refresh: {Status: 500}} })
	b.restart()
	b.mustCall("echo")
	b.reload() // the failed refresh has changed the store
	b.mustCall("echo")
	if n := b.provider.Count(oauthtest.Refresh); n != 1 {
		t.Errorf("%d refreshes, want 1 and then a pause", n)
	}
}

func TestRefreshTokenThatIsKept(t *testing.T) {
	b := newBench(t, oauthtest.Options{TokenOptions: oauthtest.TokenOptions{Refresh: "kept"}}, nil)
	b.mustLogIn(LoginOptions{})
	before := b.kept().Refresh
	for range 2 {
		b.provider.ExpireAccess()
		b.mustCall("echo")
	}
	if after := b.kept().Refresh; before == "" || after != before {
		t.Error("the refresh token was not kept")
	}
}

func TestLoginWithoutRefreshToken(t *testing.T) {
	b := newBench(t, oauthtest.Options{TokenOptions: oauthtest.TokenOptions{Refresh: "none"}}, nil)
	if outcome := b.mustLogIn(LoginOptions{}); outcome.Refreshable {
		t.Error("it is said to be refreshable")
	}
	b.mustCall("echo")
	b.edit(func(c *credentials.Credential) { c.Expires = time.Now().Add(-time.Second) })
	b.mustCall("echo") // only the server knows
	b.provider.ExpireAccess()
	if login := b.refusedCall("echo"); login.Reason != reasonNoRefresh {
		t.Errorf("got %q", login.Reason)
	}
}

// TestConcurrentCallsShareARefresh: also those of other processes on the same store.
func TestConcurrentCallsShareARefresh(t *testing.T) {
	b := newBench(t, oauthtest.Options{}, nil)
	b.mustLogIn(LoginOptions{})
	b.provider.ExpireAccess()
	others := []*Credentials{b.Credentials, b.another(), b.another()}
	var group sync.WaitGroup
	for i := range 30 {
		group.Go(func() {
			if status, err := call(t.Context(), others[i%len(others)], b.provider.URL(), "echo"); err != nil || status == http.StatusUnauthorized {
				t.Errorf("got %d, %v", status, err)
			}
		})
	}
	group.Wait()
	if n := b.provider.Count(oauthtest.Refresh); n != 1 {
		t.Errorf("%d refreshes, want 1", n)
	}
}

// TestCallerThatGivesUp does not end the refresh that others wait for.
func TestCallerThatGivesUp(t *testing.T) {
	b := newBench(t, oauthtest.Options{}, nil)
	b.mustLogIn(LoginOptions{})
	b.expire()
	waiting, release := b.provider.Hold(oauthtest.Refresh)
	ctx, cancel := context.WithCancel(t.Context())
	first := make(chan error, 1)
	go func() {
		_, err := call(ctx, b.Credentials, b.provider.URL(), "echo")
		first <- err
	}()
	<-waiting
	second := make(chan error, 1)
	go func() {
		_, err := b.call("echo")
		second <- err
	}()
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("the first got %v", err)
	}
	release()
	if err := <-second; err != nil {
		t.Errorf("the second got %v", err)
	}
	b.manager.Close()
	if n := b.provider.Count(oauthtest.Refresh); n != 1 {
		t.Errorf("%d refreshes, want 1", n)
	}
}

// TestLoginOfAnotherProcess is noticed before a login is asked for.
func TestLoginOfAnotherProcess(t *testing.T) {
	b := newBench(t, oauthtest.Options{}, nil)
	other := b.another()
	b.refusedCall("echo")
	if _, err := call(t.Context(), other, b.provider.URL(), "echo"); err == nil {
		t.Fatal("it was let in")
	}
	before := other.Stamp()
	b.mustLogIn(LoginOptions{})
	if other.Stamp() == before {
		t.Error("the stamp has not changed")
	}
	if status, err := call(t.Context(), other, b.provider.URL(), "echo"); err != nil || status == http.StatusUnauthorized {
		t.Errorf("got %d, %v", status, err)
	}
	if _, err := b.Logout(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err := call(t.Context(), other, b.provider.URL(), "echo")
	if _, ok := errors.AsType[*downstream.LoginError](err); !ok {
		t.Errorf("after the logout: %v", err)
	}
}

// TestForgottenClient: the registration is gone at the authorization server.
func TestForgottenClient(t *testing.T) {
	b := newBench(t, oauthtest.Options{}, nil)
	b.mustLogIn(LoginOptions{})
	b.expire()
	b.provider.ForgetClients()
	if login := b.refusedCall("echo"); !strings.Contains(login.Reason, "does not know this client any more") {
		t.Errorf("got %q", login.Reason)
	}
	b.mustLogIn(LoginOptions{})
	b.mustCall("echo")
	if n := b.provider.Count(oauthtest.Register); n != 2 {
		t.Errorf("%d registrations, want 2", n)
	}
}
