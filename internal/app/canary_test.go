//go:build unix

package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/access/httpauth"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
	"github.com/mcp-workbench/mcp-workbench/test/oauthtest"
	"github.com/mcp-workbench/mcp-workbench/test/selfserver"
)

// below is what servers below get: every byte.
type below struct {
	mu  sync.Mutex
	got bytes.Buffer
}

func (b *below) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.got.Write(p)
}

func (b *below) text() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.got.String()
}

// serve serves an MCP server over HTTP whose requests are kept, and returns its address.
func (b *below) serve(t *testing.T, spec string, isSSE bool) string {
	t.Helper()
	server, err := mcptest.Parse([]byte(spec))
	if err != nil {
		t.Fatal(err)
	}
	server.Log = b
	server.Gate = func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			dump, err := httputil.DumpRequest(r, true)
			if err != nil {
				t.Error(err)
			}
			_, _ = b.Write(dump)
			next.ServeHTTP(w, r)
		})
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	serve, path := server.ServeStreamable, "/mcp"
	if isSSE {
		serve, path = server.ServeSSE, "/sse"
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = serve(listener)
	}()
	t.Cleanup(func() {
		_ = listener.Close()
		<-ended
	})
	return "http://" + listener.Addr().String() + path
}

// canaries are headers that a client, a browser or a proxy may send, each with a value of its own. Those that lead to a refusal
// are left out.
func canaries() http.Header {
	header := make(http.Header)
	for _, name := range []string{
		"Cookie", "Proxy-Authorization", "X-Api-Key", "X-Forwarded-For", "X-Forwarded-Access-Token", "X-Auth-Request-User", "Forwarded", "Via", "X-Real-Ip", "User-Agent",
		"Referer", "Dpop", "Accept-Language", "X-Anything", "Traceparent", "Tracestate", "Baggage", "X-Request-Id", "Mcp-Anything",
	} {
		header.Set(name, "canary-"+strings.ToLower(name))
	}
	return header
}

const canarySpec = `{"era":"both","env":["PATH"],"tools":[{"name":"run","inputSchema":{}}],"on":{"resources/list":[{"result":{"resources":[{"uri":"x://a","name":"a"}]}}],
	"resources/read":[{"result":{"contents":[]}}],"prompts/list":[{"result":{"prompts":[{"name":"p"}]}}],"prompts/get":[{"result":{"messages":[]}}]}}`

