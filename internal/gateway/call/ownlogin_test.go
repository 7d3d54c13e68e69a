package call

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/access/connect"
	"github.com/mcp-workbench/mcp-workbench/internal/access/credentials"
	"github.com/mcp-workbench/mcp-workbench/internal/access/identity"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/oauth"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/test/oauthtest"
)

// ownAccounts is a workbench with one server at which each person has an account.
type ownAccounts struct {
	t        *testing.T
	issuer   *oauthtest.Issuer
	provider *oauthtest.Provider
	servers  *fleet.Fleet
	received *serverLog
}

func newOwnAccounts(t *testing.T, options oauthtest.Options) *ownAccounts {
	t.Helper()
	o := &ownAccounts{t: t, issuer: oauthtest.StartIssuer(t), received: new(serverLog)}
	options.ServerLog = o.received
	options.Spec = []byte(`{"era":"both","tools":[{"name":"echo","inputSchema":{}}],"calls":{"echo":[{"result":{"resultType":"complete","content":[]}}]}}`)
	o.provider = oauthtest.Start(t, options)
	var pages *connect.Pages
	workbench := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { pages.ServeHTTP(w, r) }))
	settings := config.HTTPOAuth{Resource: workbench.URL + "/mcp", Issuer: o.issuer.URL(), Claim: "scope", ClientID: "pages", ClientSecret: "secret of the pages"}
	o.issuer.SetSignIn(oauthtest.SignIn{ClientID: "pages", ClientSecret: "secret of the pages", RedirectURI: connect.ProviderRedirectURI(settings.Resource)})
	verifier, err := identity.New(identity.Options{Settings: settings})
	if err != nil {
		t.Fatal(err)
	}
	if pages, err = connect.New(connect.Options{Settings: settings, Provider: verifier, Explain: oauth.Explain}); err != nil {
		t.Fatal(err)
	}
	manager := oauth.New(oauth.Options{Store: credentials.Open(t.TempDir(), credentials.Options{})})
	o.servers = fleet.New(fleet.Options{OAuth: manager, Config: &config.Config{
		MaxMessageSize: wire.DefaultLimit, HTTP: config.HTTP{OAuth: &settings},
		Toolboxes: []config.Toolbox{{Name: "T", Servers: []config.Server{{
			Name: "S", URL: o.provider.URL(), Timeouts: config.Timeouts{Connect: 30 * time.Second, Call: time.Minute}, OAuth: &config.OAuth{Accounts: config.AccountsPerPerson},
		}}}},
	}})
	o.servers.UsePages(pages)
	run, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { verifier.Run(run) })
	t.Cleanup(func() {
		if err := o.servers.Stop(context.Background()); err != nil {
			t.Error(err)
		}
		pages.Close()
		manager.Close()
		stop()
		running.Wait()
		workbench.Close()
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	})
	return o
}

// client is a client of a person on another machine; "" is nobody.
func (o *ownAccounts) client(subject string, modern, opensPages bool, ask func(*downstream.Question)) *answerer {
	options := fleet.ProfileOptions{Modern: modern, Distant: true, Foreign: true, Person: "id of " + subject, Caller: config.CallerToken + "ci"}
	if subject != "" {
		options.Issuer, options.Caller = o.issuer.URL(), config.CallerPerson+subject
	}
	if opensPages {
		options.Capabilities = []byte(`{"elicitation":{"url":{}}}`)
	}
	if ask == nil {
		ask = func(q *downstream.Question) {
			o.t.Error("a client was asked that cannot be")
			q.RefuseUnsupported()
		}
	}
	return newAnswerer(o.t, options, ask)
}

