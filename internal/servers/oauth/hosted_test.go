package oauth

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/access/credentials"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/test/oauthtest"
)

const hostedURI = "https://mcp.example.com/connect/callback/x"

// person returns the credentials of one person at the provider of a bench.
func (b *bench) person(subject string) *Credentials {
	return b.WithAccount(credentials.PersonAccount("https://idp.example", subject))
}

// logInHosted logs a person in as the page of a workbench does.
func logInHosted(t *testing.T, c *Credentials) (*Outcome, error) {
	t.Helper()
	a, err := c.Begin(t.Context(), LoginOptions{RedirectURI: hostedURI})
	if err != nil {
		return nil, err
	}
	defer a.Close()
	answer, err := oauthtest.Callback(a.AuthorizeURL())
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(answer, hostedURI+"?") {
		t.Fatalf("the answer goes to %s", answer)
	}
	if unfit := a.Deliver(queryOf(t, answer)); unfit != "" {
		t.Fatal(unfit)
	}
	return a.Wait(t.Context())
}

func queryOf(t *testing.T, address string) url.Values {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u.Query()
}

func mustLogInHosted(t *testing.T, c *Credentials) {
	t.Helper()
	if _, err := logInHosted(t, c); err != nil {
		t.Fatal(err)
	}
}

// TestPeopleShareARegistration: each has their own tokens, and none those of another or of the account of nobody.
func TestPeopleShareARegistration(t *testing.T) {
	b := newBench(t, oauthtest.Options{ClientOptions: oauthtest.ClientOptions{ExactRedirect: true}}, nil)
	people := []string{"ann", "bob", "eve"}
	var begun sync.WaitGroup
	for _, who := range people[:2] { // at the same time
		begun.Go(func() { mustLogInHosted(t, b.person(who)) })
	}
	begun.Wait()
	if n := b.provider.Count(oauthtest.Register); n != 1 {
		t.Errorf("the workbench was registered %d times", n)
	}
	if form := b.provider.Last(oauthtest.Register).Form.Get("body"); !strings.Contains(form, `"application_type":"web"`) || !strings.Contains(form, hostedURI) {
		t.Errorf("registered: %s", form)
	}
	requests := b.provider.Count(oauthtest.MCP)
	if _, err := call(t.Context(), b.person("eve"), b.provider.URL(), "echo"); err == nil || b.provider.Count(oauthtest.MCP) != requests {
		t.Errorf("something was sent without a login: %v", err)
	}
	tokens := make(map[string]bool)
	for _, who := range people {
		_, err := call(t.Context(), b.person(who), b.provider.URL(), "echo")
		if signedIn := who != "eve"; (err == nil) != signedIn {
			t.Errorf("%s: %v", who, err)
		}
		if err == nil {
			tokens[b.provider.Last(oauthtest.MCP).Access] = true
		}
	}
	if len(tokens) != 2 {
		t.Errorf("two people use %d tokens", len(tokens))
	}
	if state := b.Status().State; state != StateNone {
		t.Errorf("the account of nobody is %s", state)
	}
	if status := b.person("ann").Status(); status.State != StateSignedIn || status.Account != "" {
		t.Errorf("ann: %+v", status)
	}
}

// TestHostedAnswerIsChecked as any other is.
func TestHostedAnswerIsChecked(t *testing.T) {
	b := newBench(t, oauthtest.Options{}, nil)
	for name, test := range map[string]struct {
		edit         func(url.Values)
		unfit, error string
	}{
		"right":              {func(url.Values) {}, "", ""},
		"other state":        {func(q url.Values) { q.Set("state", "x") }, "it belongs to another login", ""},
		"no state":           {func(q url.Values) { q.Del("state") }, "it has no parameter 'state'", ""},
		"two codes":          {func(q url.Values) { q.Add("code", "x") }, "more than once", ""},
		"other issuer":       {func(q url.Values) { q.Set("iss", "https://x.example") }, "", "'iss' differs"},
		"no issuer":          {func(q url.Values) { q.Del("iss") }, "", "'iss' is missing"},
		"a code of no login": {func(q url.Values) { q.Set("code", "x") }, "", "Make the call again, which brings another link."},
	} {
		a, err := b.person("ann").Begin(t.Context(), LoginOptions{RedirectURI: hostedURI})
		if err != nil {
			t.Fatal(err)
		}
		answer, err := oauthtest.Callback(a.AuthorizeURL())
		if err != nil {
			t.Fatal(err)
		}
		query := queryOf(t, answer)
		test.edit(query)
		unfit := a.Deliver(query)
		if (unfit == "") != (test.unfit == "") || !strings.Contains(unfit, test.unfit) {
			t.Errorf("%s: unfit %q", name, unfit)
		}
		if unfit != "" && a.HasEnded() {
			t.Errorf("%s: it ended the login", name)
		}
		if unfit == "" {
			_, err := a.Wait(t.Context())
			if (err == nil) != (test.error == "") || err != nil && !strings.Contains(err.Error(), test.error) {
				t.Errorf("%s: %v", name, err)
			}
			if again := a.Deliver(query); again == "" {
				t.Errorf("%s: an answer is taken twice", name)
			}
		}
		a.Close()
	}
}

