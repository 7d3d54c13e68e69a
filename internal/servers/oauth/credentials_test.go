package oauth

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/access/credentials"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/test/oauthtest"
)

// keep puts a login for a server into a store.
func keep(t testing.TB, store *credentials.Store, server string, change func(*credentials.Credential)) {
	t.Helper()
	canonical, err := credentials.CanonicalServer(server)
	if err != nil {
		t.Fatal(err)
	}
	c := New(Options{Store: store}).For(Server{URL: server})
	err = c.change(t.Context(), credentials.Key{Server: canonical, Issuer: "https://as.example"}, func(kept *credentials.Credential) bool {
		change(kept)
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
}

func authorization(t testing.TB, c *Credentials, address string) string {
	t.Helper()
	request, err := http.NewRequest(http.MethodPost, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Authorize(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	return request.Header.Get("Authorization")
}

// TestTokensStayInTheOrigin of the server that they are for.
func TestTokensStayInTheOrigin(t *testing.T) {
	store := credentials.Open(filepath.Join(t.TempDir(), "logins"), credentials.Options{})
	const server = "https://MCP.example/mcp"
	keep(t, store, server, func(c *credentials.Credential) { c.Access = "token" })
	c := New(Options{Store: store}).For(Server{URL: server})
	for address, want := range map[string]string{
		"https://mcp.example/mcp":              "Bearer token",
		"https://mcp.example:443/messages?x=1": "Bearer token",
		"https://mcp.example:8443/mcp":         "",
		"http://mcp.example/mcp":               "",
		"https://mcp.example.attacker.example": "",
		"https://attacker.example/mcp":         "",
		"https://x.mcp.example/mcp":            "",
	} {
		if got := authorization(t, c, address); got != want {
			t.Errorf("%s got %q, want %q", address, got, want)
		}
	}
	request, _ := http.NewRequest(http.MethodPost, "https://attacker.example/mcp", nil)
	response := &http.Response{StatusCode: http.StatusUnauthorized, Header: http.Header{"Www-Authenticate": {`Bearer resource_metadata="https://attacker.example"`}}}
	if again, err := c.Accept(t.Context(), request, response); again || err != nil || c.challenge != nil {
		t.Errorf("the challenge of another origin was accepted: %t, %v", again, err)
	}
}

// TestStoreIsLookedAtOnceASecond, and a login of another process is used then.
func TestStoreIsLookedAtOnceASecond(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "logins")
	synctest.Test(t, func(t *testing.T) {
		store := credentials.Open(folder, credentials.Options{})
		const server = "https://mcp.example/mcp"
		keep(t, store, server, func(c *credentials.Credential) { c.Access = "a" })
		c := New(Options{Store: store}).For(Server{URL: server})
		for _, step := range []struct {
			after time.Duration
			keep  string
			want  string
		}{
			{0, "", "Bearer a"},
			{500 * time.Millisecond, "b", "Bearer a"},
			{500 * time.Millisecond, "", "Bearer b"},
			{999 * time.Millisecond, "c", "Bearer b"},
			{time.Millisecond, "", "Bearer c"},
		} {
			time.Sleep(step.after)
			if step.keep != "" {
				keep(t, store, server, func(c *credentials.Credential) { c.Access = step.keep })
			}
			if got := authorization(t, c, server); got != step.want {
				t.Errorf("got %q, want %q", got, step.want)
			}
		}
	})
}

// TestAuthorizeAllocatesNothing beyond what a fixed header costs.
func TestAuthorizeAllocatesNothing(t *testing.T) {
	store := credentials.Open(filepath.Join(t.TempDir(), "logins"), credentials.Options{})
	const server = "https://mcp.example/mcp"
	keep(t, store, server, func(c *credentials.Credential) {
		c.Access, c.Refresh, c.Issued, c.Expires = "token", "refresh", time.Now(), time.Now().Add(time.Hour)
	})
	c := New(Options{Store: store}).For(Server{URL: server})
	authorization(t, c, server)
	c.nextLook.Store(int64(time.Hour))
	request, _ := http.NewRequest(http.MethodPost, server, nil)
	response := &http.Response{StatusCode: http.StatusOK}
	ctx := context.Background()
	if n := testing.AllocsPerRun(100, func() {
		if c.Authorize(ctx, request) != nil {
			t.Error("it failed")
		}
		if again, err := c.Accept(ctx, request, response); again || err != nil {
			t.Error("it failed")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestStoreThatCannotBeRead is no reason for a login.
func TestStoreThatCannotBeRead(t *testing.T) {
	b := newBench(t, oauthtest.Options{}, nil)
	b.mustLogIn(LoginOptions{})
	files, _ := filepath.Glob(filepath.Join(b.folder, "*.json"))
	if len(files) != 1 {
		t.Fatalf("the files are %v", files)
	}
	good, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(files[0], []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.restart()
	if _, err := b.call("echo"); err == nil || !strings.Contains(err.Error(), files[0]) {
		t.Errorf("got %v", err)
	}
	if status := b.Status(); status.Err == nil {
		t.Errorf("the status is %+v", status)
	}
	if err := os.WriteFile(files[0], good, 0o600); err != nil {
		t.Fatal(err)
	}
	b.reload()
	b.mustCall("echo")
}

// TestAccountsAreApart: each has a login of its own.
func TestAccountsAreApart(t *testing.T) {
	b := newBench(t, oauthtest.Options{}, &config.OAuth{Account: "work"})
	b.mustLogIn(LoginOptions{})
	b.mustCall("echo")
	b.settings = nil
	b.restart()
	b.refusedCall("echo")
}

func TestStatus(t *testing.T) {
	b := newBench(t, oauthtest.Options{}, nil)
	if s := b.Status(); s.State != StateNone {
		t.Errorf("got %+v", s)
	}
	b.mustLogIn(LoginOptions{})
	if s := b.Status(); s.State != StateSignedIn || s.Issuer != b.provider.Issuer() || s.ClientID == "" || !s.Refreshable || s.Expires.IsZero() {
		t.Errorf("got %+v", s)
	}
	b.expire()
	if s := b.Status(); s.State != StateExpired {
		t.Errorf("got %+v", s)
	}
	b.edit(func(c *credentials.Credential) { c.Refresh = "" })
	if s := b.Status(); s.State != StateLoginNeeded || s.Reason != reasonNoRefresh {
		t.Errorf("got %+v", s)
	}
	b.edit(func(c *credentials.Credential) { c.Dead = "it is gone" })
	if s := b.Status(); s.State != StateLoginNeeded || s.Reason != "it is gone" {
		t.Errorf("got %+v", s)
	}
	for want, settings := range map[State]*config.OAuth{StateOff: {Off: true}, StateMachine: {Grant: config.GrantClientCredentials}} {
		b.settings = settings
		b.restart()
		if s := b.Status(); s.State != want {
			t.Errorf("got %+v", s)
		}
	}
}

func TestLogout(t *testing.T) {
	b := newBench(t, oauthtest.Options{}, nil)
	b.mustLogIn(LoginOptions{})
	kept := b.kept()
	result, err := b.Logout(t.Context())
	if err != nil || result.Logins != 1 || len(result.Notices) != 0 {
		t.Errorf("got %+v, %v", result, err)
	}
	var hashes []string
	for _, event := range b.provider.Events(oauthtest.Revoke) {
		hashes = append(hashes, event.Form.Get("token"))
	}
	if len(hashes) != 2 || hashes[0] != oauthtest.Hash(kept.Refresh) || hashes[1] != oauthtest.Hash(kept.Access) {
		t.Errorf("revoked were %v", hashes)
	}
	if all, err := b.store.All(); err != nil || len(all) != 0 {
		t.Errorf("the store has %v, %v", all, err)
	}
	b.refusedCall("echo")
	if result, err := b.Logout(t.Context()); err != nil || result.Logins != 0 {
		t.Errorf("a second time: %+v, %v", result, err)
	}
}

// TestLogoutWithoutTheAuthorizationServer removes the login all the same, and says so.
func TestLogoutWithoutTheAuthorizationServer(t *testing.T) {
	for name, change := range map[string]func(o *oauthtest.Options){
		"it answered the revocation with HTTP status 503": func(o *oauthtest.Options) { o.Faults = map[string]oauthtest.Fault{oauthtest.Revoke: {Status: 503}} },
		"cannot reach":                     func(o *oauthtest.Options) { o.Faults = map[string]oauthtest.Fault{oauthtest.Revoke: {Cut: true}} },
		"it does not offer to revoke them": nil,
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, oauthtest.Options{}, nil)
			b.mustLogIn(LoginOptions{})
			if change != nil {
				b.provider.Change(change)
			} else {
				b.edit(func(c *credentials.Credential) {
					c.Metadata = []byte(strings.Replace(string(c.Metadata), "revocation_endpoint", "x", 1))
				})
			}
			result, err := b.Logout(t.Context())
			if err != nil || result.Logins != 1 || len(result.Notices) != 1 || !strings.Contains(result.Notices[0], name) {
				t.Errorf("got %+v, %v", result, err)
			}
			if all, err := b.store.All(); err != nil || len(all) != 0 {
				t.Errorf("the store has %v, %v", all, err)
			}
		})
	}
}

// TestTokenRequestsFollowNoRedirect: a code or a refresh token goes to the token endpoint alone.
func TestTokenRequestsFollowNoRedirect(t *testing.T) {
	b := newBench(t, oauthtest.Options{}, nil)
	b.mustLogIn(LoginOptions{})
	got := make(chan string, 10)
	thief := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got <- r.Method }))
	defer thief.Close()
	b.expire()
	for _, status := range []int{301, 302, 303, 307, 308} {
		b.provider.Change(func(o *oauthtest.Options) {
			o.Faults = map[string]oauthtest.Fault{oauthtest.Refresh: {Status: status, Header: map[string]string{"Location": thief.URL}}}
		})
		if _, err := b.call("echo"); !isTemporary(err) {
			t.Errorf("%d: got %v", status, err)
		}
	}
	if len(got) != 0 {
		t.Error("a redirect was followed")
	}
}

// TestQuotedSecrets: an authorization server may quote in its error what it refused.
func TestQuotedSecrets(t *testing.T) {
	b := newBench(t, oauthtest.Options{}, nil)
	b.mustLogIn(LoginOptions{})
	b.expire()
	refresh := b.kept().Refresh
	b.provider.Change(func(o *oauthtest.Options) {
		o.Faults = map[string]oauthtest.Fault{oauthtest.Refresh: {Status: 400, Body: `{"error":"unsupported_grant_type","error_description":"token ` + refresh + ` of ` + strings.Repeat("x", 1000) + `"}`}}
	})
	login := b.refusedCall("echo")
	if strings.Contains(login.Reason, refresh) || !strings.Contains(login.Reason, "unsupported_grant_type (token [hidden]") || len(login.Reason) > 500 {
		t.Errorf("got %q", login.Reason)
	}
	if b.kept().Dead != "" {
		t.Error("the login is dead")
	}
}
