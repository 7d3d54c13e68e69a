package oauth

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/test/oauthtest"
)

// Another configuration of the same server, such as that of a project, does not end a login that was made with a client of
// one's own.
func TestLoginOfAnotherClientIsLeftAlone(t *testing.T) {
	for name, other := range map[string]*config.OAuth{"no client": nil, "another client": {ClientID: "theirs", ClientSecret: "x"}} {
		t.Run(name, func(t *testing.T) {
			clients := []oauthtest.Client{{ID: "mine", Secret: "hidden", RedirectURIs: []string{"http://127.0.0.1/callback"}}}
			b := newBench(t, oauthtest.Options{ClientOptions: oauthtest.ClientOptions{Clients: clients}}, &config.OAuth{ClientID: "mine", ClientSecret: "hidden"})
			b.mustLogIn(LoginOptions{})
			b.provider.ExpireAccess()
			mine := b.Credentials
			b.settings = other
			theirs := b.another()
			_, err := call(t.Context(), theirs, b.provider.URL(), "echo")
			login, ok := errors.AsType[*downstream.LoginError](err)
			if !ok || !strings.Contains(login.Reason, "another client") {
				t.Errorf("the call got %v", err)
			}
			if kept := b.kept(); kept.Dead != "" || kept.Refreshing != nil {
				t.Errorf("the login is marked: %q, %v", kept.Dead, kept.Refreshing)
			}
			b.wantCount(oauthtest.Refresh, 0)
			if status, err := call(t.Context(), mine, b.provider.URL(), "echo"); err != nil || status == http.StatusUnauthorized {
				t.Errorf("the login does not work any more: %d, %v", status, err)
			}
		})
	}
}

// Workbenches that share a login do not refresh it in turns because a server refuses each token.
func TestRefusedTokensAreNotRefreshedInTurns(t *testing.T) {
	b := newBench(t, oauthtest.Options{}, nil)
	b.mustLogIn(LoginOptions{})
	b.provider.Change(func(o *oauthtest.Options) {
		o.Faults = map[string]oauthtest.Fault{oauthtest.MCP: {Status: http.StatusUnauthorized, Header: map[string]string{"WWW-Authenticate": "Bearer"}}}
	})
	processes := []*Credentials{b.another(), b.another(), b.another()}
	for round := range 10 {
		_, err := call(t.Context(), processes[round%len(processes)], b.provider.URL(), "echo")
		if login, ok := errors.AsType[*downstream.LoginError](err); !ok || login.Reason != reasonRefused {
			t.Fatalf("round %d: %v", round, err)
		}
	}
	if refreshes := b.provider.Count(oauthtest.Refresh); refreshes > 3 {
		t.Errorf("there were %d refreshes", refreshes)
	}
}

// A server that names another authorization server each time does not fill the disk with registrations.
func TestUnusedRegistrationsAreBounded(t *testing.T) {
	b := newBench(t, oauthtest.Options{}, nil)
	b.mustLogIn(LoginOptions{})
	first := b.kept()
	for i := range 3 * maxUnused {
		b.provider.Change(func(o *oauthtest.Options) { o.IssuerPath = fmt.Sprintf("/%d", i) })
		b.begin(LoginOptions{}).Close()
	}
	all, err := b.store.Find(b.canonical, "")
	if err != nil || len(all) > maxUnused+2 {
		t.Errorf("the store has %d entries, %v", len(all), err)
	}
	if kept := b.kept(); kept.Access != first.Access {
		t.Errorf("the login is %v, was %v", kept, first)
	}
	if last := fmt.Sprintf("/%d", 3*maxUnused-1); !strings.HasSuffix(all[0].Issuer, last) {
		t.Errorf("the last registration is %s, want %s", all[0].Issuer, last)
	}
}

// The secret of a machine stays bound to its authorization server, however many others are named.
func TestBindingIsNoUnusedRegistration(t *testing.T) {
	b := machineBench(t, nil)
	b.mustCall("echo")
	machine := b.settings
	b.settings = nil
	b.restart()
	for i := range 2 * maxUnused {
		b.provider.Change(func(o *oauthtest.Options) { o.IssuerPath = fmt.Sprintf("/%d", i) })
		b.begin(LoginOptions{}).Close()
	}
	b.provider.Change(func(o *oauthtest.Options) { o.IssuerPath, o.Migrated = "", true })
	b.settings = machine
	b.restart()
	wantBound(t, b)
}

