package connect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/mcp-workbench/mcp-workbench/internal/access/credentials"
	"github.com/mcp-workbench/mcp-workbench/internal/access/httpauth"
	"github.com/mcp-workbench/mcp-workbench/internal/access/identity"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/oauth"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/test/oauthtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const clientSecret = "the-secret-of-the-client-at-the-provider"

// team is a workbench with pages, the identity provider of its team, and a server with an authorization server.
type team struct {
	t        *testing.T
	issuer   *oauthtest.Issuer
	signIn   oauthtest.SignIn
	server   *oauthtest.Provider
	manager  *oauth.Manager
	base     string
	pages    *Pages
	log      lockedText
	mu       sync.Mutex
	events   []Event
	made     int
	requests []string // that the workbench got
}

type lockedText struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lockedText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lockedText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// hosted is an attempt as the fleet makes it.
type hosted struct{ *oauth.Attempt }

func (h hosted) Wait(ctx context.Context) (string, error) {
	_, err := h.Attempt.Wait(ctx)
	return "", err
}

func newTeam(t *testing.T, options oauthtest.Options, changes ...func(*oauthtest.SignIn)) *team {
	t.Helper()
	tm := &team{t: t, issuer: oauthtest.StartIssuer(t), server: oauthtest.Start(t, options)}
	var handler http.Handler
	workbench := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tm.mu.Lock()
		tm.requests = append(tm.requests, r.Method+" "+r.URL.Path)
		tm.mu.Unlock()
		handler.ServeHTTP(w, r)
	}))
	tm.base = workbench.URL + "/tools"
	tm.signIn = oauthtest.SignIn{ClientID: "pages", ClientSecret: clientSecret, RedirectURI: tm.base + "/connect/callback", SendsIssuer: true}
	for _, change := range changes {
		change(&tm.signIn)
	}
	tm.issuer.SetSignIn(tm.signIn)
	settings := config.HTTPOAuth{Resource: tm.base + "/mcp", Issuer: tm.issuer.URL(), Claim: "scope", ClientID: "pages", ClientSecret: clientSecret}
	verifier, err := identity.New(identity.Options{Settings: settings})
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(&tm.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	tm.manager = oauth.New(oauth.Options{Store: credentials.Open(t.TempDir(), credentials.Options{}), Log: log})
	tm.pages, err = New(Options{Settings: settings, Provider: verifier, Log: log, Explain: oauth.Explain, Ended: func(e Event) {
		tm.mu.Lock()
		defer tm.mu.Unlock()
		tm.events = append(tm.events, e)
	}})
	if err != nil {
		t.Fatal(err)
	}
	handler = tm.pages.Before(http.NotFoundHandler())
	run, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { verifier.Run(run) })
	t.Cleanup(func() {
		tm.pages.Close()
		tm.manager.Close()
		stop()
		running.Wait()
		workbench.Close()
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
		for _, secret := range []string{clientSecret, "code-"} {
			if strings.Contains(tm.log.String(), secret) {
				t.Errorf("the log has %q: %s", secret, tm.log.String())
			}
		}
	})
	return tm
}

func (tm *team) person(subject string) Person { return Person{tm.issuer.URL(), subject, ""} }

func (tm *team) credentials(subject string) *oauth.Credentials {
	return tm.manager.For(oauth.Server{Toolbox: "dev", Name: "crm", URL: tm.server.URL()}).WithAccount(tm.person(subject).Account())
}

func (tm *team) request(subject string) Request {
	return Request{
		Person: tm.person(subject), Toolbox: "dev", Server: "crm", Address: tm.server.URL(),
		Begin: func(ctx context.Context, redirectURI string) (Attempt, error) {
			attempt, err := tm.credentials(subject).Begin(ctx, oauth.LoginOptions{RedirectURI: redirectURI})
			if err != nil {
				return nil, err
			}
			return hosted{attempt}, nil
		},
		Made: func() {
			tm.mu.Lock()
			defer tm.mu.Unlock()
			tm.made++
		},
	}
}

func (tm *team) link(subject string) *Link {
	tm.t.Helper()
	link, err := tm.pages.Link(tm.request(subject))
	if err != nil {
		tm.t.Fatal(err)
	}
	return link
}