// No token and no header of a client reaches a server, whatever it came with, in whichever era, and however the server is reached.
func TestNothingOfAClientReachesServers(t *testing.T) {
	provider := oauthtest.Start(t, oauthtest.Options{})
	seen := new(below)
	folder := t.TempDir()
	remote := func(name, address, transport string) config.Server {
		return config.Server{Name: name, URL: address, Transport: transport, Timeouts: config.Timeouts{Connect: patience, Call: patience}}
	}
	const resource = "https://mcp.example.com/mcp"
	cfg := &config.Config{
		Path: "f", MaxMessageSize: 8 << 20, Discovery: config.Discovery{Search: true},
		HTTP: config.HTTP{
			SessionIdle: time.Hour, ClientIdle: time.Hour,
			OAuth: &config.HTTPOAuth{Resource: resource, Issuer: provider.Issuer(), Claim: "scope", Toolboxes: []config.ToolboxGrant{{Value: "mcp:dev", Toolboxes: []string{"T"}}}},
		},
		Toolboxes: []config.Toolbox{{Name: "T", Description: "for tests", File: "f", Servers: []config.Server{
			remote("http", seen.serve(t, canarySpec, false), "http"), remote("sse", seen.serve(t, canarySpec, true), "sse"), selfserver.New(t, folder, "stdio", canarySpec),
		}}},
	}
	a, err := New(Options{Config: cfg, Version: "1", StateDir: t.TempDir(), Environ: os.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := httpauth.Open(filepath.Join(t.TempDir(), httpauth.FileName))
	if err != nil {
		t.Fatal(err)
	}
	own, err := tokens.Create(httpauth.Grant{Name: "ci"})
	if err != nil {
		t.Fatal(err)
	}
	persons, err := provider.Mint(oauthtest.Mint{Subject: "canary-subject", Audience: []string{resource}, Scope: "mcp:dev", Claims: map[string]json.RawMessage{"name": json.RawMessage(`"canary-name"`)}})
	if err != nil {
		t.Fatal(err)
	}
	address, stop := serveApp(t, a, tokens)
	for _, token := range []string{own, persons} {
		header := canaries()
		header.Set("Authorization", "Bearer "+token)
		useEverything(t, address, header)
	}
	stop()
	if err := a.Stop(context.Background()); err != nil {
		t.Error(err)
	}
	log, err := os.ReadFile(filepath.Join(folder, "stdio.log"))
	if err != nil {
		t.Fatal(err)
	}
	got := seen.text() + string(log)
	for _, server := range []string{"POST /mcp", "GET /sse", "env PATH="} {
		if !strings.Contains(got, server) {
			t.Fatalf("a server was not reached: there is no %q in\n%.3000s", server, got)
		}
	}
	if calls := strings.Count(got, `"method":"tools/call"`); calls < 12 {
		t.Errorf("servers got %d calls", calls)
	}
	parts := strings.Split(persons, ".")
	for _, canary := range []string{"canary", own, parts[0], parts[1], parts[2], "Bearer", "Authorization"} {
		if at := strings.Index(strings.ToLower(got), strings.ToLower(canary)); at >= 0 {
			t.Errorf("a server got %q:\n…%s…", canary, got[max(0, at-300):min(len(got), at+200)])
		}
	}
}

// serveApp serves the clients of a workbench over HTTP until stop.
func serveApp(t *testing.T, a *App, tokens *httpauth.Store) (address string, stop func()) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- a.ServeHTTP(ctx, listener, HTTPOptions{Tokens: tokens}) }()
	return "http://" + listener.Addr().String() + "/mcp", func() {
		http.DefaultClient.CloseIdleConnections()
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	}
}

// useEverything sends what clients send, in both eras, with the headers.
func useEverything(t *testing.T, address string, header http.Header) {
	t.Helper()
	send := func(verb, body string, more ...string) (answered http.Header) {
		request, err := http.NewRequestWithContext(t.Context(), verb, address, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header = header.Clone()
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Accept", "application/json, text/event-stream")
		for i := 0; i < len(more); i += 2 {
			request.Header.Set(more[i], more[i+1])
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(response.Body)
		response.Body.Close()
		if response.StatusCode >= 300 || strings.Contains(string(text), `"isError":true`) {
			t.Errorf("%s %s: %s %s", verb, body, response.Status, text)
		}
		return response.Header
	}
	const info = `"clientInfo":{"name":"tester","version":"1"}`
	session := send("POST", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},`+info+`}}`).Get("Mcp-Session-Id")
	id := 1
	legacy := func(method, params string) {
		id++
		send("POST", fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, params), "Mcp-Session-Id", session)
	}
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"tester","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	modern := func(method, params, subject string) {
		id++
		send("POST", fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s%s}}`, id, method, params, meta),
			"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", method, "Mcp-Name", subject)
	}
	send("POST", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, "Mcp-Session-Id", session)
	legacy("tools/call", `{"name":"open_toolbox","arguments":{"toolbox":"T"}}`)
	for _, server := range []string{"http", "sse", "stdio"} {
		use := `"name":"use_tool","arguments":{"tool":{"toolbox":"T","server":"` + server + `","name":"run"}}`
		legacy("tools/call", `{`+use+`}`)
		modern("tools/call", use+`,`, "use_tool")
	}
	legacy("tools/list", `{}`)
	legacy("resources/list", `{}`)
	legacy("resources/read", `{"uri":"x://a"}`)
	legacy("prompts/list", `{}`)
	send("POST", `{"jsonrpc":"2.0","method":"notifications/anything","params":{}}`, "Mcp-Session-Id", session)
	modern("resources/list", ``, "")
	send("DELETE", "", "Mcp-Session-Id", session)
}
