package fleet

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcp-workbench/mcp-workbench/internal/access/connect"
	"github.com/mcp-workbench/mcp-workbench/internal/access/credentials"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// accounts is a server at which each person has an account, and who used it with which token.
type accounts struct {
	*hub
	*rig
	server *Server
	wallet *wallet

	mu     sync.Mutex
	tokens map[string]int
}

func newAccounts(t *testing.T, change func(*config.Server)) *accounts {
	t.Helper()
	a := &accounts{tokens: make(map[string]int)}
	// Without sessions, which nobody could end without a token after a logout.
	handler := mcp.NewStreamableHTTPHandler(remoteServer, &mcp.StreamableHTTPOptions{Stateless: true})
	inner := needsToken(handler, "", "token-of-ann", "token-of-bob", "token-of-all")
	a.hub = newHub(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.mu.Lock()
		a.tokens[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]++
		a.mu.Unlock()
		inner.ServeHTTP(w, r)
	}))
	w, manager := newWallet(t, a.URL)
	a.wallet = w
	a.rig, a.server = remoteRig(t, a.URL, "", func(server *config.Server) {
		server.OAuth = &config.OAuth{Accounts: config.AccountsPerPerson}
		if change != nil {
			change(server)
		}
	}, Options{OAuth: manager})
	return a
}

// used returns how often a token came, and how many others.
func (a *accounts) used(token string) (own, others int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for one, n := range a.tokens {
		if one == token {
			own = n
		} else {
			others += n
		}
	}
	return own, others
}

func personProfile(t *testing.T, subject string, more ...func(*ProfileOptions)) *ClientProfile {
	options := ProfileOptions{Foreign: true, Person: "id-of-" + subject, Issuer: "https://idp.example", Caller: config.CallerPerson + subject}
	for _, change := range more {
		change(&options)
	}
	p := NewClientProfile(options)
	t.Cleanup(p.Close)
	return p
}

func (a *accounts) logIn(subject string) {
	a.wallet.key.Account = credentials.PersonAccount("https://idp.example", subject)
	a.wallet.put("token-of-"+subject, "login of "+subject)
}

func use(t *testing.T, s *Server, p *ClientProfile) error {
	t.Helper()
	lease, err := s.LeaseFor(t.Context(), p)
	if err != nil {
		return err
	}
	lease.Release()
	return nil
}

// TestNobodyConnects: whoever is no person gets a refusal that says why, and nothing is sent to the server, although there is
// a login of the user of the workbench.
func TestNobodyConnects(t *testing.T) {
	a := newAccounts(t, nil)
	a.wallet.put("token-of-all", "login of all")
	for caller, want := range map[string]string{
		config.CallerToken + "ci":      "the token 'ci' of the workbench belongs to no person",
		config.CallerCertificate + "m": "the certificate 'm' belongs to no person",
		config.CallerStdio:             "has not signed in as a person",
		config.CallerTerminal:          "a command in a terminal",
		config.CallerShared:            "a client of a shared workbench",
		"":                             "this request is nobody's",
	} {
		for _, person := range []string{"", "id-of-a-token"} {
			p := NewClientProfile(ProfileOptions{Caller: caller, Person: person, Foreign: person != "", Capabilities: []byte(`{"elicitation":{"url":{}}}`)})
			err := use(t, a.server, p)
			needed, ok := errors.AsType[*LoginNeededError](err)
			if !ok || !strings.Contains(err.Error(), want) || needed.IsOwn() || needed.Hint() != "" || needed.WithPage() != needed || !strings.Contains(err.Error(), "signs in at the identity provider") {
				t.Errorf("%q: %v", caller, err)
			}
			if a.server.NeedsLogin(p) == nil || a.server.OfferedFor(p) != nil {
				t.Errorf("%q: what is said of the server", caller)
			}
			p.Close()
		}
	}
	if _, err := a.server.Lease(t.Context()); err == nil {
		t.Error("there is a lease for nobody")
	}
	a.server.StartInBackground()
	a.server.prefetch(t.Context())
	if err := use(t, a.server, nil); err == nil {
		t.Error("there is a lease without a client")
	}
	if n := a.requests.Load(); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
	if status, ok := a.server.LoginStatus(); !ok || status.Issuer != "" {
		t.Errorf("the login of the user of the workbench is that of the server: %+v", status)
	}
	if status := a.server.Status(); status.State != Idle || status.LastError != "" || a.server.NeedsLogin(nil) != nil {
		t.Errorf("the server itself: %+v", status)
	}
}