// browser is that of a person who signs in at the identity provider by a name.
func browser(subject string) *oauthtest.Person {
	return &oauthtest.Person{Answers: map[string]string{"login": subject}}
}

func (tm *team) visit(by *oauthtest.Person, address string) *oauthtest.Page {
	tm.t.Helper()
	page, err := by.Visit(address)
	if err != nil {
		tm.t.Fatal(err)
	}
	return page
}

// stopAt ends the visits of a person before an address with this path below the workbench.
func (tm *team) stopAt(by *oauthtest.Person, path string) {
	by.Stop = func(at *url.URL) bool { return strings.HasPrefix(at.String(), tm.base+path) }
}

func (tm *team) hasLogin(subject string) bool {
	return tm.credentials(subject).Status().State == oauth.StateSignedIn
}

func isOpen(l *Link) bool {
	select {
	case <-l.Done():
		return false
	default:
		return true
	}
}

// TestTwoPeople: each signs in with their own link, and has a login of their own.
func TestTwoPeople(t *testing.T) {
	tm := newTeam(t, oauthtest.Options{ClientOptions: oauthtest.ClientOptions{ExactRedirect: true}})
	for i, who := range []string{"ann", "bob"} {
		link := tm.link(who)
		if !strings.HasPrefix(link.Address(), tm.base+"/connect/") || len(link.Address()) < len(tm.base)+30 {
			t.Errorf("the link is %s", link.Address())
		}
		page := tm.visit(browser(who), link.Address())
		if page.Status != http.StatusOK || !strings.Contains(page.Body, "You are signed in") || !strings.Contains(page.Body, "&#39;crm&#39;") {
			t.Errorf("%s: %d %s", who, page.Status, page.Body)
		}
		<-link.Done()
		if link.Err() != nil || !tm.hasLogin(who) || tm.made != i+1 {
			t.Errorf("%s: %v, login %t, made %d", who, link.Err(), tm.hasLogin(who), tm.made)
		}
	}
	if tm.hasLogin("eve") || tm.manager.For(oauth.Server{URL: tm.server.URL()}).Status().State != oauth.StateNone {
		t.Error("there is a login of somebody else")
	}
	if n := tm.server.Count(oauthtest.Register); n != 1 {
		t.Errorf("registered %d times", n)
	}
	if len(tm.events) != 2 || tm.events[0].Err != nil || tm.events[0].Person.Subject != "ann" {
		t.Errorf("events %+v", tm.events)
	}
}

// TestSomebodyElseOpensALink, by mistake, or because it was stolen or sent by somebody who wants at an account: nothing is
// linked for anybody, and the link is dead.
func TestSomebodyElseOpensALink(t *testing.T) {
	for _, who := range []string{"bob", "Ann", "ann "} {
		tm := newTeam(t, oauthtest.Options{})
		link := tm.link("ann")
		page := tm.visit(browser(who), link.Address())
		if page.Status != http.StatusForbidden || !strings.Contains(page.Body, "This link is for somebody else") {
			t.Errorf("%d %s", page.Status, page.Body)
		}
		if <-link.Done(); !errors.Is(link.Err(), errOther) || tm.hasLogin("ann") || tm.hasLogin(who) || tm.server.Count(oauthtest.Authorize) != 0 || tm.made != 0 {
			t.Errorf("%s: %v", who, link.Err())
		}
		if len(tm.events) != 1 || tm.events[0].Other != who || tm.events[0].Person.Subject != "ann" || !strings.Contains(tm.log.String(), "somebody else opened") {
			t.Errorf("events %+v, log %s", tm.events, tm.log.String())
		}
		if page := tm.visit(browser("ann"), link.Address()); page.Status != http.StatusGone || tm.hasLogin("ann") {
			t.Errorf("the link works on: %d %s", page.Status, page.Body)
		}
		if again := tm.link("ann"); again == link || again.Address() == link.Address() {
			t.Error("a dead link is given out again")
		}
	}
}

// TestSubjectOfAnotherIssuer is another person.
func TestSubjectOfAnotherIssuer(t *testing.T) {
	tm := newTeam(t, oauthtest.Options{})
	request := tm.request("ann")
	request.Person.Issuer = "https://elsewhere.example"
	link, err := tm.pages.Link(request)
	if err != nil {
		t.Fatal(err)
	}
	if page := tm.visit(browser("ann"), link.Address()); page.Status != http.StatusForbidden {
		t.Errorf("%d %s", page.Status, page.Body)
	}
}

