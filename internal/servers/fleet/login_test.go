package fleet

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/access/credentials"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/oauth"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/test/oauthtest"
)

// wallet is the store of logins for the server of a test.
type wallet struct {
	t     *testing.T
	store *credentials.Store
	key   credentials.Key
}

// newWallet returns an empty store, and what signs in with it.
func newWallet(t *testing.T, address string) (*wallet, *oauth.Manager) {
	t.Helper()
	server, err := credentials.CanonicalServer(address)
	if err != nil {
		t.Fatal(err)
	}
	w := &wallet{t, credentials.Open(t.TempDir(), credentials.Options{}), credentials.Key{Server: server, Issuer: "https://issuer.example"}}
	manager := oauth.New(oauth.Options{Store: w.store})
	t.Cleanup(manager.Close)
	return w, manager
}

// put changes what is stored, as another process would.
func (w *wallet) put(token, login string) {
	w.t.Helper()
	lock, err := w.store.Lock(w.t.Context(), w.key)
	if err != nil {
		w.t.Fatal(err)
	}
	defer lock.Unlock()
	credential, err := lock.Load()
	if err != nil {
		w.t.Fatal(err)
	}
	if credential == nil {
		credential = &credentials.Credential{Key: w.key}
	}
	credential.Login, credential.Access, credential.Kind, credential.Dead = login, token, "Bearer", ""
	if err := lock.Save(credential); err != nil {
		w.t.Fatal(err)
	}
}

// needsToken lets requests pass that have one of the tokens, or whose body has nothing of guarded.
func needsToken(next http.Handler, guarded string, tokens ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := readBody(r)
		for _, token := range tokens {
			if r.Header.Get("Authorization") == "Bearer "+token {
				next.ServeHTTP(w, r)
				return
			}
		}
		if guarded != "" && !strings.Contains(body, guarded) {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="https://x.example/"`)
		w.WriteHeader(http.StatusUnauthorized)
	})
}

func loginRig(t *testing.T, handler http.Handler, transport string) (*hub, *wallet, *rig, *Server) {
	t.Helper()
	h := newHub(t, handler)
	w, manager := newWallet(t, h.URL)
	r, server := remoteRig(t, h.URL, transport, nil, Options{OAuth: manager})
	return h, w, r, server
}

func TestLoginNeeded(t *testing.T) {
	for _, transport := range []string{"", "http", "sse"} {
		handler := streamableHandler()
		if transport == "sse" {
			handler = sseHandler()
		}
		h, w, _, server := loginRig(t, needsToken(handler, "", "t1"), transport)
		const want = "login needed: the server asks for a login; run: mcp-workbench login T/S"
		var asked int32
		for try := range 3 { // there is no backoff, and no further try
			_, err := server.Lease(t.Context())
			needed, ok := errors.AsType[*LoginNeededError](err)
			if !ok || needed.Error() != want || server.NeedsLogin(nil) == nil {
				t.Fatalf("transport %q: %v", transport, err)
			}
			if requests := h.requests.Load(); try > 0 && requests != asked {
				t.Errorf("transport %q: %d requests more", transport, requests-asked)
			} else {
				asked = requests
			}
		}
		if status := server.Status(); status.State != LoginNeeded || status.LastError != want || status.NextTry != 0 {
			t.Errorf("transport %q: status %+v", transport, status)
		}
		w.put("t1", "l1")
		if err := call(t.Context(), server, "x"); err != nil {
			t.Errorf("transport %q: after the login: %v", transport, err)
		}
		if status := server.Status(); status.State != Ready || status.LastError != "" || server.NeedsLogin(nil) != nil {
			t.Errorf("transport %q: status %+v", transport, status)
		}
	}
}

func readBody(r *http.Request) string {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	return string(body)
}

// TestLoginIsNoticed: a server that waits for a login is started when it is there, and clients are told of its tools.
func TestLoginIsNoticed(t *testing.T) {
	h := newHub(t, needsToken(streamableHandler(), "", "t1"))
	w, manager := newWallet(t, h.URL)
	told := make(chan string, 1)
	_, server := remoteRig(t, h.URL, "", nil, Options{
		OAuth:        manager,
		ToolsChanged: func(box string, _ Scope) { told <- box },
	})
	server.StartInBackground()
	eventually(t, "the state", func() bool { return server.Status().State == LoginNeeded })
	w.put("wrong", "l0")
	eventually(t, "another try", func() bool { return h.requests.Load() == 2 })
	eventually(t, "the state", func() bool { return server.Status().State == LoginNeeded })
	w.put("t1", "l1")
	if box := <-told; box != "T" {
		t.Errorf("the tools of %q changed", box)
	}
	if server.Status().State != Ready {
		t.Errorf("status %+v", server.Status())
	}
}

// TestLoginNeededInTheMiddle: a server that needs a login for calls only keeps its session.
func TestLoginNeededInTheMiddle(t *testing.T) {
	_, w, _, server := loginRig(t, needsToken(streamableHandler(), "tools/call", "t1", "t2"), "")
	for range 2 {
		err := call(t.Context(), server, "x")
		if _, ok := errors.AsType[*LoginNeededError](err); !ok {
			t.Fatalf("got %v", err)
		}
	}
	if status := server.Status(); status.State != LoginNeeded || status.Uptime == 0 || status.Restarts != 0 {
		t.Errorf("status %+v", status)
	}
	w.put("t1", "l1")
	if err := call(t.Context(), server, "x"); err != nil {
		t.Errorf("after the login: %v", err)
	}
	if status := server.Status(); status.State != Ready || status.Restarts != 1 {
		t.Errorf("with another login, it needs another session: %+v", status)
	}
	w.put("t2", "l1")
	if err := call(t.Context(), server, "x"); err != nil || server.Status().Restarts != 1 {
		t.Errorf("a refresh needs no other session: %v, %+v", err, server.Status())
	}
}

// TestRefusedScopesAreNoState: other calls work, so that the server is ready.
func TestRefusedScopesAreNoState(t *testing.T) {
	inner := streamableHandler()
	_, _, _, server := loginRig(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(readBody(r), "tools/call") {
			w.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="write"`)
			w.WriteHeader(http.StatusForbidden)
			return
		}
		inner.ServeHTTP(w, r)
	}), "")
	err := call(t.Context(), server, "x")
	if needed, ok := errors.AsType[*LoginNeededError](err); !ok || needed.Err.Scopes == nil {
		t.Errorf("got %v", err)
	}
	if server.Status().State != Ready {
		t.Errorf("status %+v", server.Status())
	}
}

