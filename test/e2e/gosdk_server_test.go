package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// This file is about a server of go-sdk behind the workbench, played by this binary.

const roleGoSDK = "gosdk"

// goSDKRevisions names the variable with the one revision that it speaks; all without it.
const goSDKRevisions = "E2E_GOSDK_REVISION"

type greetInput struct {
	Name string `json:"name" jsonschema:"who is greeted"`
}

type greetOutput struct {
	Greeting string `json:"greeting"`
	Letters  int    `json:"letters"`
}

type countInput struct {
	To int `json:"to"`
}

func playGoSDK() error {
	return newGoSDK(os.Getenv(goSDKRevisions)).Run(context.Background(), &mcp.StdioTransport{})
}

// newGoSDK makes a server that speaks one revision, or all of them.
func newGoSDK(revision string) *mcp.Server {
	options := new(mcp.ServerOptions)
	if revision != "" {
		options.SupportedProtocolVersions = []string{revision}
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "gosdk", Version: "1"}, options)
	mcp.AddTool(server, &mcp.Tool{Name: "greet", Description: "Greets"}, greet)
	mcp.AddTool(server, &mcp.Tool{Name: "count", Description: "Counts, with progress"}, count)
	mcp.AddTool(server, &mcp.Tool{Name: "grow", Description: "Adds a tool"},
		func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			mcp.AddTool(server, &mcp.Tool{Name: "grown", Description: "Was not there before"}, greet)
			return nil, nil, nil
		})
	return server
}

func greet(_ context.Context, _ *mcp.CallToolRequest, in greetInput) (*mcp.CallToolResult, greetOutput, error) {
	if in.Name == "nobody" {
		return nil, greetOutput{}, fmt.Errorf("there is nobody to greet")
	}
	greeting := "Hello, " + in.Name
	return nil, greetOutput{greeting, len(greeting)}, nil
}

func count(ctx context.Context, request *mcp.CallToolRequest, in countInput) (*mcp.CallToolResult, any, error) {
	for i := 1; i <= in.To; i++ {
		if err := request.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
			ProgressToken: request.Params.GetProgressToken(), Progress: float64(i), Total: float64(in.To), Message: fmt.Sprint("step ", i),
		}); err != nil {
			return nil, nil, err
		}
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "counted"}}}, nil, nil
}

func goSDKServer() server {
	return playedServer("gosdk", roleGoSDK)
}

// dynamicClient is a client of go-sdk in dynamic mode that counts what it is told.
type dynamicClient struct {
	t        *testing.T
	session  *mcp.ClientSession
	changes  chan struct{}
	progress chan string
}

func newDynamicClient(t *testing.T, overHTTP bool) *dynamicClient {
	t.Helper()
	c := &dynamicClient{t: t, changes: make(chan struct{}, 100), progress: make(chan string, 100)}
	b := newBench(t, "dynamic", box{"tools", "", []server{goSDKServer()}})
	b.overHTTP = overHTTP
	c.session = b.connect(newest, &mcp.ClientOptions{
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { c.changes <- struct{}{} },
		ProgressNotificationHandler: func(_ context.Context, request *mcp.ProgressNotificationClientRequest) {
			c.progress <- request.Params.Message
		},
	})
	return c
}

// list returns the definition of a tool, and all names.
func (c *dynamicClient) list(name string) (*mcp.Tool, []string) {
	c.t.Helper()
	listed, err := c.session.ListTools(deadline(c.t), nil)
	if err != nil {
		c.t.Fatal(err)
	}
	i := slices.IndexFunc(listed.Tools, func(tool *mcp.Tool) bool { return tool.Name == name })
	if i < 0 {
		return nil, toolNames(listed.Tools)
	}
	return listed.Tools[i], toolNames(listed.Tools)
}

func (c *dynamicClient) call(name string, arguments any) *mcp.CallToolResult {
	c.t.Helper()
	return sdkCall(c.t, c.session, &mcp.CallToolParams{Name: name, Arguments: arguments})
}

func TestGoSDKServerInDynamicMode(t *testing.T) { eachAbove(t, goSDKServerInDynamicMode) }

func goSDKServerInDynamicMode(t *testing.T, overHTTP bool) {
	c := newDynamicClient(t, overHTTP)
	sdkOpen(t, c.session, "tools")
	receive(t, c.changes, "the notice that tools changed")

	tool, names := c.list("tools__gosdk__greet")
	if tool == nil {
		t.Fatalf("the tools are %v", names)
	}
	checkNative(t, tool)
	result := c.call("tools__gosdk__greet", greetInput{"Ada"})
	if raw, _ := json.Marshal(result.StructuredContent); string(raw) != `{"greeting":"Hello, Ada","letters":10}` {
		t.Errorf("structured content: %s", raw)
	}
	failed, err := c.session.CallTool(deadline(t), &mcp.CallToolParams{Name: "tools__gosdk__greet", Arguments: greetInput{"nobody"}})
	if err != nil || !failed.IsError || sdkText(t, failed) != "there is nobody to greet" {
		t.Errorf("an error of the tool became %+v, %v", failed, err)
	}

	params := &mcp.CallToolParams{Name: "tools__gosdk__count", Arguments: countInput{3}}
	params.SetProgressToken("counting")
	sdkCall(t, c.session, params)
	for _, want := range []string{"step 1", "step 2", "step 3"} {
		if got := receive(t, c.progress, "progress"); got != want {
			t.Errorf("progress %q, want %q", got, want)
		}
	}
}

