package oauth

import (
	"net"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/access/credentials"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/test/oauthtest"
)

// TestAuthorizationRequest: what is sent, and that the configuration cannot replace what protects it.
func TestAuthorizationRequest(t *testing.T) {
	b := newBench(t, oauthtest.Options{ResourceOptions: oauthtest.ResourceOptions{ResourceScopes: []string{"read", "write"}}}, &config.OAuth{
		AuthorizeParams: []config.Variable{{Name: "audience", Value: "x y"}, {Name: "state", Value: "fixed"}, {Name: "code_challenge_method", Value: "plain"}},
	})
	a := b.begin(LoginOptions{})
	address, err := url.Parse(a.AuthorizeURL())
	if err != nil {
		t.Fatal(err)
	}
	query := address.Query()
	for name, want := range map[string]string{
		"response_type": "code", "code_challenge_method": "S256", "redirect_uri": a.redirectURI, "state": a.state,
		"scope": "read write", "resource": b.provider.URL(), "audience": "x y", "client_id": a.client.ID, "prompt": "",
	} {
		if got := query.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if len(query.Get("code_challenge")) != 43 || len(a.verifier) != 43 || len(a.state) != 43 {
		t.Error("the secrets are too short")
	}
	if strings.Contains(a.AuthorizeURL(), a.verifier) || strings.Contains(a.AuthorizeURL(), a.cookie) {
		t.Error("the address has a secret")
	}
}

func TestParametersOfKnownServers(t *testing.T) {
	for _, test := range []struct {
		endpoint string
		scopes   []string
		settings []config.Variable
		want     string
	}{
		{"https://accounts.google.com/o/oauth2/v2/auth", nil, nil, "access_type=offline prompt=consent"},
		{"https://accounts.google.com/o/oauth2/v2/auth", nil, []config.Variable{{Name: "prompt", Value: "select_account"}}, "access_type=offline prompt=select_account"},
		{"https://as.example/authorize?tenant=1", nil, nil, "tenant=1"},
		{"https://as.example/authorize", []string{"a", "offline_access"}, nil, "prompt=consent"},
		{"https://login.microsoftonline.com/common/authorize", []string{"a", "offline_access"}, nil, ""},
	} {
		a := &Attempt{
			credentials: &Credentials{settings: config.OAuth{AuthorizeParams: test.settings}}, scopes: test.scopes,
			target: &target{server: &serverMetadata{AuthorizationEndpoint: test.endpoint}},
		}
		if err := a.compose(); err != nil {
			t.Fatal(err)
		}
		address, _ := url.Parse(a.authorizeURL)
		var got []string
		for _, name := range []string{"access_type", "prompt", "tenant"} {
			if value := address.Query().Get(name); value != "" {
				got = append(got, name+"="+value)
			}
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s: %v, want %s", test.endpoint, got, test.want)
		}
	}
}

// TestRegistrationIsKept with its port, until there is a reason for another one.
func TestRegistrationIsKept(t *testing.T) {
	options := oauthtest.Options{ClientOptions: oauthtest.ClientOptions{ExactRedirect: true}}
	age := func(c *credentials.Credential) { c.Client.Registered = time.Now().Add(-25 * time.Hour) }
	for _, test := range []struct {
		name   string
		change func(b *bench)
		fresh  bool
		want   int // registrations in all
	}{
		{"nothing happened", func(*bench) {}, false, 1},
		{"an old registration with a live login", func(b *bench) { b.edit(age) }, false, 1},
		{"an old registration with a dead login", func(b *bench) {
			b.edit(func(c *credentials.Credential) {
				age(c)
				c.Dead = "gone"
			})
		}, false, 2},
		{"a young registration with a dead login", func(b *bench) { b.edit(func(c *credentials.Credential) { c.Dead = "gone" }) }, false, 1},
		{"an expired secret", func(b *bench) {
			b.edit(func(c *credentials.Credential) { c.Client.SecretExpires = time.Now().Add(-time.Second) })
		}, false, 2},
		{"fresh", func(*bench) {}, true, 2},
		{"the port is taken", func(b *bench) {
			address, _ := url.Parse(b.kept().Client.RedirectURI)
			listener, err := net.Listen("tcp", address.Host)
			if err != nil {
				b.t.Fatal(err)
			}
			b.t.Cleanup(func() { listener.Close() })
		}, false, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t, options, nil)
			b.mustLogIn(LoginOptions{})
			login := b.kept().Login
			test.change(b)
			b.restart()
			b.mustLogIn(LoginOptions{Fresh: test.fresh})
			b.mustCall("echo")
			if n := b.provider.Count(oauthtest.Register); n != test.want {
				t.Errorf("%d registrations, want %d", n, test.want)
			}
			if b.kept().Login == login {
				t.Error("the login has the id of the one before")
			}
		})
	}
}