func (o *ownAccounts) begin(a *answerer) *Canceller {
	meta := ""
	if a.profile.Modern() {
		meta = `{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	}
	canceller := new(Canceller)
	new(Router).CallTool(o.servers, &Request{
		Ref: toolbox.Ref{Toolbox: "T", Server: "S", Name: "echo"}, Arguments: wire.Raw([]byte(`{}`)), Meta: wire.Raw([]byte(meta)), Client: a, Canceller: canceller, Replier: a,
	})
	return canceller
}

func (o *ownAccounts) call(a *answerer) error {
	o.begin(a)
	return await(o.t, a.replies).err
}

func visitAs(t *testing.T, subject, address string) *oauthtest.Page {
	page, err := (&oauthtest.Person{Answers: map[string]string{"login": subject}}).Visit(address)
	if err != nil {
		t.Error(err)
		return &oauthtest.Page{}
	}
	return page
}

// accessOf returns the hash of the token that the last call came with.
func (o *ownAccounts) accessOf() string {
	all := o.provider.Events(oauthtest.MCP)
	slices.Reverse(all)
	for _, event := range all {
		if event.Tool != "" || event.Method == "tools/call" {
			return event.Access
		}
	}
	return ""
}

// TestCallsOfTwoPeople: a client that shows pages is asked to open the link, wherever it is, and the call goes on; each uses
// their own account.
func TestCallsOfTwoPeople(t *testing.T) {
	for _, modern := range []bool{false, true} {
		o := newOwnAccounts(t, oauthtest.Options{})
		tokens := make(map[string]bool)
		for _, who := range []string{"ann", "bob"} {
			a := o.client(who, modern, true, func(q *downstream.Question) {
				address, _ := q.Params.Member("url").Text()
				go func() {
					if page := visitAs(t, who, address); page.Status != http.StatusOK {
						t.Errorf("%s: %d %s", who, page.Status, page.Body)
					}
					q.Answer(respond(`{"action":"accept"}`))
				}()
			})
			for range 2 {
				if err := o.call(a); err != nil {
					t.Fatalf("modern %t, %s: %v", modern, who, err)
				}
			}
			tokens[o.accessOf()] = true
		}
		if len(tokens) != 2 || len(o.received.calls()) != 4 {
			t.Errorf("modern %t: %d tokens, calls %q", modern, len(tokens), o.received.calls())
		}
	}
}

var linkInText = regexp.MustCompile(`open (http://127\.0\.0\.1:\d+/connect/\w+) and make the call again`)

// TestLinkInTheText of the answer to a client that shows no pages. Parallel calls of one person have one link.
func TestLinkInTheText(t *testing.T) {
	o := newOwnAccounts(t, oauthtest.Options{})
	a := o.client("ann", false, false, nil)
	var link string
	for range 10 {
		o.begin(a)
	}
	for range 10 {
		err := await(t, a.replies).err
		found := linkInText.FindStringSubmatch(err.Error())
		failure, ok := errors.AsType[*Failure](err)
		if found == nil || !ok || !strings.HasPrefix(failure.Message, NotRun+fleet.LoginNeededPrefix) || !strings.Contains(failure.Hint, "Give the user this address") || link != "" && link != found[1] {
			t.Fatalf("got %v, link %s", err, link)
		}
		link = found[1]
	}
	if n := o.provider.Count(oauthtest.MCP); n != 0 {
		t.Errorf("the server got %d requests", n)
	}
	if page := visitAs(t, "ann", link); page.Status != http.StatusOK {
		t.Errorf("%d %s", page.Status, page.Body)
	}
	if err := o.call(a); err != nil {
		t.Error(err)
	}
	if err := o.call(o.client("bob", false, false, nil)); err == nil {
		t.Error("bob uses the account of ann")
	}
}

// TestWrongPersonOpensTheLink: the waiting call ends, says so, and has another link.
func TestWrongPersonOpensTheLink(t *testing.T) {
	o := newOwnAccounts(t, oauthtest.Options{})
	var asked string
	a := o.client("ann", false, true, func(q *downstream.Question) {
		asked, _ = q.Params.Member("url").Text()
		go func() {
			visitAs(t, "eve", asked)
			q.Answer(respond(`{"action":"accept"}`))
		}()
	})
	err := o.call(a)
	if err == nil || !strings.Contains(err.Error(), "its link was opened by somebody else, and nothing was linked") {
		t.Fatalf("got %v", err)
	}
	found := linkInText.FindStringSubmatch(err.Error())
	if found == nil || found[1] == asked || len(o.received.calls()) != 0 {
		t.Errorf("got %v", err)
	}
	if err := o.call(o.client("eve", false, false, nil)); err == nil {
		t.Error("eve has a login")
	}
}

// TestDeclinedLink: who is asked and declines has the link in the text: some clients decline without showing anything.
func TestDeclinedLink(t *testing.T) {
	o := newOwnAccounts(t, oauthtest.Options{})
	for _, modern := range []bool{false, true} {
		var asked string
		err := o.call(o.client("ann", modern, true, func(q *downstream.Question) {
			asked, _ = q.Params.Member("url").Text()
			q.Answer(respond(`{"action":"decline"}`))
		}))
		if err == nil || !strings.Contains(err.Error(), "the login was declined") || !strings.Contains(err.Error(), "open "+asked+" and") {
			t.Errorf("modern %t: %v", modern, err)
		}
	}
}

// TestCallOfNobody is refused with the reason, and no page is offered.
func TestCallOfNobody(t *testing.T) {
	o := newOwnAccounts(t, oauthtest.Options{})
	for _, modern := range []bool{false, true} {
		for _, opensPages := range []bool{false, true} {
			err := o.call(o.client("", modern, opensPages, nil))
			failure, ok := errors.AsType[*Failure](err)
			if !ok || !strings.HasPrefix(failure.Message, NotRun+"each person has an account of their own at this server, and the token 'ci' of the workbench belongs to no person; connect with") || failure.Hint != "" {
				t.Errorf("got %v", err)
			}
		}
	}
	if n := o.provider.Count(oauthtest.MCP); n != 0 {
		t.Errorf("the server got %d requests", n)
	}
}

// TestMoreScopes: a call that needs more than the login allows brings another link.
func TestMoreScopes(t *testing.T) {
	o := newOwnAccounts(t, oauthtest.Options{ResourceOptions: oauthtest.ResourceOptions{ToolScopes: map[string]string{"echo": "write"}}})
	links := 0
	a := o.client("ann", false, true, func(q *downstream.Question) {
		links++
		address, _ := q.Params.Member("url").Text()
		go func() {
			visitAs(t, "ann", address)
			q.Answer(respond(`{"action":"accept"}`))
		}()
	})
	if err := o.call(a); err != nil || links != 2 {
		t.Errorf("%d links, %v", links, err)
	}
}