func checkNative(t *testing.T, tool *mcp.Tool) {
	t.Helper()
	if tool.Description != "[tools/gosdk] Greets" {
		t.Errorf("description: %q", tool.Description)
	}
	if raw, _ := json.Marshal(tool.OutputSchema); !strings.Contains(string(raw), `"letters"`) {
		t.Errorf("output schema: %s", raw)
	}
	for key, want := range map[string]string{"source_server": "gosdk", "toolbox_name": "tools", "original_name": "greet"} {
		if tool.Meta[key] != want {
			t.Errorf("_meta: %v", tool.Meta)
		}
	}
}

func TestToolAddedAtRunTime(t *testing.T) { eachAbove(t, toolAddedAtRunTime) }

func toolAddedAtRunTime(t *testing.T, overHTTP bool) {
	c := newDynamicClient(t, overHTTP)
	sdkOpen(t, c.session, "tools")
	receive(t, c.changes, "the notice that the toolbox was opened")
	if tool, names := c.list("tools__gosdk__grown"); tool != nil {
		t.Fatalf("it is there too early: %v", names)
	}
	c.call("tools__gosdk__grow", struct{}{})
	receive(t, c.changes, "the notice that a tool was added")
	if tool, names := c.list("tools__gosdk__grown"); tool == nil {
		t.Fatalf("the new tool is not among %v", names)
	}
	result := c.call("tools__gosdk__grown", greetInput{"Grace"})
	if raw, _ := json.Marshal(result.StructuredContent); !strings.Contains(string(raw), "Hello, Grace") {
		t.Errorf("structured content: %s", raw)
	}
	// Through the proxy's tool as well, and in what open_toolbox says from now on.
	sdkUse(t, c.session, "tools", "gosdk", "grown", greetInput{"Ada"})
	if answer := sdkOpen(t, c.session, "tools"); len(answer.Tools) != 4 {
		t.Errorf("open_toolbox lists %d tools, want 4", len(answer.Tools))
	}
}

func TestGoSDKServerEqualsADirectConnection(t *testing.T) {
	t.Parallel()
	legacy := goSDKServer()
	legacy.env[goSDKRevisions] = newest
	b := newBench(t, "", box{"tools", "", []server{legacy}})
	straight := direct(t, b.mark, legacy)
	compareGoSDK(t, b, straight.call)
}

// To a client of the older era, a server of the newer one is what it would be in its own.
func TestModernGoSDKServerEqualsALegacyOne(t *testing.T) {
	t.Parallel()
	modern, legacy := goSDKServer(), goSDKServer()
	modern.env[goSDKRevisions], legacy.env[goSDKRevisions] = modernRevision, newest
	b := newBench(t, "", box{"tools", "", []server{modern}})
	compareGoSDK(t, b, direct(t, b.mark, legacy).call)
}

// compareGoSDK makes the same calls through the workbench and by another way.
func compareGoSDK(t *testing.T, b *bench, straight func(tool, arguments string) []byte) {
	t.Helper()
	c := b.client(newest)
	c.open("tools")
	for _, call := range []toolCall{
		{"greet", `{"name":"Ada \u0041"}`, `"greeting":"Hello, Ada A"`},
		{"greet", `{"name":"nobody"}`, `"isError":true`},
		{"greet", `{"name":7}`, `"isError":true`},
		{"count", `{"to":0}`, `counted`},
	} {
		want := straight(call.tool, call.arguments)
		got := c.use("tools", "gosdk", call.tool, call.arguments)
		if string(got) != string(want) || !strings.Contains(string(got), call.has) {
			t.Errorf("%s %s:\ngot  %s\nwant %s with %s", call.tool, call.arguments, got, want, call.has)
		}
	}
}

func TestGoSDKServersOfBothEras(t *testing.T) {
	for revision, spoken := range map[string]string{"2024-11-05": "2024-11-05", newest: newest, modernRevision: modernRevision, "": newest} {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			peer := goSDKServer()
			peer.env[goSDKRevisions] = revision
			b := newBench(t, "", box{"tools", "", []server{peer}})
			c := b.client(newest)
			c.open("tools")
			got := string(c.use("tools", "gosdk", "greet", `{"name":"Ada"}`))
			if !strings.Contains(got, "Hello, Ada") || strings.Contains(got, "resultType") {
				t.Errorf("got %s", got)
			}
			b.awaitStderr(regexp.MustCompile("revision=" + spoken))
		})
	}
}
