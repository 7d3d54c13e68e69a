package e2e

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// This file is about servers of go-sdk that the workbench reaches over HTTP.

// remoteGoSDK serves on both transports, of which the workbench finds out the right one.
func remoteGoSDK(t *testing.T, revision string, handler func(func(*http.Request) *mcp.Server) http.Handler) server {
	t.Helper()
	shared := newGoSDK(revision)
	site := httptest.NewServer(handler(func(*http.Request) *mcp.Server { return shared }))
	t.Cleanup(func() {
		site.CloseClientConnections()
		site.Close()
	})
	return server{name: "gosdk", url: site.URL + "/mcp"}
}

func overStreamable(options *mcp.StreamableHTTPOptions) func(func(*http.Request) *mcp.Server) http.Handler {
	return func(get func(*http.Request) *mcp.Server) http.Handler {
		return mcp.NewStreamableHTTPHandler(get, options)
	}
}

func overSSE(get func(*http.Request) *mcp.Server) http.Handler { return mcp.NewSSEHandler(get, nil) }

func TestRemoteGoSDKServers(t *testing.T) {
	for _, test := range []struct {
		name, revision string
		handler        func(func(*http.Request) *mcp.Server) http.Handler
		changes        bool // can tell that its tools changed
	}{
		{"streamable", newest, overStreamable(nil), true},
		{"streamable, JSON answers", newest, overStreamable(&mcp.StreamableHTTPOptions{JSONResponse: true}), true},
		{"streamable, without sessions", newest, overStreamable(&mcp.StreamableHTTPOptions{Stateless: true}), false},
		{"streamable, resumable", newest, overStreamable(&mcp.StreamableHTTPOptions{EventStore: mcp.NewMemoryEventStore(nil)}), true},
		{"streamable, 2025-03-26", "2025-03-26", overStreamable(nil), true},
		{"streamable, modern", "2026-07-28", overStreamable(&mcp.StreamableHTTPOptions{Stateless: true}), false},
		{"streamable, both eras", "", overStreamable(nil), true},
		{"HTTP+SSE", newest, overSSE, true},
		{"HTTP+SSE, 2024-11-05", "2024-11-05", overSSE, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := &dynamicClient{t: t, changes: make(chan struct{}, 100), progress: make(chan string, 100)}
			b := newBench(t, "dynamic", box{"tools", "", []server{remoteGoSDK(t, test.revision, test.handler)}})
			c.session = b.connect(newest, &mcp.ClientOptions{
				ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { c.changes <- struct{}{} },
				ProgressNotificationHandler: func(_ context.Context, request *mcp.ProgressNotificationClientRequest) {
					c.progress <- request.Params.Message
				},
			})
			sdkOpen(t, c.session, "tools")
			receive(t, c.changes, "the notice that the toolbox was opened")
			if got := fmt.Sprint(c.call("tools__gosdk__greet", greetInput{"Grüße 世界"}).StructuredContent); !strings.Contains(got, "Hello, Grüße 世界") {
				t.Errorf("got %s", got)
			}
			params := &mcp.CallToolParams{Name: "tools__gosdk__count", Arguments: countInput{3}}
			params.SetProgressToken("counting")
			sdkCall(t, c.session, params)
			if test.name != "streamable, JSON answers" { // which leave no room for progress
				for _, want := range []string{"step 1", "step 2", "step 3"} {
					if got := receive(t, c.progress, "progress"); got != want {
						t.Errorf("progress %q, want %q", got, want)
					}
				}
			}
			if !test.changes {
				return
			}
			c.call("tools__gosdk__grow", struct{}{})
			receive(t, c.changes, "the notice that a tool was added")
			c.call("tools__gosdk__grown", greetInput{"Grace"})
		})
	}
}

func TestRemoteGoSDKServerEqualsALocalOne(t *testing.T) {
	for name, handler := range map[string]func(func(*http.Request) *mcp.Server) http.Handler{
		"streamable": overStreamable(nil), "HTTP+SSE": overSSE,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			legacy := goSDKServer()
			legacy.env[goSDKRevisions] = newest
			b := newBench(t, "", box{"tools", "", []server{remoteGoSDK(t, newest, handler)}})
			straight := direct(t, b.mark, legacy)
			compareGoSDK(t, b, straight.call)
		})
	}
}