// TestUnfinishedLogins do not register again and again, and do not cost the login that there is.
func TestUnfinishedLogins(t *testing.T) {
	b := newBench(t, oauthtest.Options{}, nil)
	for range 3 {
		b.begin(LoginOptions{}).Close()
	}
	if n := b.provider.Count(oauthtest.Register); n != 1 {
		t.Errorf("%d registrations, want 1", n)
	}
	if state := b.Status().State; state != StateNone {
		t.Errorf("the state is %s", state)
	}
	b.mustLogIn(LoginOptions{})
	b.begin(LoginOptions{Fresh: true}).Close()
	b.restart()
	b.mustCall("echo")
	b.provider.ExpireAccess()
	b.mustCall("echo")
}

func TestClientAuthentication(t *testing.T) {
	for name, options := range map[string]oauthtest.ClientOptions{
		"basic":                          {RegisterMethod: config.TokenAuthBasic},
		"post":                           {RegisterMethod: config.TokenAuthPost},
		"none, but the secret is wanted": {SaysNone: true},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, oauthtest.Options{ClientOptions: options}, nil)
			b.mustLogIn(LoginOptions{})
			b.restart()
			b.provider.ExpireAccess()
			b.mustCall("echo")
			if n := b.provider.Count(oauthtest.Refresh); n != 1 {
				t.Errorf("%d refresh requests, want 1", n)
			}
		})
	}
}

// TestRegistrationThatIsRefused: the next login registers anew, and a login that works is not lost.
func TestRegistrationThatIsRefused(t *testing.T) {
	invalid := map[string]oauthtest.Fault{oauthtest.Token: {Status: 401, Body: `{"error":"invalid_client"}`}}
	for _, isLive := range []bool{false, true} {
		b := newBench(t, oauthtest.Options{}, nil)
		if isLive {
			b.mustLogIn(LoginOptions{})
		}
		b.provider.Change(func(o *oauthtest.Options) { o.Faults = invalid })
		if _, err := b.logIn(LoginOptions{}); err == nil || !strings.Contains(err.Error(), "Log in again, which registers another one") {
			t.Errorf("got %v", err)
		}
		b.provider.Change(func(o *oauthtest.Options) { o.Faults = nil })
		if isLive {
			b.provider.ExpireAccess()
			b.mustCall("echo")
		}
		a := b.begin(LoginOptions{})
		if err := a.Paste("?error=unauthorized_client&state=" + a.state + "&iss=" + url.QueryEscape(b.provider.Issuer())); err == nil || !strings.Contains(err.Error(), "Log in again, which registers another one") {
			t.Errorf("got %v", err)
		}
		a.Close()
		b.mustLogIn(LoginOptions{})
		if n := b.provider.Count(oauthtest.Register); n != 3 {
			t.Errorf("live %t: %d registrations, want 3", isLive, n)
		}
	}
}

func TestConfiguredClient(t *testing.T) {
	const secret = "the-configured-secret"
	options := oauthtest.Options{ClientOptions: oauthtest.ClientOptions{NoRegistration: true, Clients: []oauthtest.Client{
		{ID: "mine", Secret: secret, RedirectURIs: []string{"http://127.0.0.1/callback"}},
	}}}
	b := newBench(t, options, &config.OAuth{ClientID: "mine", ClientSecret: secret})
	b.mustLogIn(LoginOptions{})
	if b.kept().Client.Secret != "" {
		t.Error("the secret of the configuration is in the store")
	}
	b.provider.ExpireAccess()
	b.mustCall("echo")
	b.provider.ForgetClients()
	b.provider.Change(func(o *oauthtest.Options) { o.Clients = nil })
	b.provider.ExpireAccess()
	if _, err := b.call("echo"); err == nil || !strings.Contains(err.Error(), "check 'oauth.clientId' and 'oauth.clientSecret'") {
		t.Errorf("got %v", err)
	}
	b.settings.ClientID = "another"
	b.restart()
	b.provider.ExpireAccess()
	b.refusedCall("echo")
}

