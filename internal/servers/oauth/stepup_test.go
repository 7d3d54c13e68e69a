package oauth

import (
	"bytes"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/test/oauthtest"
)

// scoped is a server with a tool for each of some scopes.
func scoped() oauthtest.Options {
	return oauthtest.Options{ResourceOptions: oauthtest.ResourceOptions{
		ChallengeScope: "read", ToolScopes: map[string]string{"write": "write", "admin": "admin audit"},
	}}
}

// TestStepUp: a call that needs more scopes asks for a login with all of them, and other calls go on meanwhile.
func TestStepUp(t *testing.T) {
	b := newBench(t, scoped(), nil)
	b.refusedCall("echo")
	b.mustLogIn(LoginOptions{})
	first := b.kept()
	if !slices.Equal(first.Scopes, []string{"read"}) {
		t.Errorf("requested were %v", first.Scopes)
	}
	for range 2 { // nobody logs in at once
		login := b.refusedCall("write")
		if !slices.Equal(login.Scopes, []string{"write"}) || login.Final || login.Reason != "the server asks for more than the login allows: the scope write" {
			t.Errorf("got %#v", login)
		}
	}
	b.mustCall("echo")
	if status := b.Status(); status.State != StateSignedIn || !slices.Equal(status.Wanted, []string{"write"}) {
		t.Errorf("the status is %+v", status)
	}
	b.restart() // another process logs in, which did not see the challenge
	outcome := b.mustLogIn(LoginOptions{})
	if !slices.Equal(outcome.Scopes, []string{"read", "write"}) {
		t.Errorf("granted were %v", outcome.Scopes)
	}
	b.mustCall("write")
	kept := b.kept()
	if kept.Login != first.Login || kept.Wanted != nil || !slices.Equal(kept.Scopes, []string{"read", "write"}) {
		t.Errorf("login %t, wanted %v, requested %v", kept.Login == first.Login, kept.Wanted, kept.Scopes)
	}
	b.refusedCall("admin")
	b.mustLogIn(LoginOptions{})
	for _, tool := range []string{"echo", "write", "admin"} {
		b.mustCall(tool)
	}
}

// TestStepUpThatDoesNotHelp ends, whatever the server does.
func TestStepUpThatDoesNotHelp(t *testing.T) {
	t.Run("the scopes were requested", func(t *testing.T) {
		b := newBench(t, scoped(), nil)
		b.provider.Change(func(o *oauthtest.Options) { o.NeverEnoughScope = true })
		b.mustLogIn(LoginOptions{})
		b.refusedCall("write")
		b.mustLogIn(LoginOptions{})
		if login := b.refusedCall("write"); !login.Final || !strings.Contains(login.Reason, "which the login requested already") {
			t.Errorf("got %#v", login)
		}
	})
	t.Run("other scopes each time", func(t *testing.T) {
		b := newBench(t, scoped(), nil)
		b.mustLogIn(LoginOptions{})
		logins := 0
		for i := 0; ; i++ {
			scope := strings.Repeat("x", i+1)
			b.provider.Change(func(o *oauthtest.Options) { o.ToolScopes = map[string]string{"write": scope} })
			if login := b.refusedCall("write"); login.Final {
				break
			}
			b.mustLogIn(LoginOptions{})
			if logins++; logins > 5 {
				break
			}
		}
		if logins != maxUpgrades {
			t.Errorf("%d logins, want %d", logins, maxUpgrades)
		}
		// Another tool has logins of its own.
		b.provider.Change(func(o *oauthtest.Options) { o.ToolScopes = map[string]string{"admin": "admin"} })
		if login := b.refusedCall("admin"); login.Final {
			t.Errorf("got %#v", login)
		}
	})
}

func TestForbiddenWithoutScope(t *testing.T) {
	b := newBench(t, scoped(), nil)
	b.mustLogIn(LoginOptions{})
	b.provider.Change(func(o *oauthtest.Options) { o.PlainForbidden = true })
	if status, err := b.call("write"); status != http.StatusForbidden || err != nil {
		t.Errorf("got %d, %v", status, err)
	}
}

func TestStepUpOfAMachine(t *testing.T) {
	b := newBench(t, scoped(), &config.OAuth{Grant: config.GrantClientCredentials})
	request, _ := http.NewRequest(http.MethodPost, b.provider.URL(), nil)
	response := &http.Response{StatusCode: http.StatusForbidden, Header: http.Header{"Www-Authenticate": {`Bearer error="insufficient_scope", scope="a"`}}}
	_, err := b.Accept(t.Context(), request, response)
	if _, isLogin := errors.AsType[*downstream.LoginError](err); isLogin || err == nil || !strings.Contains(err.Error(), "'oauth.scopes'") {
		t.Errorf("got %v", err)
	}
}

func TestOperation(t *testing.T) {
	body := func(text string) *http.Request {
		request, err := http.NewRequest(http.MethodPost, "http://127.0.0.1", bytes.NewReader([]byte(text)))
		if err != nil {
			t.Fatal(err)
		}
		return request
	}
	modern := body("{}")
	modern.Header.Set("Mcp-Method", "tools/call")
	modern.Header.Set("Mcp-Name", "x")
	for want, request := range map[string]*http.Request{
		"tools/call x":      modern,
		"tools/call y":      body(`{"method":"tools/call","params":{"name":"y","arguments":{"name":"z"}}}`),
		"resources/read u:": body(`{"method":"resources/read","params":{"uri":"u:"}}`),
		" ":                 body(`{`),
	} {
		if got := operation(request); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
