package e2e

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// This file is about the client of go-sdk in front of servers of npm.

// newest is the newest revision that begins with an initialize request.
const newest = "2025-11-25"

// connect starts the workbench below a client of go-sdk. Without a revision the client
// asks for the newest that it knows.
func (b *bench) connect(revision string, options *mcp.ClientOptions) *mcp.ClientSession {
	b.t.Helper()
	if !b.overHTTP {
		return b.connectBy(b.command(), revision, options)
	}
	transport := &mcp.StreamableClientTransport{Endpoint: b.serve()}
	return b.connectOver(transport, b.served, revision, options)
}

// connectBy connects a client of go-sdk to a command of the workbench.
func (b *bench) connectBy(cmd *exec.Cmd, revision string, options *mcp.ClientOptions) *mcp.ClientSession {
	b.t.Helper()
	return b.connectOver(&mcp.CommandTransport{Command: cmd}, cmd, revision, options)
}

func (b *bench) connectOver(transport mcp.Transport, cmd *exec.Cmd, revision string, options *mcp.ClientOptions) *mcp.ClientSession {
	b.t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "e2e", Version: "1"}, options)
	session, err := client.Connect(deadline(b.t), transport, &mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() {
		b.mark.record(cmd.Process.Pid)
		if err := session.Close(); err != nil {
			b.t.Errorf("closing the session: %v", err)
		}
	})
	return session
}