// TestAnotherAuthorizationServer: a person has to log in there, and the earlier tokens and registration stay with the
// first one.
func TestAnotherAuthorizationServer(t *testing.T) {
	b := newBench(t, oauthtest.Options{}, nil)
	b.mustLogIn(LoginOptions{})
	first := b.kept()
	b.provider.Change(func(o *oauthtest.Options) { o.Migrated = true })
	b.refusedCall("echo")
	outcome := b.mustLogIn(LoginOptions{})
	if outcome.Issuer != b.provider.OtherIssuer() {
		t.Errorf("the login was at %s", outcome.Issuer)
	}
	b.mustCall("echo")
	b.restart()
	b.mustCall("echo")
	for _, event := range b.provider.Events(oauthtest.Refresh, oauthtest.Token) {
		if event.Issuer == b.provider.OtherIssuer() && (event.Refresh == oauthtest.Hash(first.Refresh) || event.Client == first.Client.ID) {
			t.Errorf("%s at the other one had what the first one gave", event.Kind)
		}
	}
	old, err := b.store.Load(first.Key)
	if err != nil || old == nil || old.Access != "" || old.Refresh != "" || old.Client.ID != first.Client.ID {
		t.Errorf("the store has %v, %v", old, err)
	}
}

// TestConfiguredClientOfAnotherAuthorizationServer is not used silently.
func TestConfiguredClientOfAnotherAuthorizationServer(t *testing.T) {
	b := newBench(t, oauthtest.Options{ClientOptions: oauthtest.ClientOptions{Clients: []oauthtest.Client{
		{ID: "mine", RedirectURIs: []string{"http://127.0.0.1/callback"}},
	}}}, &config.OAuth{ClientID: "mine"})
	b.mustLogIn(LoginOptions{})
	b.provider.Change(func(o *oauthtest.Options) { o.Migrated = true })
	b.refusedCall("echo")
	_, err := b.Begin(t.Context(), LoginOptions{})
	if err == nil || !strings.Contains(err.Error(), "where the client of 'oauth.clientId' is registered") {
		t.Errorf("got %v", err)
	}
	b.mustLogIn(LoginOptions{Fresh: true})
	b.mustCall("echo")
}

func TestCallbackPort(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	b := newBench(t, oauthtest.Options{}, &config.OAuth{CallbackPort: port})
	if _, err := b.Begin(t.Context(), LoginOptions{}); err == nil || !strings.Contains(err.Error(), "'oauth.callbackPort'") {
		t.Errorf("got %v", err)
	}
	listener.Close()
	a := b.begin(LoginOptions{})
	if address, _ := url.Parse(a.Page()); address.Host != listener.Addr().String() {
		t.Errorf("it listens at %s", address.Host)
	}
}

func TestNoLoginIsPossible(t *testing.T) {
	for name, settings := range map[string]*config.OAuth{
		`"oauth": false`: {Off: true},
		"needs no login": {Grant: config.GrantClientCredentials},
	} {
		b := newBench(t, oauthtest.Options{}, settings)
		if _, err := b.Begin(t.Context(), LoginOptions{}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v", err)
		}
	}
	c := New(Options{Store: credentials.Open(t.TempDir(), credentials.Options{})}).For(Server{URL: "not a url %%"})
	if _, err := c.Begin(t.Context(), LoginOptions{}); err == nil || strings.Contains(err.Error(), "%%") {
		t.Errorf("got %v", err)
	}
}

func TestLoginThatNobodyFinishes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &Attempt{done: make(chan struct{}), host: "127.0.0.1:1", listener: idleListener{make(chan struct{})}}
		a.serve()
		begun := time.Now()
		_, err := a.Wait(t.Context())
		if err == nil || err.Error() != "nobody finished the login within 10 minutes. Run the login again." || time.Since(begun) != loginTime {
			t.Errorf("got %v after %v", err, time.Since(begun))
		}
		a.Close()
	})
}

// idleListener is one that nobody connects to.
type idleListener struct{ closed chan struct{} }

func (l idleListener) Accept() (net.Conn, error) {
	<-l.closed
	return nil, net.ErrClosed
}

func (l idleListener) Close() error {
	select {
	case <-l.closed:
	default:
		close(l.closed)
	}
	return nil
}

func (l idleListener) Addr() net.Addr { return &net.TCPAddr{} }

func TestClosedAttempt(t *testing.T) {
	b := newBench(t, oauthtest.Options{}, nil)
	a := b.begin(LoginOptions{})
	a.Close()
	a.Close()
	if _, err := a.Wait(t.Context()); err == nil {
		t.Error("it went on")
	}
	if connection, err := net.Dial("tcp", a.host); err == nil {
		connection.Close()
		t.Error("it still listens")
	}
}

// TestTrace: the steps of a login, in order.
func TestTrace(t *testing.T) {
	var titles []string
	b := newBench(t, oauthtest.Options{}, nil)
	b.mustLogIn(LoginOptions{Trace: func(step Step) {
		b.refuseSecrets("the step", step.Title+step.Detail)
		if !slices.Contains(titles, step.Title) {
			titles = append(titles, step.Title)
		}
	}})
	if got := strings.Join(titles, ", "); !strings.Contains(got, "client, ") || !strings.HasSuffix(got, "answer") {
		t.Errorf("got %s", got)
	}
}