// TestOtherLoginBeginsAnotherSession, when the calls of the old one have ended.
func TestOtherLoginBeginsAnotherSession(t *testing.T) {
	_, w, _, server := loginRig(t, needsToken(streamableHandler(), "", "t1", "t2"), "")
	w.put("t1", "l1")
	old, err := server.Lease(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w.put("t2", "l2")
	eventually(t, "another session", func() bool {
		next, err := server.Lease(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer next.Release()
		return next.Session != old.Session
	})
	if old.Session.Err() != nil {
		t.Errorf("the old session ended with a call: %v", old.Session.Err())
	}
	old.Release()
	<-old.Session.Done()
	if status := server.Status(); status.Restarts != 1 || status.State != Ready {
		t.Errorf("status %+v", status)
	}
}

func TestAdviceNamesWhatHelps(t *testing.T) {
	for want, err := range map[string]*downstream.LoginError{
		"login needed: R; run: mcp-workbench login T/S":    {Reason: "R"},
		"R; another login would not help: ask those who":   {Reason: "R", Final: true},
		`put it into the server's 'headers', such as {"Au`: {Reason: "R", Unchallenged: true},
	} {
		if got := (&LoginNeededError{Toolbox: "T", Server: "S", Err: err}).Error(); !strings.Contains(got, want) {
			t.Errorf("got %s", got)
		}
	}
	if got := (&LoginNeededError{Toolbox: "my box", Server: "S"}).Command(); got != "mcp-workbench login 'my box/S'" {
		t.Errorf("got %s", got)
	}
}

// TestLoginIsShared by all who need it at the same time.
func TestLoginIsShared(t *testing.T) {
	provider := oauthtest.Start(t, oauthtest.Options{})
	w, manager := newWallet(t, provider.URL())
	_, server := remoteRig(t, provider.URL(), "", nil, Options{OAuth: manager})
	_, err := server.Lease(t.Context())
	needed, ok := errors.AsType[*LoginNeededError](err)
	if !ok {
		t.Fatal(err)
	}
	begin := func() *Login {
		login, err := needed.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return login
	}
	first, second := begin(), begin()
	if first.Page() != second.Page() {
		t.Errorf("there are two pages: %s %s", first.Page(), second.Page())
	}
	first.Close()
	visit(t, second.Page())
	if <-second.Done(); second.Err() != nil {
		t.Errorf("it ended although somebody waited for it: %v", second.Err())
	}
	second.Close()
	provider.EndLogins()
	abandoned := begin()
	abandoned.Close()
	third := begin() // waits until the port is free
	if third.Page() == abandoned.Page() || hostOf(third.Page()) != hostOf(abandoned.Page()) {
		t.Errorf("the pages were %s and %s", abandoned.Page(), third.Page())
	}
	provider.Change(func(o *oauthtest.Options) { o.Consent = "deny" })
	visit(t, third.Page())
	if <-third.Done(); third.Err() == nil {
		t.Error("nobody agreed")
	}
	third.Close()
	provider.Change(func(o *oauthtest.Options) { o.Consent = "" })
	fourth := begin()
	logInElsewhere(t, w, provider.URL())
	if <-fourth.Done(); fourth.Err() != nil {
		t.Errorf("got %v", fourth.Err())
	}
	fourth.Close()
	fifth := begin()
	defer fifth.Close()
	visit(t, fifth.Page())
	if <-fifth.Done(); fifth.Err() != nil {
		t.Errorf("got %v", fifth.Err())
	}
	if err := call(t.Context(), server, "echo"); err != nil {
		t.Error(err)
	}
}

// logInElsewhere logs in as another process does.
func logInElsewhere(t *testing.T, w *wallet, address string) {
	t.Helper()
	manager := oauth.New(oauth.Options{Store: w.store})
	defer manager.Close()
	attempt, err := manager.For(oauth.Server{URL: address}).Begin(t.Context(), oauth.LoginOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer attempt.Close()
	visit(t, attempt.Page())
	if _, err := attempt.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func hostOf(address string) string {
	u, _ := url.Parse(address)
	return u.Host
}

// visit is what a person does with the page of a login.
func visit(t *testing.T, page string) {
	t.Helper()
	if _, err := new(oauthtest.Person).Visit(page); err != nil {
		t.Error(err)
	}
}

// TestAccountsAreApart: clients whose configuration names another account do not share a session or what is remembered of it.
func TestAccountsAreApart(t *testing.T) {
	_, _, r, server := loginRig(t, streamableHandler(), "")
	theirs := *r.table.Load().config
	other := theirs.Toolboxes[0].Servers[0]
	other.OAuth = &config.OAuth{Account: "work"}
	theirs.Toolboxes = []config.Toolbox{{Name: "T", Servers: []config.Server{other}}}
	e := r.NewEnvironment(r.options.Environ, &theirs, nil)
	defer e.Close()
	profile := NewClientProfile(ProfileOptions{Environment: e})
	defer profile.Close()
	variant := server.For(profile)
	if variant == server || variant.signIn == server.signIn || variant.copyKey() == server.copyKey() {
		t.Error("they share the session, the login or the catalogue")
	}
	same := NewClientProfile(ProfileOptions{Capabilities: []byte(`{"sampling":{}}`)})
	defer same.Close()
	if variant := server.For(same); variant == server || variant.signIn != server.signIn {
		t.Error("a variant for other reasons has another login")
	}
}

func TestTokensAreHidden(t *testing.T) {
	_, _, r, _ := loginRig(t, streamableHandler(), "")
	r.Hide("hunter2hunter2", "")
	r.Apply(r.table.Load().config) // which does not forget it
	if got := r.cleanServerText("x hunter2hunter2"); strings.Contains(got, "hunter") {
		t.Errorf("got %s", got)
	}
}

// TestLoginCostsNothing: a lease of a server with a login allocates nothing, as one of any other.
func TestLoginCostsNothing(t *testing.T) {
	_, w, _, server := loginRig(t, needsToken(streamableHandler(), "", "t1"), "")
	w.put("t1", "l1")
	if err := call(t.Context(), server, "x"); err != nil {
		t.Fatal(err)
	}
	if allocations := testing.AllocsPerRun(10_000, func() { server.tryLease("").Release() }); allocations > 0 {
		t.Errorf("a lease makes %v allocations", allocations)
	}
}

// An authorization server that gives long tokens all the time does not take ever more memory and time.
func TestHiddenTokensAreBounded(t *testing.T) {
	_, _, r, _ := loginRig(t, streamableHandler(), "")
	for i := range 150 {
		r.Hide(fmt.Sprintf("%03d", i) + strings.Repeat("x", 20_000))
	}
	size := 0
	for _, token := range r.tokens {
		size += len(token)
	}
	if size > maxTokenBytes || len(r.tokens) == 0 || !strings.HasPrefix(r.tokens[len(r.tokens)-1], "149") {
		t.Errorf("%d tokens, %d bytes", len(r.tokens), size)
	}
	var short []string
	for i := range maxTokens + 10 {
		short = append(short, fmt.Sprintf("short%03d", i))
	}
	r.Hide(short...)
	if len(r.tokens) != maxTokens {
		t.Errorf("%d tokens", len(r.tokens))
	}
}

// TestLogoutIsSeen: those who look at a server are told that its login is gone, before a call finds it out.
func TestLogoutIsSeen(t *testing.T) {
	_, w, _, server := loginRig(t, needsToken(streamableHandler(), "", "t1", "t2"), "")
	w.put("t1", "l1")
	if err := call(t.Context(), server, "x"); err != nil {
		t.Fatal(err)
	}
	if status := server.Status(); status.State != Ready || server.NeedsLogin(nil) != nil {
		t.Errorf("status %+v", status)
	}
	w.put("", "")
	const want = "login needed: the login was removed; run: mcp-workbench login T/S"
	if status := server.Status(); status.State != LoginNeeded || status.LastError != want {
		t.Errorf("after the logout: status %+v", status)
	}
	if needed := server.NeedsLogin(nil); needed == nil || needed.Error() != want {
		t.Errorf("after the logout: %v", needed)
	}
	w.put("t2", "l2")
	if status := server.Status(); status.State != Ready || status.LastError != "" || server.NeedsLogin(nil) != nil {
		t.Errorf("after another login: status %+v", status)
	}
}