// TestLinkIsUsedOnce: also a second answer, and an answer that is sent again, are refused.
func TestLinkIsUsedOnce(t *testing.T) {
	tm := newTeam(t, oauthtest.Options{})
	link, ann := tm.link("ann"), browser("ann")
	tm.stopAt(ann, "/connect/callback?")
	first := tm.visit(ann, link.Address()).URL
	second := tm.visit(ann, link.Address()).URL // in another tab
	if first == second || queryOf(t, first).Get("state") != queryOf(t, second).Get("state") {
		t.Fatalf("two tabs: %s and %s", first, second)
	}
	tm.stopAt(ann, "/connect/callback/")
	answer := tm.visit(ann, first).URL
	if page := tm.visit(ann, second); page.Status != http.StatusGone || !isOpen(link) {
		t.Errorf("a second answer: %d %s", page.Status, page.Body)
	}
	if again := tm.visit(ann, link.Address()); again.URL == answer || !strings.Contains(again.URL, "/connect/callback/") {
		t.Errorf("the person cannot go on: %s", again.URL)
	}
	ann.Stop = nil
	if page := tm.visit(ann, answer); !strings.Contains(page.Body, "You are signed in") {
		t.Errorf("%d %s", page.Status, page.Body)
	}
	tokens := tm.server.Count(oauthtest.Token)
	for _, address := range []string{answer, first, second, link.Address()} {
		if page := tm.visit(ann, address); page.Status != http.StatusGone && page.Status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", address, page.Status, page.Body)
		}
	}
	if tm.server.Count(oauthtest.Token) != tokens || len(tm.events) != 1 {
		t.Error("an answer was taken again")
	}
}

func queryOf(t *testing.T, address string) url.Values {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u.Query()
}

// TestAnotherBrowser cannot go on with what one has begun, at either callback: otherwise somebody could have others consent
// in the name of their own login.
func TestAnotherBrowser(t *testing.T) {
	tm := newTeam(t, oauthtest.Options{})
	link, ann, other := tm.link("ann"), browser("ann"), browser("ann")
	tm.stopAt(ann, "/connect/callback?")
	answer := tm.visit(ann, link.Address()).URL
	if page := tm.visit(other, answer); page.Status != http.StatusBadRequest || !strings.Contains(page.Body, "did not begin") {
		t.Errorf("without a cookie: %d %s", page.Status, page.Body)
	}
	tm.stopAt(other, "/connect/callback?")
	tm.visit(other, link.Address()) // which gives it a cookie of its own
	other.Stop = nil
	if page := tm.visit(other, answer); page.Status != http.StatusBadRequest || !isOpen(link) {
		t.Errorf("with another cookie: %d %s", page.Status, page.Body)
	}
	tm.stopAt(ann, "/connect/callback/")
	answer = tm.visit(ann, answer).URL
	if page := tm.visit(other, answer); page.Status != http.StatusBadRequest || !isOpen(link) || tm.server.Count(oauthtest.Token) != 0 {
		t.Errorf("at the server's callback: %d %s", page.Status, page.Body)
	}
	if page := tm.visit(other, link.Address()); page.Status != http.StatusGone {
		t.Errorf("the link itself: %d %s", page.Status, page.Body)
	}
	ann.Stop = nil
	elsewhere := strings.Replace(answer, "/callback/", "/callback/0", 1)
	if page := tm.visit(ann, elsewhere); page.Status != http.StatusBadRequest || !isOpen(link) {
		t.Errorf("at the callback of another server: %d %s", page.Status, page.Body)
	}
	if page := tm.visit(ann, answer); page.Status != http.StatusOK || !tm.hasLogin("ann") {
		t.Errorf("%d %s", page.Status, page.Body)
	}
}

