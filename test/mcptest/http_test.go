package mcptest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// serveHTTP runs a server on a port and returns its address.
func serveHTTP(t *testing.T, transport, spec string) (address string, log *record, ended chan error) {
	t.Helper()
	server, err := Parse([]byte(spec))
	if err != nil {
		t.Fatal(err)
	}
	log = &record{}
	server.Log = log
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended = make(chan error, 1)
	over := make(chan struct{})
	go func() {
		defer close(over)
		if transport == "sse" {
			ended <- server.ServeSSE(listener)
		} else {
			ended <- server.ServeStreamable(listener)
		}
	}()
	t.Cleanup(func() { listener.Close(); <-over })
	return fmt.Sprintf("http://%s%s", listener.Addr(), paths[transport]), log, ended
}

func httpPair(t *testing.T, spec string) (*HTTPClient, *record, chan error) {
	t.Helper()
	address, log, ended := serveHTTP(t, "http", spec)
	client := NewHTTPClient(address, nil)
	t.Cleanup(client.Close)
	if _, err := client.Initialize(t.Context(), "2025-11-25"); err != nil {
		t.Fatal(err)
	}
	return client, log, ended
}

func TestHTTPSendsBytesAsGiven(t *testing.T) {
	for _, reply := range []string{"", "json", "sse"} {
		t.Run(reply, func(t *testing.T) {
			client, log, _ := httpPair(t, `{"reply": "`+reply+`",
				"calls": {"a": [{"progress": {"progress":1}}, {"result": { "z":1,  "a":12345678901234567890}}]}}`)
			const call = `{"name":"a","_meta":{"progressToken":7}}`
			answer, err := client.Request(t.Context(), "tools/call", call)
			if want := `{ "z":1,  "a":12345678901234567890}`; err != nil || string(answer.Result) != want {
				t.Fatalf("result = %s, %v; want %s", answer.Result, err, want)
			}
			progress, at, err := client.Await(t.Context(), 0, func(m Message) bool { return m.Method == "notifications/progress" })
			if want := `{"progressToken":7,"progress":1}`; err != nil || string(progress.Params) != want {
				t.Errorf("progress = %s, %v; want %s", progress.Params, err, want)
			}
			if _, last, _ := client.Await(t.Context(), 0, func(m Message) bool { return string(m.ID) == string(answer.ID) }); reply != "json" && at > last {
				t.Error("the progress came after the response")
			}
			if !strings.Contains(log.String(), "session 1\n") || strings.Contains(log.String(), "refused") {
				t.Errorf("log = %s", log)
			}
		})
	}
}