// A registration is stored, so that its size is bounded.
func TestLongRegistration(t *testing.T) {
	b := newBench(t, oauthtest.Options{Faults: map[string]oauthtest.Fault{oauthtest.Register: {
		Status: http.StatusCreated, Body: `{"client_id":"` + strings.Repeat("a", maxToken+1) + `"}`,
	}}}, nil)
	if _, err := b.Begin(t.Context(), LoginOptions{}); err == nil || !strings.Contains(err.Error(), "longer than 32 KiB") {
		t.Errorf("got %v", err)
	}
}

// The token of one server does not mask the words of others.
func TestShortTokensAreNotHidden(t *testing.T) {
	b := newBench(t, oauthtest.Options{Faults: map[string]oauthtest.Fault{oauthtest.Token: {
		Status: http.StatusOK, Body: `{"access_token":"error","refresh_token":"long enough, or not"}`,
	}}}, nil)
	if _, err := b.logIn(LoginOptions{}); err == nil {
		t.Error("a token with blanks was accepted")
	}
	b.provider.Change(func(o *oauthtest.Options) {
		o.Faults[oauthtest.Token] = oauthtest.Fault{Status: http.StatusOK, Body: `{"access_token":"error","refresh_token":"long-enough"}`}
	})
	b.mustLogIn(LoginOptions{})
	b.mu.Lock()
	defer b.mu.Unlock()
	if slices.Contains(b.secrets, "error") || !slices.Contains(b.secrets, "long-enough") {
		t.Errorf("hidden: %q", b.secrets)
	}
}

// A server that asks for other scopes each time can neither make the stored login grow without limit, nor a person log in
// without end.
func TestEverNewScopes(t *testing.T) {
	b := newBench(t, oauthtest.Options{}, nil)
	b.mustLogIn(LoginOptions{})
	for i := range 30 {
		var scopes []string
		for j := range 10 {
			scopes = append(scopes, fmt.Sprintf("s%d-%d-%s", i, j, strings.Repeat("x", 900)))
		}
		scopes = append(scopes, strings.Repeat("y", 5000))
		b.provider.Change(func(o *oauthtest.Options) {
			o.Faults = map[string]oauthtest.Fault{oauthtest.MCP: {Status: http.StatusForbidden, Header: map[string]string{
				"WWW-Authenticate": `Bearer error="insufficient_scope", scope="` + strings.Join(scopes, " ") + `"`,
			}}}
		})
		b.refusedCall("echo")
	}
	if kept := b.kept(); len(kept.Wanted) != maxScopes || slices.ContainsFunc(kept.Wanted, func(scope string) bool { return len(scope) > maxScope }) {
		t.Errorf("%d scopes are kept", len(kept.Wanted))
	}
	b.provider.Change(func(o *oauthtest.Options) { o.Faults = nil })
	b.mustCall("echo")
}

// Calls, logins, logouts and tokens that end, all at once and by several workbenches: a call either gets in or needs a
// login, and the last login counts.
func TestAllAtOnce(t *testing.T) {
	b := newBench(t, oauthtest.Options{TokenOptions: oauthtest.TokenOptions{NoExpiry: true}}, nil)
	b.mustLogIn(LoginOptions{})
	processes := []*Credentials{b.another(), b.another(), b.another()}
	stop := make(chan struct{})
	var calls, changes sync.WaitGroup
	for i := range 4 * len(processes) {
		calls.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				_, err := call(t.Context(), processes[i%len(processes)], b.provider.URL(), "echo")
				if _, ok := errors.AsType[*downstream.LoginError](err); err != nil && !ok {
					t.Errorf("a call got %v", err)
					return
				}
			}
		})
	}
	for _, c := range processes {
		changes.Go(func() {
			for range 5 {
				b.provider.ExpireAccess()
				attempt, err := c.Begin(t.Context(), LoginOptions{})
				if err != nil {
					t.Errorf("a login got %v", err)
					return
				}
				_, err = new(oauthtest.Person).Visit(attempt.Page())
				if _, waitErr := attempt.Wait(t.Context()); err != nil || waitErr != nil {
					t.Errorf("a login got %v, %v", err, waitErr)
				}
				attempt.Close()
				if _, err := c.Logout(t.Context()); err != nil {
					t.Errorf("a logout got %v", err)
				}
			}
		})
	}
	changes.Wait()
	close(stop)
	calls.Wait()
	b.mustLogIn(LoginOptions{})
	b.mustCall("echo")
}