// TestScannersBurnNothing: programs that look at links before a person does use nothing up.
func TestScannersBurnNothing(t *testing.T) {
	tm := newTeam(t, oauthtest.Options{})
	link := tm.link("ann")
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for _, method := range []string{http.MethodHead, http.MethodGet, http.MethodPost, http.MethodOptions} {
		for range 20 {
			request, err := http.NewRequest(method, link.Address(), nil)
			if err != nil {
				t.Fatal(err)
			}
			response, err := client.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			response.Body.Close()
			hasCookie := len(response.Cookies()) == 1
			if hasCookie != (method == http.MethodGet) || method == http.MethodPost && response.StatusCode != http.StatusMethodNotAllowed {
				t.Errorf("%s: %d %v", method, response.StatusCode, response.Header)
			}
		}
	}
	for range 3 { // one that follows the redirect, and ends at the form
		response, err := http.Get(link.Address())
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
	}
	if page := tm.visit(browser("ann"), link.Address()); page.Status != http.StatusOK || !tm.hasLogin("ann") {
		t.Errorf("%d %s", page.Status, page.Body)
	}
}

func TestHeadersAndCookie(t *testing.T) {
	tm := newTeam(t, oauthtest.Options{})
	link := tm.link("ann")
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for _, address := range []string{link.Address(), tm.base + "/connect/unknown", tm.base + "/connect/callback?state=x&code=y", tm.base + "/connect/callback/x?state=x&code=y", tm.base + "/connect/callback"} {
		response, err := client.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
			"Referrer-Policy":         "no-referrer", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
		} {
			if got := response.Header.Get(name); got != want {
				t.Errorf("%s: %s is %q", address, name, got)
			}
		}
		if address != link.Address() {
			continue
		}
		cookies := response.Cookies()
		if len(cookies) != 1 || !cookies[0].HttpOnly || cookies[0].SameSite != http.SameSiteLaxMode || cookies[0].Path != "/tools/connect/" || cookies[0].Domain != "" || cookies[0].MaxAge <= 0 {
			t.Errorf("cookies %v", cookies)
		}
		query := queryOf(t, response.Header.Get("Location"))
		if query.Get("scope") != "openid" || query.Get("code_challenge_method") != "S256" || query.Get("redirect_uri") != tm.base+"/connect/callback" || query.Get("nonce") == "" || strings.Contains(response.Header.Get("Location"), link.Address()[len(tm.base)+9:]) {
			t.Errorf("the request is %v", query)
		}
	}
	forged, err := http.NewRequest(http.MethodGet, link.Address(), nil)
	if err != nil {
		t.Fatal(err)
	}
	forged.AddCookie(&http.Cookie{Name: link.cookieName(), Value: "a.b"})
	response, err := client.Do(forged)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if len(response.Cookies()) != 1 || queryOf(t, response.Header.Get("Location")).Get("state") == link.state("a.b") {
		t.Error("a cookie that the link did not make is taken for its own")
	}
	link.pages = quietPages(t)
	defer link.pages.Close()
	if cookie := link.httpCookie("x", time.Minute); !cookie.Secure || !strings.HasPrefix(cookie.Name, "__Host-") || cookie.Path != "/" || cookie.Domain != "" {
		t.Errorf("the cookie of https is %v", cookie)
	}
}

// TestProviderAnswers tries what may be wrong with the answer of the identity provider, and its ID token.
func TestProviderAnswers(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*oauthtest.SignIn)
		want   string
	}{
		"another way to authenticate": {func(s *oauthtest.SignIn) { s.OnlyPost = true }, ""},
		"does not name itself":        {func(s *oauthtest.SignIn) { s.SendsIssuer = false }, ""},
		"denied":                      {func(s *oauthtest.SignIn) { s.Error = "access_denied" }, "The identity provider did not sign you in: access_denied"},
		"other issuer":                {func(s *oauthtest.SignIn) { s.Answer = func(q url.Values) { q.Set("iss", "https://x.example") } }, "somebody else than the identity provider"},
		"issuer missing":              {func(s *oauthtest.SignIn) { s.Answer = func(q url.Values) { q.Del("iss") } }, "its parameter &#39;iss&#39; is missing"},
		"error of someone else": {func(s *oauthtest.SignIn) {
			s.Answer = func(q url.Values) { q.Set("iss", "x"); q.Del("code"); q.Set("error", "call-this-number") }
		}, "somebody else than the identity provider"},
		"wrong code":     {func(s *oauthtest.SignIn) { s.Answer = func(q url.Values) { q.Set("code", "code-of-somebody") } }, "did not sign you in: invalid_grant"},
		"wrong secret":   {func(s *oauthtest.SignIn) { s.ClientSecret = "x" }, "refuses the client of this workbench"},
		"other nonce":    {func(s *oauthtest.SignIn) { s.Change = map[string]any{"nonce": "x"} }, "cannot be verified"},
		"other audience": {func(s *oauthtest.SignIn) { s.Change = map[string]any{"aud": "x"} }, "cannot be verified"},
		"expired":        {func(s *oauthtest.SignIn) { s.Change = map[string]any{"exp": 1} }, "cannot be verified"},
		"token of another issuer": {func(s *oauthtest.SignIn) {
			s.Change = map[string]any{"iss": "https://x.example"}
		}, "cannot be verified"},
	} {
		t.Run(name, func(t *testing.T) {
			tm := newTeam(t, oauthtest.Options{}, test.change)
			link := tm.link("ann")
			page := tm.visit(browser("ann"), link.Address())
			if tm.hasLogin("ann") != (test.want == "") || !strings.Contains(page.Body, test.want) || strings.Contains(page.Body, "call-this") || strings.Contains(page.Body, "code-of") {
				t.Errorf("%d %s", page.Status, page.Body)
			}
			if <-link.Done(); (link.Err() == nil) != (test.want == "") {
				t.Errorf("the call gets %v", link.Err())
			}
			if test.want != "" && tm.server.Count(oauthtest.Authorize) != 0 {
				t.Error("the person was sent to the server")
			}
		})
	}
}

