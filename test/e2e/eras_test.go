//nolint:staticcheck // sampling is deprecated, and in use
package e2e

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// This file is about clients of one era that servers of the other ask something.

const roleAsker = "asker"

const modernRevision = "2026-07-28"

func playAsker() error {
	return newAsker(os.Getenv(goSDKRevisions)).Run(context.Background(), &mcp.StdioTransport{})
}

// newAsker makes a server of one revision, whose one tool asks the client two things and
// then one more. How it asks, the SDK decides by the era.
func newAsker(revision string) *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "asker", Version: "1"}, &mcp.ServerOptions{SupportedProtocolVersions: []string{revision}})
	mcp.AddTool(server, &mcp.Tool{Name: "ask", Description: "Asks"}, ask)
	return server
}

func ask(_ context.Context, request *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
	form := &mcp.ElicitParams{Message: "Who are you?", RequestedSchema: map[string]any{
		"type": "object", "properties": map[string]any{"name": map[string]any{"type": "string"}},
	}}
	sample := &mcp.CreateMessageParams{
		MaxTokens: 10, Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: "Say it"}}},
	}
	answers := request.Params.InputResponses
	who, named := answers["who"].(*mcp.ElicitResult)
	said, sampled := answers["say"].(*mcp.CreateMessageWithToolsResult)
	if !named || !sampled {
		return &mcp.CallToolResult{RequestState: "first", InputRequests: mcp.InputRequestMap{
			"who": form,
			"say": sample,
		}}, nil, nil
	}
	text := fmt.Sprintf("%s %v: %s", who.Action, who.Content["name"], said.Content[0].(*mcp.TextContent).Text)
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, nil
}

// asker is such a server, as a process or over HTTP.
func asker(t *testing.T, revision string, remote bool) server {
	t.Helper()
	if !remote {
		played := playedServer("asker", roleAsker)
		played.env[goSDKRevisions] = revision
		return played
	}
	shared := newAsker(revision)
	site := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return shared },
		&mcp.StreamableHTTPOptions{Stateless: revision == modernRevision}))
	t.Cleanup(func() {
		site.CloseClientConnections()
		site.Close()
	})
	return server{name: "asker", url: site.URL}
}

// askable are the options of a client of go-sdk that can be asked.
func askable(asked *atomic.Int32) *mcp.ClientOptions {
	return &mcp.ClientOptions{
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			asked.Add(1)
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": "Ada"}}, nil
		},
		CreateMessageHandler: func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			asked.Add(1)
			text := &mcp.TextContent{Text: "said"}
			return &mcp.CreateMessageResult{Model: "m", Role: "assistant", Content: text}, nil
		},
	}
}

// eachServerBelow runs a test with servers of both eras, as processes and over HTTP.
func eachServerBelow(t *testing.T, test func(t *testing.T, below server)) {
	for _, revision := range []string{newest, modernRevision} {
		for _, remote := range []bool{false, true} {
			t.Run(fmt.Sprintf("server %s, remote %t", revision, remote), func(t *testing.T) {
				test(t, asker(t, revision, remote))
			})
		}
	}
}

func TestGoSDKClientIsAskedAcrossTheBorder(t *testing.T) {
	for _, revision := range []string{newest, modernRevision} {
		t.Run("client "+revision, func(t *testing.T) {
			eachAbove(t, func(t *testing.T, overHTTP bool) {
				eachServerBelow(t, func(t *testing.T, below server) {
					b := newBench(t, "", box{"tools", "Asks", []server{below}})
					b.overHTTP = overHTTP
					var asked atomic.Int32
					session := b.connect(revision, askable(&asked))
					sdkOpen(t, session, "tools")
					got := sdkText(t, sdkUse(t, session, "tools", "asker", "ask", struct{}{}))
					if got != "accept Ada: said" || asked.Load() != 2 {
						t.Errorf("got %q after %d questions", got, asked.Load())
					}
				})
			})
		})
	}
}

// A client that cannot be asked gets an error, never an empty success.
func TestGoSDKClientThatCannotBeAsked(t *testing.T) {
	b := newBench(t, "", box{"tools", "Asks", []server{asker(t, modernRevision, false)}})
	session := b.connect(newest, nil)
	sdkOpen(t, session, "tools")
	result, err := session.CallTool(deadline(t), useParams("tools", "asker", "ask", struct{}{}))
	if err != nil || !result.IsError || !strings.Contains(sdkText(t, result), "asker") {
		t.Errorf("got %+v, %v", result, err)
	}
}

func TestTypeScriptClientIsAskedAcrossTheBorder(t *testing.T) {
	eachAbove(t, func(t *testing.T, overHTTP bool) {
		eachServerBelow(t, func(t *testing.T, below server) {
			b := newBench(t, "", box{"tools", "Asks", []server{below}})
			b.overHTTP = overHTTP
			lines := runScript(t, b, "eras.mjs", "proxy")
			if got := lines["asked"].Text; got != "accept Ada: said" {
				t.Errorf("got %q", got)
			}
		})
	})
}

// The reference server asks by requests of its own, which the modern client gets as results.
func TestModernGoSDKClientIsAskedByATypeScriptServer(t *testing.T) {
	needNode(t)
	for _, transport := range []string{"stdio", "streamableHttp", "sse"} {
		t.Run("server over "+transport, func(t *testing.T) {
			eachAbove(t, func(t *testing.T, overHTTP bool) {
				below := everythingServer(t)
				if transport != "stdio" {
					below = everythingRemote(t, newMark(t), transport)
				}
				b := newBench(t, "", box{"all", "One server", []server{below}})
				b.overHTTP = overHTTP
				var asked atomic.Int32
				options := askable(&asked)
				options.ElicitationHandler = func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
					asked.Add(1)
					return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": "Ada", "check": true}}, nil
				}
				session := b.connect(modernRevision, options)
				if revision := session.InitializeResult().ProtocolVersion; revision != modernRevision {
					t.Fatalf("the client speaks %s", revision)
				}
				sample := sdkUse(t, session, "all", "everything", "trigger-sampling-request", map[string]any{"prompt": "say it", "maxTokens": 10})
				if got := sdkText(t, sample); !strings.Contains(got, "said") {
					t.Errorf("sampling: %q", got)
				}
				form := sdkUse(t, session, "all", "everything", "trigger-elicitation-request", map[string]any{})
				if got := sdkText(t, form); !strings.Contains(got, "Ada") {
					t.Errorf("elicitation: %q", got)
				}
				if asked.Load() != 2 {
					t.Errorf("the client was asked %d times", asked.Load())
				}
			})
		})
	}
}