// deadline is a context for one wait.
func deadline(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// sdkUse calls a tool behind the workbench.
func sdkUse(t *testing.T, session *mcp.ClientSession, toolbox, server, tool string, arguments any) *mcp.CallToolResult {
	t.Helper()
	return sdkCall(t, session, useParams(toolbox, server, tool, arguments))
}

func sdkCall(t *testing.T, session *mcp.ClientSession, params *mcp.CallToolParams) *mcp.CallToolResult {
	t.Helper()
	result, err := session.CallTool(deadline(t), params)
	if err != nil {
		t.Fatalf("%s %v: %v", params.Name, params.Arguments, err)
	}
	if result.IsError {
		t.Fatalf("%s %v: %s", params.Name, params.Arguments, sdkText(t, result))
	}
	return result
}

func useParams(toolbox, server, tool string, arguments any) *mcp.CallToolParams {
	return &mcp.CallToolParams{Name: "use_tool", Arguments: map[string]any{
		"tool": map[string]any{"toolbox": toolbox, "server": server, "name": tool}, "arguments": arguments,
	}}
}

func sdkOpen(t *testing.T, session *mcp.ClientSession, toolbox string) opened {
	t.Helper()
	result := sdkCall(t, session, &mcp.CallToolParams{Name: "open_toolbox", Arguments: map[string]any{"toolbox": toolbox}})
	raw, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	return parseOpened(t, raw)
}

// sdkText returns the text blocks of a result.
func sdkText(t *testing.T, result *mcp.CallToolResult) string {
	t.Helper()
	var texts []string
	for _, block := range result.Content {
		if text, ok := block.(*mcp.TextContent); ok {
			texts = append(texts, text.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// eachAbove runs a test with the client over stdio and over HTTP.
func eachAbove(t *testing.T, test func(t *testing.T, overHTTP bool)) {
	t.Helper()
	for name, overHTTP := range map[string]bool{"stdio": false, "http": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, overHTTP)
		})
	}
}

func TestGoSDKClientWithNPMServers(t *testing.T) { eachAbove(t, goSDKClientWithNPMServers) }

func goSDKClientWithNPMServers(t *testing.T, overHTTP bool) {
	folder, memory := realTempDir(t), filepath.Join(t.TempDir(), "memory.jsonl")
	b := newBench(t, "", box{
		"all", "Three servers",
		[]server{memoryServer(t, memory), everythingServer(t), filesystemServer(t, folder)},
	})
	b.overHTTP = overHTTP
	// The client asks for the newest revision it knows, and settles for what it gets.
	session := b.connect("", nil)
	checkFirstSight(t, session)

	answer := sdkOpen(t, session, "all")
	if order := serversOf(t, answer); !slices.Equal(order, []string{"memory", "everything", "filesystem"}) {
		t.Errorf("the servers' order is %v", order)
	}
	t.Run("filesystem", func(t *testing.T) { useFilesystem(t, session, folder) })
	t.Run("memory", func(t *testing.T) { useMemory(t, session, memory) })
	t.Run("everything", func(t *testing.T) { useEverything(t, session) })
}

func checkFirstSight(t *testing.T, session *mcp.ClientSession) {
	t.Helper()
	hello := session.InitializeResult()
	if hello.ServerInfo == nil || hello.ServerInfo.Name != "mcp-workbench" {
		t.Errorf("the server calls itself %+v", hello.ServerInfo)
	}
	if !strings.Contains(hello.Instructions, "all (3 servers)\n  Description: Three servers") {
		t.Errorf("instructions: %s", hello.Instructions)
	}
	listed, err := session.ListTools(deadline(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(listed.Tools) < 2 || listed.Tools[0].Name != "open_toolbox" || listed.Tools[1].Name != "use_tool" {
		t.Errorf("the tools are %v", toolNames(listed.Tools))
	}
}

func toolNames(tools []*mcp.Tool) []string {
	names := make([]string, len(tools))
	for i, tool := range tools {
		names[i] = tool.Name
	}
	return names
}

// serversOf returns the servers in the order of their tools, each once per run of tools.
func serversOf(t *testing.T, answer opened) []string {
	t.Helper()
	var order []string
	for _, raw := range answer.Tools {
		var tool struct{ Server string }
		if err := json.Unmarshal(raw, &tool); err != nil {
			t.Fatal(err)
		}
		order = append(order, tool.Server)
	}
	return slices.Compact(order)
}

func useFilesystem(t *testing.T, session *mcp.ClientSession, folder string) {
	path := filepath.Join(folder, "hello.txt")
	sdkUse(t, session, "all", "filesystem", "write_file", map[string]any{"path": path, "content": "héllo\n"})
	if onDisk, err := os.ReadFile(path); err != nil || string(onDisk) != "héllo\n" {
		t.Errorf("on disk: %q, %v", onDisk, err)
	}
	if read := sdkUse(t, session, "all", "filesystem", "read_text_file", map[string]any{"path": path}); sdkText(t, read) != "héllo\n" {
		t.Errorf("read %q", sdkText(t, read))
	}
	if list := sdkUse(t, session, "all", "filesystem", "list_directory", map[string]any{"path": folder}); sdkText(t, list) != "[FILE] hello.txt" {
		t.Errorf("listed %q", sdkText(t, list))
	}
}

func useMemory(t *testing.T, session *mcp.ClientSession, file string) {
	sdkUse(t, session, "all", "memory", "create_entities", map[string]any{"entities": []any{
		map[string]any{"name": "Ada", "entityType": "person", "observations": []string{"wrote a program"}},
	}})
	if onDisk, err := os.ReadFile(file); err != nil || !strings.Contains(string(onDisk), `"name":"Ada"`) {
		t.Errorf("on disk: %q, %v", onDisk, err)
	}
	found := sdkUse(t, session, "all", "memory", "search_nodes", map[string]any{"query": "program"})
	raw, err := json.Marshal(found.StructuredContent)
	if err != nil || !strings.Contains(string(raw), `"name":"Ada"`) {
		t.Errorf("found %s, %v", raw, err)
	}
}

func useEverything(t *testing.T, session *mcp.ClientSession) {
	if echo := sdkUse(t, session, "all", "everything", "echo", map[string]any{"message": "hi"}); sdkText(t, echo) != "Echo: hi" {
		t.Errorf("echo: %q", sdkText(t, echo))
	}
	if sum := sdkUse(t, session, "all", "everything", "get-sum", map[string]any{"a": 2, "b": 3}); sdkText(t, sum) != "The sum of 2 and 3 is 5." {
		t.Errorf("sum: %q", sdkText(t, sum))
	}
	image := sdkUse(t, session, "all", "everything", "get-tiny-image", map[string]any{})
	if len(image.Content) < 2 {
		t.Fatalf("image: %+v", image.Content)
	}
	if block, ok := image.Content[1].(*mcp.ImageContent); !ok || block.MIMEType != "image/png" || len(block.Data) == 0 {
		t.Errorf("image: %+v", image.Content[1])
	}
}

func TestGoSDKClientProgressAndCancel(t *testing.T) { eachAbove(t, goSDKClientProgressAndCancel) }

func goSDKClientProgressAndCancel(t *testing.T, overHTTP bool) {
	p := newTap(t)
	b := newBench(t, "", box{"all", "", []server{p.around(everythingServer(t))}})
	b.overHTTP = overHTTP
	progress := make(chan float64, 100)
	session := b.connect(newest, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, request *mcp.ProgressNotificationClientRequest) {
			if request.Params.ProgressToken == "mine" {
				progress <- request.Params.Progress
			}
		},
	})
	sdkOpen(t, session, "all")

	params := useParams("all", "everything", "trigger-long-running-operation", map[string]any{"duration": 0.3, "steps": 3})
	params.SetProgressToken("mine")
	sdkCall(t, session, params)
	for want := 1.0; want <= 3; want++ {
		if got := receive(t, progress, "progress"); got != want {
			t.Errorf("progress %v, want %v", got, want)
		}
	}
	p.findCall()

	params = useParams("all", "everything", "trigger-long-running-operation", map[string]any{"duration": 20, "steps": 100})
	params.SetProgressToken("mine")
	ctx, cancel := context.WithCancel(deadline(t))
	failed := make(chan error, 1)
	go func() {
		_, err := session.CallTool(ctx, params)
		failed <- err
	}()
	call := p.findCall()
	receive(t, progress, "progress of the call that is cancelled")
	cancel()
	if err := receive(t, failed, "the end of the call"); err == nil {
		t.Error("a cancelled call was answered")
	}
	p.findCancel(call)
	if echo := sdkUse(t, session, "all", "everything", "echo", map[string]any{"message": "still here"}); sdkText(t, echo) != "Echo: still here" {
		t.Errorf("after the cancellation: %q", sdkText(t, echo))
	}
}

// receive takes one value from a channel.
func receive[T any](t *testing.T, from <-chan T, what string) T {
	t.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case value := <-from:
		return value
	case <-timer.C:
		t.Fatalf("%s did not come", what)
		panic("unreachable")
	}
}