// TestProviderIsAway: the link waits until it is back.
func TestProviderIsAway(t *testing.T) {
	tm := newTeam(t, oauthtest.Options{})
	link, ann := tm.link("ann"), browser("ann")
	tm.stopAt(ann, "/connect/callback?")
	answer := tm.visit(ann, link.Address()).URL
	ann.Stop = nil
	tm.issuer.Away()
	page := tm.visit(ann, answer)
	if !strings.Contains(page.Body, "cannot be reached now") || tm.hasLogin("ann") {
		t.Errorf("%d %s", page.Status, page.Body)
	}
	if <-link.Done(); link.Err() == nil {
		t.Error("the call was told nothing")
	}
}

// TestServerFails: what goes wrong at the server is told on the page and to the call.
func TestServerFails(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*oauthtest.Options)
		want   string
	}{
		"denied":          {func(o *oauthtest.Options) { o.Consent = "deny" }, "access_denied"},
		"no registration": {func(o *oauthtest.Options) { o.NoRegistration = true }, "Those who run the workbench have to register"},
		"away":            {func(o *oauthtest.Options) { o.Faults = map[string]oauthtest.Fault{oauthtest.Metadata: {Status: 503}} }, "503"},
		"token refused":   {func(o *oauthtest.Options) { o.Faults = map[string]oauthtest.Fault{oauthtest.Token: {Status: 500}} }, "500"},
		"other issuer":    {func(o *oauthtest.Options) { o.Iss = "https://attacker.example" }, "&#39;iss&#39; differs"},
	} {
		t.Run(name, func(t *testing.T) {
			tm := newTeam(t, oauthtest.Options{})
			tm.server.Change(test.change)
			link := tm.link("ann")
			page := tm.visit(browser("ann"), link.Address())
			if !strings.Contains(page.Body, "You are not signed in") || !strings.Contains(page.Body, test.want) || tm.hasLogin("ann") {
				t.Errorf("%d %s", page.Status, page.Body)
			}
			if <-link.Done(); link.Err() == nil || len(tm.events) != 1 || tm.events[0].Err == nil {
				t.Errorf("the call gets %v, events %+v", link.Err(), tm.events)
			}
			if again := tm.link("ann"); again == link {
				t.Error("the link is given out again")
			}
		})
	}
}