// TestEachPersonHasTheirOwn account, tools and state, in whatever era and with whatever capabilities.
func TestEachPersonHasTheirOwn(t *testing.T) {
	a := newAccounts(t, nil)
	ann, bob := personProfile(t, "ann"), personProfile(t, "bob")
	for _, p := range []*ClientProfile{ann, bob} {
		needed, ok := errors.AsType[*LoginNeededError](use(t, a.server, p))
		if !ok || !needed.IsOwn() || !strings.HasPrefix(needed.Error(), "login needed: you have not signed in to it yet") || a.server.NeedsLogin(p) == nil {
			t.Errorf("before the login: %v", needed)
		}
	}
	if n := a.requests.Load(); n != 0 {
		t.Errorf("%d requests were sent in nobody's name", n)
	}
	a.logIn("ann")
	modern := personProfile(t, "ann", func(o *ProfileOptions) {
		o.Modern, o.Capabilities = true, []byte(`{"sampling":{}}`)
	})
	for _, p := range []*ClientProfile{ann, modern} {
		eventually(t, "the login", func() bool { return use(t, a.server, p) == nil })
	}
	if err := use(t, a.server, bob); err == nil || a.server.NeedsLogin(bob) == nil || a.server.OfferedFor(bob) != nil {
		t.Errorf("bob: %v", err)
	}
	if a.server.OfferedFor(ann) == nil || a.server.NeedsLogin(ann) != nil {
		t.Error("ann's tools are not known")
	}
	if own, others := a.used("token-of-ann"); own == 0 || others != 0 {
		t.Errorf("%d requests as ann, %d as others", own, others)
	}
	a.logIn("bob")
	eventually(t, "bob's login", func() bool { return use(t, a.server, bob) == nil })
	if own, others := a.used("token-of-bob"); own == 0 || others == 0 {
		t.Errorf("%d requests as bob, %d as others", own, others)
	}
	sessions := make(map[any]bool)
	for _, p := range []*ClientProfile{ann, modern, bob} {
		sessions[a.server.SessionFor(p)] = true
	}
	if len(sessions) != 3 {
		t.Errorf("%d sessions", len(sessions))
	}
}

// TestSharedInstancesAreNotShared where each person has an account.
func TestSharedInstancesAreNotShared(t *testing.T) {
	a := newAccounts(t, func(server *config.Server) { server.Instances = config.InstancesShared })
	a.logIn("ann")
	a.logIn("bob")
	for _, who := range []string{"ann", "bob"} {
		if err := use(t, a.server, personProfile(t, who)); err != nil {
			t.Error(err)
		}
		if own, _ := a.used("token-of-" + who); own == 0 {
			t.Errorf("%s did not use their account", who)
		}
	}
}

// TestPersonLogsOut: their session ends, and nobody else's.
func TestPersonLogsOut(t *testing.T) {
	a := newAccounts(t, nil)
	a.logIn("ann")
	a.logIn("bob")
	ann, bob := personProfile(t, "ann"), personProfile(t, "bob")
	for _, p := range []*ClientProfile{ann, bob} {
		if err := use(t, a.server, p); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := a.server.signInFor(ann).Logout(t.Context()); err != nil {
		t.Fatal(err)
	}
	needed, ok := errors.AsType[*LoginNeededError](use(t, a.server, ann))
	if !ok || !needed.IsOwn() {
		t.Errorf("ann: %v", needed)
	}
	if err := use(t, a.server, bob); err != nil {
		t.Errorf("bob: %v", err)
	}
	if nobody, _ := a.used(""); nobody != 0 {
		t.Errorf("%d requests were sent in nobody's name", nobody)
	}
}

// TestLinksOfAServer are given to people only, and say what to do.
func TestLinksOfAServer(t *testing.T) {
	a := newAccounts(t, nil)
	ann, bob := personProfile(t, "ann"), personProfile(t, "bob")
	needed := a.server.NeedsLogin(ann)
	if text := needed.WithPage().Error(); !strings.Contains(text, "this workbench has no page") || strings.Contains(text, "mcp-workbench login") {
		t.Errorf("without pages: %s", text)
	}
	pages, err := connect.New(connect.Options{Settings: config.HTTPOAuth{Resource: "https://mcp.example.com/mcp", Issuer: "https://idp.example", ClientID: "c"}})
	if err != nil {
		t.Fatal(err)
	}
	defer pages.Close()
	a.UsePages(pages)
	if text := needed.Remedy(); !strings.Contains(text, "which brings a link") {
		t.Errorf("without a link: %s", text)
	}
	linked := needed.WithPage()
	text := linked.Error()
	if !strings.Contains(text, "; open https://mcp.example.com/connect/") || !strings.HasSuffix(text, " and make the call again") || linked.Hint() == "" {
		t.Errorf("got %s", text)
	}
	login, err := needed.Begin(context.Background())
	if err != nil || !strings.Contains(text, login.Page()) {
		t.Errorf("another page: %v", err)
	}
	login.Close()
	select {
	case <-login.Done():
		t.Error("the link ends when a call gives up")
	default:
	}
	if other := a.server.NeedsLogin(bob).WithPage().Error(); strings.Contains(other, login.Page()) {
		t.Error("two people have one link")
	}
}
