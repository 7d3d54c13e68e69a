//go:build unix

package team

import (
	"regexp"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/test/oauthtest"
)

// link finds the address of the page at which a person connects their account.
func (m *team) link(t *testing.T, got said) string {
	t.Helper()
	found := regexp.MustCompile(regexp.QuoteMeta(m.base) + `/connect/[A-Za-z0-9_-]+`).FindString(got.Text)
	if found == "" {
		t.Fatalf("the answer has no link: %+v\nlog:\n%s", got, m.stderr)
	}
	return found
}

// call calls the server with the accounts, and returns with which account it was called.
func (c *sdk) call(t *testing.T) (login string) {
	t.Helper()
	if got := c.use("team", "mail", "echo"); got.IsError || got.Failed != "" {
		t.Fatalf("%s's call: %+v\nlog:\n%s", c.person.name, got, c.team.stderr)
	}
	for _, event := range c.team.remote.Events(oauthtest.MCP) {
		if event.Method == "tools/call" && event.Status == 200 {
			login = event.Login
		}
	}
	return login
}

// The first call of a person brings a link to a page, which signs them in at the team's provider and goes on to that of
// the server. Somebody else who opens the link gets nothing, and gives nothing away.
func TestAccountsOfEachPerson(t *testing.T) {
	m, _ := newOffice(t, "jwt")
	alice, bob := newPerson("alice"), newPerson("bob")
	hers, his := m.client(alice, "/mcp"), m.client(bob, "/mcp")
	hers.connect()
	his.connect()

	refused := hers.use("team", "mail", "echo")
	if !refused.IsError {
		t.Fatalf("a call without an account: %+v", refused)
	}
	link := m.link(t, refused)

	// Bob opens alice's link: he is who he is, and the link is not his.
	page, err := bob.browser.Visit(link)
	if err != nil {
		t.Fatal(err)
	}
	if page.Status < 400 || strings.Contains(page.URL, m.remote.Issuer()) {
		t.Errorf("bob opened alice's link, and came to %s with status %d: %s", page.URL, page.Status, page.Body)
	}
	if n := m.remote.Count(oauthtest.Authorize); n != 0 {
		t.Errorf("bob came as far as the login of the server")
	}
	for _, c := range []*sdk{hers, his} {
		if got := c.use("team", "mail", "echo"); !got.IsError {
			t.Errorf("%s has an account after bob opened alice's link: %+v", c.person.name, got)
		}
	}

	// Alice opens her own.
	link = m.link(t, hers.use("team", "mail", "echo"))
	if page, err = alice.browser.Visit(link); err != nil || page.Status != 200 || !strings.HasPrefix(page.URL, m.base+"/connect/") {
		t.Fatalf("alice opened her link, and came to %+v %v\nlog:\n%s", page, err, m.stderr)
	}
	first := hers.call(t)
	if got := his.use("team", "mail", "echo"); !got.IsError {
		t.Fatalf("bob's call went with alice's account: %+v", got)
	}

	// And bob his own: two people, two accounts.
	if page, err = bob.browser.Visit(m.link(t, his.use("team", "mail", "echo"))); err != nil || page.Status != 200 {
		t.Fatalf("bob opened his link, and came to %+v %v", page, err)
	}
	second := his.call(t)
	if again := hers.call(t); first == "" || second == "" || again != first || second == first {
		t.Errorf("alice called with the accounts %q and %q, and bob with %q", first, again, second)
	}
}

// What can be tried with the page by somebody who is nobody yet.
func TestPageForNobody(t *testing.T) {
	m, _ := newOffice(t, "jwt")
	for _, path := range []string{"/connect/", "/connect/nothing", "/connect/callback", "/connect/callback?code=x&state=y", "/connect/callback?error=access_denied&state=%3Cscript%3E"} {
		got := m.send(request{method: "GET", path: path})
		if got.status < 400 || got.status >= 500 || strings.Contains(got.body, "<script>") {
			t.Errorf("GET %s: %+v", path, got)
		}
	}
}