// TestLinksAreShared by parallel calls of one person for one server, and by nobody else.
func TestLinksAreShared(t *testing.T) {
	tm := newTeam(t, oauthtest.Options{})
	links := make([]*Link, 50)
	var calls sync.WaitGroup
	for i := range links {
		calls.Go(func() { links[i] = tm.link("ann") })
	}
	calls.Wait()
	for _, link := range links {
		if link != links[0] {
			t.Fatal("parallel calls have several links")
		}
	}
	other := tm.request("ann")
	other.Server = "wiki"
	for name, request := range map[string]Request{"another person": tm.request("bob"), "another server": other} {
		if link, err := tm.pages.Link(request); err != nil || link == links[0] {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := tm.pages.Link(Request{Person: Person{Issuer: tm.issuer.URL()}, Toolbox: "dev", Server: "crm"}); err == nil {
		t.Error("nobody has a link")
	}
	if page := tm.visit(browser("ann"), links[0].Address()); page.Status != http.StatusOK {
		t.Errorf("%d %s", page.Status, page.Body)
	}
	for _, link := range links {
		<-link.Done()
	}
}

// TestLinksAreBounded for each person, and for all together.
func TestLinksAreBounded(t *testing.T) {
	tm := newTeam(t, oauthtest.Options{})
	request := tm.request("ann")
	for i := range maxOwn {
		request.Server = fmt.Sprint(i)
		if _, err := tm.pages.Link(request); err != nil {
			t.Fatal(err)
		}
	}
	request.Server = "more"
	if _, err := tm.pages.Link(request); err == nil || !strings.Contains(err.Error(), "wait for you already") {
		t.Errorf("got %v", err)
	}
	request.Server = "0"
	if _, err := tm.pages.Link(request); err != nil {
		t.Errorf("a link that is there: %v", err)
	}
	used := tm.pages.byPerson[request.Person.Account()][3]
	used.end(errors.New("x"), "")
	request.Server = "more"
	if _, err := tm.pages.Link(request); err != nil || len(tm.pages.byPerson[request.Person.Account()]) != maxOwn || tm.pages.byID[used.id] != nil {
		t.Errorf("one that has ended makes room: %v", err)
	}
	for i := 0; len(tm.pages.byID) < maxLinks; i++ {
		tm.link(fmt.Sprint(i))
	}
	if _, err := tm.pages.Link(tm.request("one more")); err == nil || !strings.Contains(err.Error(), "too many people") {
		t.Errorf("got %v", err)
	}
	tm.pages.Close()
	if _, err := tm.pages.Link(tm.request("one more")); !errors.Is(err, errStopped) {
		t.Errorf("got %v", err)
	}
}

func quietPages(t *testing.T) *Pages {
	t.Helper()
	pages, err := New(Options{Settings: config.HTTPOAuth{Resource: "https://mcp.example.com/mcp", ClientID: "c"}})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

// TestLinksExpire, and are forgotten later.
func TestLinksExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pages := quietPages(t)
		request := Request{Person: Person{"i", "ann", ""}, Toolbox: "dev", Server: "crm", Address: "https://crm.example"}
		link, err := pages.Link(request)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(linkTime - lateTime - time.Second)
		if again, err := pages.Link(request); err != nil || again != link {
			t.Errorf("a link with time left is not shared: %v", err)
		}
		time.Sleep(2 * time.Second)
		later, err := pages.Link(request)
		if err != nil || later == link {
			t.Errorf("a late link is given out again: %v", err)
		}
		time.Sleep(lateTime)
		synctest.Wait()
		if isOpen(link) || !errors.Is(link.Err(), errLate) || !isOpen(later) {
			t.Errorf("after its time: %v", link.Err())
		}
		for _, want := range []int{http.StatusGone, http.StatusNotFound} {
			w := httptest.NewRecorder()
			pages.ServeHTTP(w, httptest.NewRequest(http.MethodGet, link.Address(), nil))
			if w.Code != want {
				t.Errorf("an expired link gets %d %s", w.Code, w.Body)
			}
			time.Sleep(2 * linkTime)
			synctest.Wait()
		}
		if len(pages.byID)+len(pages.byHandle)+len(pages.byPerson)+len(pages.byState) != 0 {
			t.Errorf("something is kept: %d %d %d %d", len(pages.byID), len(pages.byHandle), len(pages.byPerson), len(pages.byState))
		}
		pages.Close()
	})
}

// TestOtherLinksGoOn: calls that wait for an older link of the same person go on after a login with the newer one.
func TestOtherLinksGoOn(t *testing.T) {
	tm := newTeam(t, oauthtest.Options{})
	link := tm.link("ann")
	tm.pages.mu.Lock()
	link.until = time.Now().Add(lateTime / 2)
	tm.pages.mu.Unlock()
	newer := tm.link("ann")
	other := tm.link("bob")
	if link == newer {
		t.Fatal("a late link is given out again")
	}
	tm.visit(browser("ann"), newer.Address())
	<-link.Done()
	if link.Err() != nil || !isOpen(other) || len(tm.events) != 1 {
		t.Errorf("%v, events %+v", link.Err(), tm.events)
	}
}