func TestHTTPCancelAndChange(t *testing.T) {
	client, log, _ := httpPair(t, `{"calls": {
		"cancel": [{"wait": "cancelled"}, {"change": [{"name":"new"}]}, {"answered": true}]}}`)
	id, _ := client.Begin("tools/call", `{"name":"cancel"}`)
	_ = client.Send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`)
	if _, _, err := client.Await(t.Context(), 0, func(m Message) bool { return m.Method == "notifications/tools/list_changed" }); err != nil {
		t.Error(err)
	}
	client.Close()
	if !strings.Contains(log.String(), "session 1 ended\n") {
		t.Errorf("log = %s", log)
	}
}

func TestHTTPAskIsOnTheStreamOfTheCall(t *testing.T) {
	client, log, _ := httpPair(t, `{"calls": {"ask": [{"ask": "roots/list"}]}}`)
	id, _ := client.Begin("tools/call", `{"name":"ask"}`)
	if _, _, err := client.Await(t.Context(), 0, func(m Message) bool { return m.Method == "roots/list" }); err != nil {
		t.Fatal(err)
	}
	if err := client.Send(`{"jsonrpc":"2.0","id":"ask-1","result":{"roots":[]}}`); err != nil {
		t.Fatal(err)
	}
	if answer, err := client.Response(t.Context(), id); err != nil || answer.Result == nil {
		t.Errorf("answer = %s, %v\n%s", answer.Raw, err, log)
	}
}

func TestHTTPExitDropsConnections(t *testing.T) {
	client, _, ended := httpPair(t, `{"calls": {"crash": [{"exit": 3}]}}`)
	answer, err := client.Request(t.Context(), "tools/call", `{"name":"crash"}`)
	if err != nil || answer.Bad == nil {
		t.Errorf("answer = %s, %v; want none", answer.Raw, err)
	}
	if exit, ok := errors.AsType[*Exit](<-ended); !ok || exit.Code != 3 {
		t.Errorf("it ended with %v", exit)
	}
}

func TestHTTPForgetsSessions(t *testing.T) {
	client, _, _ := httpPair(t, `{"calls": {"forget": [{"forget": true}]}}`)
	if _, err := client.Request(t.Context(), "tools/call", `{"name":"forget"}`); err != nil {
		t.Fatal(err)
	}
	_, _ = client.Begin("ping", "")
	if _, _, err := client.Await(t.Context(), 0, func(m Message) bool { return m.Error != nil && m.Error.Message == "Session not found" }); err != nil {
		t.Error(err)
	}
}

const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

func TestHTTPModern(t *testing.T) {
	address, log, _ := serveHTTP(t, "http", `{"era": "both", "calls": {"é": [{"wait": "cancelled"}], "change": [{"change": []}]}}`)
	client := NewHTTPClient(address, nil)
	t.Cleanup(client.Close)
	answer, err := client.Request(t.Context(), "server/discover", `{`+modernMeta+`}`)
	if err != nil || !strings.Contains(string(answer.Result), `"supportedVersions":["2026-07-28","2025-11-25"]`) {
		t.Fatalf("discover = %s, %v", answer.Raw, err)
	}
	if _, err := client.Begin("subscriptions/listen", `{`+modernMeta+`,"notifications":{"toolsListChanged":true}}`); err != nil {
		t.Fatal(err)
	}
	awaitMethod(t, client.Client, "notifications/subscriptions/acknowledged")
	if answer, err := client.Request(t.Context(), "tools/call", `{"name":"change",`+modernMeta+`}`); err != nil || answer.Result == nil {
		t.Fatalf("call = %s, %v", answer.Raw, err)
	}
	awaitMethod(t, client.Client, "notifications/tools/list_changed")
	if answer, err := client.Request(t.Context(), "no/such", `{`+modernMeta+`}`); err != nil || answer.Error == nil || answer.Error.Code != -32601 {
		t.Errorf("unknown method = %s, %v", answer.Raw, err)
	}
	closedCall(t, address)
	if strings.Contains(log.String(), "refused") {
		t.Errorf("log = %s", log)
	}
}

func awaitMethod(t *testing.T, client *Client, method string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if _, _, err := client.Await(ctx, 0, func(m Message) bool { return m.Method == method }); err != nil {
		t.Fatal(err)
	}
}

// closedCall closes the connection of a call, which ends it: the server's clean-up would
// otherwise wait for it.
func closedCall(t *testing.T, address string) {
	t.Helper()
	client := NewHTTPClient(address, nil)
	if _, err := client.Begin("tools/call", `{"name":"é",`+modernMeta+`}`); err != nil {
		t.Fatal(err)
	}
	client.Close()
}

func TestHTTPRefuses(t *testing.T) {
	address, _, _ := serveHTTP(t, "http", `{"era": "both"}`)
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	modern := `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + modernMeta + `}}`
	both := "application/json, text/event-stream"
	for _, test := range []struct {
		name, body string
		header     map[string]string
		status     int
		text       string
	}{
		{"content type", ping, map[string]string{"Content-Type": "text/plain", "Accept": both}, 415, ""},
		{"accept", ping, map[string]string{"Accept": "application/json"}, 406, ""},
		{"no session", ping, map[string]string{"Accept": both}, 400, "Mcp-Session-Id"},
		{"unknown session", ping, map[string]string{"Accept": both, "Mcp-Session-Id": "7"}, 404, "not found"},
		{"modern without headers", modern, map[string]string{"Accept": both}, 400, "-32020"},
		{"another method", modern, map[string]string{"Accept": both, "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "ping"}, 400, "-32020"},
	} {
		t.Run(test.name, func(t *testing.T) {
			request, _ := http.NewRequest(http.MethodPost, address, strings.NewReader(test.body))
			request.Header.Set("Content-Type", "application/json")
			for name, value := range test.header {
				request.Header.Set(name, value)
			}
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			text, _ := io.ReadAll(response.Body)
			if response.StatusCode != test.status || !strings.Contains(string(text), test.text) {
				t.Errorf("%s %s; want %d with %s", response.Status, text, test.status, test.text)
			}
		})
	}
}

// TestFakeWithGoSDKClient shows that the fake is a server to others, too.
func TestFakeWithGoSDKClient(t *testing.T) {
	const spec = `{"era": "both", "tools": [{"name":"count","inputSchema":{"type":"object"}}],
		"calls": {"count": [{"progress": {"progress":1}}, {"change": []}, {"result": {"content":[{"type":"text","text":"done"}]}}]}}`
	for name, revision := range map[string]string{"http": "2025-11-25", "sse": "2024-11-05", "modern": "2026-07-28"} {
		t.Run(name, func(t *testing.T) {
			kind := strings.Replace(name, "modern", "http", 1)
			address, log, _ := serveHTTP(t, kind, spec)
			var transport mcp.Transport = &mcp.StreamableClientTransport{Endpoint: address}
			if kind == "sse" {
				transport = &mcp.SSEClientTransport{Endpoint: address}
			}
			told := make(chan string, 10)
			client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
				ProgressNotificationHandler: func(context.Context, *mcp.ProgressNotificationClientRequest) { told <- "progress" },
			})
			session, err := client.Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: revision})
			if err != nil {
				t.Fatalf("%v\n%s", err, log)
			}
			defer session.Close()
			params := &mcp.CallToolParams{Name: "count"}
			params.SetProgressToken("token")
			result, err := session.CallTool(t.Context(), params)
			if err != nil || len(result.Content) != 1 {
				t.Fatalf("%+v, %v\n%s", result, err, log)
			}
			if got := <-told; got != "progress" || strings.Contains(log.String(), "refused") {
				t.Errorf("told %s\n%s", got, log)
			}
		})
	}
}

// TestClientWithGoSDKServer shows that the client is one to others, too.
func TestClientWithGoSDKServer(t *testing.T) {
	for _, plain := range []bool{false, true} {
		server := mcp.NewServer(&mcp.Implementation{Name: "sdk", Version: "1"}, nil)
		mcp.AddTool(server, &mcp.Tool{Name: "grow"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			server.AddTool(&mcp.Tool{Name: "grown", InputSchema: json.RawMessage(`{"type":"object"}`)}, nil)
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "done"}}}, nil, nil
		})
		handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{JSONResponse: plain})
		site := httptest.NewServer(handler)
		client := NewHTTPClient(site.URL, nil)
		if _, err := client.Initialize(t.Context(), "2025-11-25"); err != nil {
			t.Fatal(err)
		}
		answer, err := client.Request(t.Context(), "tools/call", `{"name":"grow","arguments":{}}`)
		if err != nil || !strings.Contains(string(answer.Result), "done") {
			t.Errorf("answer = %s, %v, %v", answer.Raw, answer.Bad, err)
		}
		awaitMethod(t, client.Client, "notifications/tools/list_changed")
		client.Close()
		site.Close()
	}
}
