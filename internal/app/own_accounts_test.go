//go:build unix

package app

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/access/connect"
	"github.com/mcp-workbench/mcp-workbench/internal/access/httpauth"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/test/oauthtest"
)

// ownAccounts is a workbench with its whole HTTP handler, an identity provider, and a server at which each person has an account.
type ownAccounts struct {
	t        *testing.T
	app      *App
	issuer   *oauthtest.Issuer
	server   *oauthtest.Provider
	base     string
	own      string // a token of the workbench
	received *below // what the server got
	tokens   []string
	stateDir string
	log      *below
	stop     func()
}

func newOwnAccounts(t *testing.T) *ownAccounts {
	t.Helper()
	o := &ownAccounts{t: t, issuer: oauthtest.StartIssuer(t), received: new(below), stateDir: t.TempDir(), log: new(below)}
	o.server = oauthtest.Start(t, oauthtest.Options{
		ServerLog: o.received, Log: o.received,
		Spec: []byte(`{"era":"both","tools":[{"name":"run","description":"Runs what is wanted","inputSchema":{}}]}`),
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	o.base = "http://" + listener.Addr().String()
	resource := o.base + "/mcp"
	o.issuer.SetSignIn(oauthtest.SignIn{ClientID: "pages", ClientSecret: "secret-of-the-pages", RedirectURI: connect.ProviderRedirectURI(resource), SendsIssuer: true})
	cfg := &config.Config{
		Path: "f", MaxMessageSize: 8 << 20, Discovery: config.Discovery{Search: true, AutoOpen: true}, Audit: config.Audit{On: true}, Prefetch: true,
		HTTP: config.HTTP{
			SessionIdle: time.Hour, ClientIdle: time.Hour,
			OAuth: &config.HTTPOAuth{
				Resource: resource, Issuer: o.issuer.URL(), Claim: "scope", Toolboxes: []config.ToolboxGrant{{Value: "mcp:dev", Toolboxes: []string{"T"}}},
				ClientID: "pages", ClientSecret: "secret-of-the-pages",
			},
		},
		Toolboxes: []config.Toolbox{{Name: "T", Description: "for tests", File: "f", Servers: []config.Server{{
			Name: "crm", URL: o.server.URL(), Timeouts: config.Timeouts{Connect: patience, Call: patience}, OAuth: &config.OAuth{Accounts: config.AccountsPerPerson},
		}}}},
	}
	o.app, err = New(Options{Config: cfg, Version: "1", StateDir: o.stateDir, Environ: os.Environ(), Log: slog.New(slog.NewTextHandler(o.log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	if err != nil {
		t.Fatal(err)
	}
	store, err := httpauth.Open(filepath.Join(t.TempDir(), httpauth.FileName))
	if err != nil {
		t.Fatal(err)
	}
	if o.own, err = store.Create(httpauth.Grant{Name: "ci"}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- o.app.ServeHTTP(ctx, listener, HTTPOptions{Tokens: store}) }()
	o.stop = sync.OnceFunc(func() {
		http.DefaultClient.CloseIdleConnections()
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
		if err := o.app.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(o.stop)
	return o
}

// tokenOf returns an access token of a person for the workbench.
func (o *ownAccounts) tokenOf(subject string) string {
	token := o.issuer.Token(map[string]any{
		"sub": subject, "aud": o.base + "/mcp", "scope": "mcp:dev", "client_id": "c", "iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix(), "jti": subject,
	})
	o.tokens = append(o.tokens, token)
	return token
}

// caller is an MCP client over HTTP.
type caller struct {
	o              *ownAccounts
	token, session string
	id             int
}

func (c *caller) post(body string, more ...string) *http.Response {
	c.o.t.Helper()
	request, err := http.NewRequestWithContext(c.o.t.Context(), http.MethodPost, c.o.base+"/mcp", strings.NewReader(body))
	if err != nil {
		c.o.t.Fatal(err)
	}
	for _, pair := range [][2]string{{"Authorization", "Bearer " + c.token}, {"Content-Type", "application/json"}, {"Accept", "application/json, text/event-stream"}} {
		request.Header.Set(pair[0], pair[1])
	}
	if c.session != "" {
		request.Header.Set("Mcp-Session-Id", c.session)
	}
	for i := 0; i < len(more); i += 2 {
		request.Header.Set(more[i], more[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		c.o.t.Fatal(err)
	}
	if response.StatusCode >= 300 {
		c.o.t.Fatalf("%s: %s", body, response.Status)
	}
	return response
}

func (o *ownAccounts) begin(token, capabilities string) *caller {
	c := &caller{o: o, token: token}
	response := c.post(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":` + capabilities + `,"clientInfo":{"name":"c","version":"1"}}}`)
	_, _ = io.Copy(io.Discard, response.Body)
	response.Body.Close()
	c.session = response.Header.Get("Mcp-Session-Id")
	return c
}

// message is what a client gets.
type message struct {
	ID     json.RawMessage
	Method string
	Params struct{ URL, Message string }
	Result struct {
		IsError       bool
		Content       []struct{ Text string }
		ResultType    string
		RequestState  string
		InputRequests map[string]struct{ Params struct{ URL string } }
	}
}

func (m message) text() string {
	var all strings.Builder
	for _, content := range m.Result.Content {
		all.WriteString(content.Text + "\n")
	}
	return all.String()
}

// call calls a meta-tool. Asked gets what the workbench asks meanwhile.
func (c *caller) call(tool, arguments string, asked func(message)) message {
	c.o.t.Helper()
	c.id++
	return c.read(c.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, c.id, tool, arguments)), asked) //nolint:bodyclose // read closes it
}

func (c *caller) read(response *http.Response, asked func(message)) (last message) {
	c.o.t.Helper()
	defer response.Body.Close()
	if strings.HasPrefix(response.Header.Get("Content-Type"), "application/json") {
		if err := json.NewDecoder(response.Body).Decode(&last); err != nil {
			c.o.t.Fatal(err)
		}
		return last
	}
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data:"))
		if !ok || len(bytes.TrimSpace(data)) == 0 {
			continue
		}
		var next message
		if err := json.Unmarshal(data, &next); err != nil {
			c.o.t.Fatal(err)
		}
		if next.Method == "" {
			return next
		}
		if asked != nil {
			asked(next)
		}
	}
	c.o.t.Fatal("there is no answer")
	return last
}

const useRun = `{"tool":{"toolbox":"T","server":"crm","name":"run"}}`

// modern calls the tool as a client of the modern era, with further members of the params.
func (c *caller) modern(more string) message {
	c.o.t.Helper()
	c.id++
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"url":{}}}}`
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"use_tool","arguments":%s,%s%s}}`, c.id, useRun, more, meta)
	return c.read(c.post(body, "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "use_tool"), nil) //nolint:bodyclose // read closes it
}

func (o *ownAccounts) visit(subject, address string) *oauthtest.Page {
	o.t.Helper()
	page, err := (&oauthtest.Person{Answers: map[string]string{"login": subject}}).Visit(address)
	if err != nil {
		o.t.Fatal(err)
	}
	return page
}

var linkIn = regexp.MustCompile(`http://127\.0\.0\.1:\d+/connect/\w+`)

// TestPeopleLinkTheirAccounts, from the first call to the server's account, as each kind of client does it. No token of a
// client reaches the server or its authorization server.
func TestPeopleLinkTheirAccounts(t *testing.T) {
	o := newOwnAccounts(t)

	// A client that shows no pages has the link in the text.
	ann := o.begin(o.tokenOf("ann"), `{}`)
	opened := ann.call("open_toolbox", `{"toolbox":"T"}`, nil)
	if !opened.Result.IsError || !linkIn.MatchString(opened.text()) || !strings.Contains(opened.text(), "Give the user this address") {
		t.Errorf("open_toolbox: %s", opened.text())
	}
	if found := ann.call("find_tools", `{"query":"run"}`, nil); !strings.Contains(found.text(), "login needed: you have not signed in to it yet") || linkIn.MatchString(found.text()) {
		t.Errorf("find_tools: %s", found.text())
	}
	refused := ann.call("use_tool", useRun, nil)
	link := linkIn.FindString(refused.text())
	if !refused.Result.IsError || !strings.Contains(refused.text(), "nothing was run: ") || link == "" || link != linkIn.FindString(opened.text()) {
		t.Fatalf("the first call: %s", refused.text())
	}
	if n := o.server.Count(oauthtest.MCP); n != 0 {
		t.Errorf("the server was asked %d times before anybody signed in", n)
	}
	if page := o.visit("ann", link); page.Status != http.StatusOK || !strings.Contains(page.Body, "You are signed in") {
		t.Fatalf("%d %s", page.Status, page.Body)
	}
	if again := ann.call("use_tool", useRun, nil); again.Result.IsError {
		t.Errorf("the call after the login: %s", again.text())
	}
	if opened := ann.call("open_toolbox", `{"toolbox":"T"}`, nil); !strings.Contains(opened.text(), `"Runs what is wanted"`) {
		t.Errorf("open_toolbox after the login: %s", opened.text())
	}

	// One of the legacy era that shows pages is asked within the call.
	bob := o.begin(o.tokenOf("bob"), `{"elicitation":{"url":{}}}`)
	answer := bob.call("use_tool", useRun, func(question message) {
		if question.Method != "elicitation/create" {
			return
		}
		bob.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept"}}`, question.ID)).Body.Close()
		if page := o.visit("bob", question.Params.URL); page.Status != http.StatusOK {
			t.Errorf("%d %s", page.Status, page.Body)
		}
	})
	if answer.Result.IsError {
		t.Errorf("bob's call: %s", answer.text())
	}

	// One of the modern era gets the question as the result, and comes back.
	cleo := &caller{o: o, token: o.tokenOf("cleo")}
	asked := cleo.modern("")
	if asked.Result.ResultType != "input_required" || len(asked.Result.InputRequests) != 1 {
		t.Fatalf("got %+v", asked)
	}
	for id, request := range asked.Result.InputRequests {
		if page := o.visit("cleo", request.Params.URL); page.Status != http.StatusOK {
			t.Errorf("%d %s", page.Status, page.Body)
		}
		if done := cleo.modern(fmt.Sprintf(`"requestState":%q,"inputResponses":{%q:{"action":"accept"}},`, asked.Result.RequestState, id)); done.Result.IsError || done.Result.ResultType != "complete" {
			t.Errorf("cleo's call: %+v", done)
		}
	}

	// Whoever is no person is told why.
	ci := o.begin(o.own, `{"elicitation":{"url":{}}}`)
	if refused := ci.call("use_tool", useRun, nil); !refused.Result.IsError || !strings.Contains(refused.text(), "the token 'ci' of the workbench belongs to no person") || linkIn.MatchString(refused.text()) {
		t.Errorf("a token: %s", refused.text())
	}
	o.stop()
	o.checkTraces()
}

// checkTraces checks what the server got, and what was logged and audited.
func (o *ownAccounts) checkTraces() {
	access := make(map[string]bool)
	for _, event := range o.server.Events(oauthtest.MCP) {
		if event.Tool != "" {
			access[event.Access] = true
		}
		if event.Access == "" && event.Status == http.StatusOK {
			o.t.Errorf("the server was used without a token: %+v", event)
		}
	}
	if len(access) != 3 || access[""] || o.server.Count(oauthtest.Register) != 1 {
		o.t.Errorf("three people called with the tokens %v, the workbench was registered %d times", access, o.server.Count(oauthtest.Register))
	}
	audited, err := os.ReadFile(filepath.Join(o.stateDir, "audit", "audit-000001.jsonl"))
	if err != nil {
		o.t.Fatal(err)
	}
	for _, who := range []string{"ann", "bob", "cleo"} {
		if !regexp.MustCompile(`"event":"login".*"outcome":"ok".*"person":"` + who + `"`).Match(audited) {
			o.t.Errorf("the login of %s is not in the audit log:\n%s", who, audited)
		}
	}
	for where, text := range map[string]string{"the server": o.received.text(), "the log": o.log.text(), "the audit log": string(audited)} {
		for _, secret := range append(o.tokens, "secret-of-the-pages") {
			for part := range strings.SplitSeq(secret, ".") {
				if strings.Contains(text, part) {
					o.t.Errorf("%s got a token or a secret", where)
				}
			}
		}
		for _, token := range o.tokens {
			if strings.Contains(text, oauthtest.Hash(token)) {
				o.t.Errorf("%s got the token of a person", where)
			}
		}
		if where != "the server" && linkIn.MatchString(text) {
			o.t.Errorf("%s has a link", where)
		}
	}
}

// TestStrangersLink: nothing is linked, and the audit log says who opened it.
func TestStrangersLink(t *testing.T) {
	o := newOwnAccounts(t)
	ann := o.begin(o.tokenOf("ann"), `{}`)
	link := linkIn.FindString(ann.call("use_tool", useRun, nil).text())
	if page := o.visit("eve", link); page.Status != http.StatusForbidden {
		t.Errorf("%d %s", page.Status, page.Body)
	}
	for _, who := range []string{"ann", "eve"} {
		if refused := o.begin(o.tokenOf(who), `{}`).call("use_tool", useRun, nil); !refused.Result.IsError || linkIn.FindString(refused.text()) == link {
			t.Errorf("%s: %s", who, refused.text())
		}
	}
	o.stop()
	audited, err := os.ReadFile(filepath.Join(o.stateDir, "audit", "audit-000001.jsonl"))
	if err != nil || !regexp.MustCompile(`"event":"login".*"outcome":"failed".*"person":"ann","opened_by":"eve"`).Match(audited) {
		t.Errorf("%v\n%s", err, audited)
	}
}

// TestPagesWithoutAToken: browsers reach the pages without one, from other sites, at the host of the workbench only, and
// nothing else.
func TestPagesWithoutAToken(t *testing.T) {
	o := newOwnAccounts(t)
	for _, test := range []struct {
		path, host string
		status     int
	}{
		{"/connect/unknown", "", http.StatusNotFound},
		{"/connect/callback?state=x&code=y", "", http.StatusBadRequest},
		{"/connect/unknown", "evil.example", http.StatusForbidden},
		{"/mcp", "", http.StatusForbidden},
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, o.base+test.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Host = test.host
		for name, value := range map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"} {
			request.Header.Set(name, value)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != test.status {
			t.Errorf("%+v: %s", test, response.Status)
		}
	}
}