func TestNamesAreEscaped(t *testing.T) {
	pages := quietPages(t)
	defer pages.Close()
	link, err := pages.Link(Request{Person: Person{"i", "ann", ""}, Toolbox: "<b>", Server: "\u202e<script>alert(1)</script>\"", Address: "https://crm.example"})
	if err != nil {
		t.Fatal(err)
	}
	link.end(errors.New("it said <img src=x onerror=alert(1)>"), "")
	w := httptest.NewRecorder()
	link.showEnd(w)
	if body := w.Body.String(); strings.Contains(body, "<script") || strings.Contains(body, "<b>") || strings.Contains(body, "<img") || strings.ContainsRune(body, '\u202e') {
		t.Errorf("the page is %s", body)
	}
}

func TestPlaces(t *testing.T) {
	for resource, want := range map[string]string{
		"https://mcp.example.com/mcp": "https://mcp.example.com/connect/callback", "https://mcp.example.com": "https://mcp.example.com/connect/callback",
		"https://example.com/tools/mcp": "https://example.com/tools/connect/callback", "https://example.com/tools/mcp/": "https://example.com/tools/connect/callback",
	} {
		if got := ProviderRedirectURI(resource); got != want {
			t.Errorf("%s: %s", resource, got)
		}
	}
	one, same, other := RedirectURI("https://m.example/mcp", "https://CRM.example:443/mcp"), RedirectURI("https://m.example/mcp", "https://crm.example/mcp"), RedirectURI("https://m.example/mcp", "https://crm.example/mcp2")
	if one != same || one == other || !strings.HasPrefix(one, "https://m.example/connect/callback/") {
		t.Errorf("%s, %s and %s", one, same, other)
	}
	pages := quietPages(t)
	defer pages.Close()
	for path, want := range map[string]bool{"/connect/x": true, "/connect/callback": true, "/connect/": false, "/connect": false, "/mcp": false, "/mcp/connect/x": false, "/connectx/y": false} {
		if pages.IsPublic(path) != want || (*Pages)(nil).IsPublic(path) {
			t.Errorf("%s is public: %t", path, !want)
		}
	}
	if _, err := (*Pages)(nil).Link(Request{}); err == nil {
		t.Error("there are links without pages")
	}
	for _, settings := range []config.HTTPOAuth{{Resource: "https://m.example/mcp"}, {Resource: "x", ClientID: "c"}} {
		if _, err := New(Options{Settings: settings}); err == nil {
			t.Errorf("%+v has pages", settings)
		}
	}
}

// TestVisitsPassTheGate although they come from other sites; nothing else of other sites does.
func TestVisitsPassTheGate(t *testing.T) {
	pages := quietPages(t)
	defer pages.Close()
	gate := httpauth.NewGate(pages.Before(http.NotFoundHandler()), httpauth.GateOptions{NeedsNoToken: pages.IsPublic, Rules: httpauth.Rules{Hosts: []string{"mcp.example.com"}}})
	for name, test := range map[string]struct {
		path   string
		header map[string]string
		host   string
		want   bool
	}{
		"from the provider": {"/connect/callback", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}, "mcp.example.com", true},
		"typed":             {"/connect/x", map[string]string{"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}, "mcp.example.com", true},
		"an old browser":    {"/connect/x", nil, "mcp.example.com", true},
		"in a frame":        {"/connect/x", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}, "mcp.example.com", false},
		"as an image":       {"/connect/x", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}, "mcp.example.com", false},
		"with an origin":    {"/connect/x", map[string]string{"Origin": "https://x.example", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}, "mcp.example.com", false},
		"another path":      {"/mcp", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}, "mcp.example.com", false},
		"another host":      {"/connect/x", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}, "x.example", false},
	} {
		request := httptest.NewRequest(http.MethodGet, test.path, nil)
		request.Host = test.host
		for key, value := range test.header {
			request.Header.Set(key, value)
		}
		w := httptest.NewRecorder()
		pages.Guard(gate).ServeHTTP(w, request)
		if passed := w.Code != http.StatusForbidden; passed != test.want {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
}