// TestRefusedRegistrationIsMadeAnew, once, whoever notices.
func TestRefusedRegistrationIsMadeAnew(t *testing.T) {
	b := newBench(t, oauthtest.Options{TokenOptions: oauthtest.TokenOptions{AccessSeconds: 1}}, nil)
	ann, bob := b.person("ann"), b.person("bob")
	mustLogInHosted(t, ann)
	b.provider.ForgetClients()
	b.provider.ExpireAccess()
	if _, err := call(t.Context(), ann, b.provider.URL(), "echo"); err == nil {
		t.Fatal("a client that is forgotten refreshes tokens")
	}
	mustLogInHosted(t, bob)
	mustLogInHosted(t, ann)
	if n := b.provider.Count(oauthtest.Register); n != 2 {
		t.Errorf("the workbench was registered %d times", n)
	}
}

// TestOldRegistration is made anew if nobody has a login with it.
func TestOldRegistration(t *testing.T) {
	b := newBench(t, oauthtest.Options{}, nil)
	key := credentials.Key{Server: b.canonical, Issuer: b.provider.Issuer(), Account: credentials.SharedAccount}
	age := func() {
		if err := b.change(t.Context(), key, func(kept *credentials.Credential) bool {
			kept.Client.Registered, kept.Issued = time.Now().Add(-2*registrationAge), time.Now().Add(-2*useAge)
			return true
		}); err != nil {
			t.Fatal(err)
		}
	}
	mustLogInHosted(t, b.person("ann"))
	age()
	mustLogInHosted(t, b.person("bob")) // ann has a login
	if n := b.provider.Count(oauthtest.Register); n != 1 {
		t.Errorf("registered %d times", n)
	}
	for _, who := range []string{"ann", "bob"} {
		if result, err := b.person(who).Logout(t.Context()); err != nil || result.Logins != 1 {
			t.Error(result, err)
		}
	}
	age()
	mustLogInHosted(t, b.person("ann"))
	if n := b.provider.Count(oauthtest.Register); n != 2 {
		t.Errorf("registered %d times", n)
	}
	if people, err := b.People(); err != nil || len(people) != 1 {
		t.Errorf("people with a login: %q, %v", people, err)
	}
	if err := b.ForgetRegistrations(t.Context()); err != nil {
		t.Error(err)
	}
	mustLogInHosted(t, b.person("bob"))
	if n := b.provider.Count(oauthtest.Register); n != 3 {
		t.Errorf("registered %d times", n)
	}
}

// TestConfiguredClientOfPeopleIsBound to the authorization server of the first login, whoever made it.
func TestConfiguredClientOfPeopleIsBound(t *testing.T) {
	b := newBench(t, oauthtest.Options{
		ClientOptions: oauthtest.ClientOptions{Clients: []oauthtest.Client{{ID: "team", Secret: "team-secret-of-the-client", RedirectURIs: []string{hostedURI}}}},
	}, &config.OAuth{ClientID: "team", ClientSecret: "team-secret-of-the-client"})
	mustLogInHosted(t, b.person("ann"))
	b.provider.Change(func(o *oauthtest.Options) { o.Migrated = true })
	_, err := logInHosted(t, b.person("bob"))
	if err == nil || !strings.Contains(err.Error(), "the server now names the authorization server") || strings.Contains(err.Error(), "--fresh") {
		t.Errorf("got %v", err)
	}
	if n := b.provider.Count(oauthtest.Token); n != 1 {
		t.Errorf("%d requests for tokens", n)
	}
}

// TestHostedLoginWithoutRegistration says what those who run the workbench have to do.
func TestHostedLoginWithoutRegistration(t *testing.T) {
	b := newBench(t, oauthtest.Options{ClientOptions: oauthtest.ClientOptions{NoRegistration: true}}, nil)
	_, err := b.person("ann").Begin(t.Context(), LoginOptions{RedirectURI: hostedURI})
	_, hint := Explain(err)
	if !strings.Contains(hint, "Those who run the workbench") || !strings.Contains(hint, hostedURI) || strings.Contains(hint, "callbackPort") {
		t.Errorf("got %v, %s", err, hint)
	}
}

func TestNobodyAnswersAHostedLogin(t *testing.T) {
	b := newBench(t, oauthtest.Options{}, nil)
	prepared, err := b.person("ann").Begin(t.Context(), LoginOptions{RedirectURI: hostedURI})
	if err != nil {
		t.Fatal(err)
	}
	prepared.Close()
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	synctest.Test(t, func(t *testing.T) {
		a := &Attempt{credentials: prepared.credentials, options: LoginOptions{RedirectURI: hostedURI}, done: make(chan struct{})}
		a.await()
		began := time.Now()
		_, err := a.Wait(t.Context())
		if err == nil || !strings.Contains(err.Error(), "nobody finished the login within 10 minutes. Make the call again") || time.Since(began) != loginTime {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
		a.Close()
	})
}
