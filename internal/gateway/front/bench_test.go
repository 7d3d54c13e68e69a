package front

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/metatool"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/passthrough"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/policy"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/history"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/meter"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/process"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
)

// playEcho plays a server that answers every call at once; its role is its era.
func playEcho(era string, _ []string) int {
	reader := wire.NewReader(os.Stdin, 0)
	for {
		frame, err := reader.Next()
		if err != nil {
			return 0
		}
		message, err := wire.Parse(frame)
		if err != nil || !message.IsRequest() {
			continue
		}
		result := `{"content":[]}`
		modern := era == "modern"
		if modern {
			result = `{"resultType":"complete","content":[]}`
		}
		switch method := string(message.Method); {
		case method == "server/discover" && modern:
			result = `{"resultType":"complete","ttlMs":0,"cacheScope":"private","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`
		case method == "server/discover" || method == "initialize" && modern:
			_, _ = os.Stdout.Write(wire.ErrorResponse(message.ID.Bytes(), -32601, "Method not found"))
			continue
		case method == "subscriptions/listen":
			continue
		case method == "initialize":
			result = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"echo","version":"1"}}`
		case method == "tools/list":
			result = `{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[{"name":"echo","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}]}`
		}
		_, _ = os.Stdout.Write(wire.Result(message.ID.Bytes(), []byte(result)))
	}
}

// echoClient is a client of a workbench with one echo server, over pipes. It allocates
// nothing in a call, so that what is allocated is the workbench's own.
type echoClient struct {
	testing.TB
	in      *os.File
	answers *bufio.Reader
	server  *Server
}

func newEchoClient(tb testing.TB, era string) *echoClient {
	tb.Helper()
	return newRoutedClient(tb, era, new(call.Router))
}

// newRoutedClient is newEchoClient with stages on the way of its requests.
func newRoutedClient(tb testing.TB, era string, router *call.Router) *echoClient {
	tb.Helper()
	return newTracedClient(tb, era, router, nil)
}

// newTracedClient is newRoutedClient whose requests are told of when they are answered; see Options.Answered.
func newTracedClient(tb testing.TB, era string, router *call.Router, answered func(*call.Origin, call.Answer)) *echoClient {
	tb.Helper()
	host := process.NewHost(process.HostOptions{})
	servers := fleet.New(fleet.Options{Host: host, Environ: os.Environ(), Config: &config.Config{Toolboxes: []config.Toolbox{{
		Name: "T", Servers: []config.Server{{
			Name: "S", Command: mcptest.Self(), Args: mcptest.RoleArgs(era),
			Timeouts: config.Timeouts{Connect: 30 * time.Second, Call: time.Minute},
		}},
	}}}})
	in, toServer, err := os.Pipe()
	if err != nil {
		tb.Fatal(err)
	}
	fromServer, out, err := os.Pipe()
	if err != nil {
		tb.Fatal(err)
	}
	server := New(Options{
		Answered: answered,
		Surface: func(Audience) *metatool.Surface {
			return metatool.New(metatool.Options{
				Router: router, Visible: servers, Mode: config.Proxy,
				Discovery: config.Discovery{ReadTool: true}, Reads: declaresReading,
			})
		},
		Forwarder: func(Audience) *passthrough.Forwarder {
			return passthrough.New(passthrough.Options{Router: router, Visible: servers, Mode: config.Proxy, Log: slog.New(slog.DiscardHandler)})
		},
	})
	served := make(chan error, 1)
	go func() { served <- server.ServeStdio(context.Background(), in, out, StdioOptions{}) }()
	tb.Cleanup(func() {
		toServer.Close()
		if err := <-served; err != nil {
			tb.Error(err)
		}
		fromServer.Close()
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := errors.Join(servers.Stop(ctx), host.Close(ctx)); err != nil {
			tb.Error(err)
		}
	})
	return &echoClient{tb, toServer, bufio.NewReader(fromServer), server}
}

func (c *echoClient) ask(line []byte) []byte {
	if _, err := c.in.Write(line); err != nil {
		c.Fatal(err)
	}
	answer, err := c.answers.ReadSlice('\n')
	if err != nil {
		c.Fatal(err)
	}
	return answer
}

// expect asks for what has one right answer.
func (c *echoClient) expect(line, want []byte) {
	if answer := c.ask(line); !bytes.Equal(answer, want) {
		c.Fatalf("the answer is %s, want %s", answer, want)
	}
}

// useTool begins a session in the legacy era, and returns a call and its answer.
func (c *echoClient) useTool() (call, want []byte) {
	c.ask([]byte(strings.ReplaceAll(initialize, "%s", "2025-11-25") + "\n"))
	c.ask([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"open_toolbox","arguments":{"toolbox":"T"}}}` + "\n"))
	return []byte(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"use_tool","arguments":{"tool":{"toolbox":"T","server":"S","name":"echo"},"arguments":{"text":"0123456789"}}}}` + "\n"),
		[]byte(`{"jsonrpc":"2.0","id":2,"result":{"content":[]}}` + "\n")
}

// useToolModern is useTool in the modern era, for a client of these capabilities.
func useToolModern(capabilities string) (call, want []byte) {
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":` + capabilities + `}`
	return []byte(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"use_tool","arguments":{"tool":{"toolbox":"T","server":"S","name":"echo"},"arguments":{"text":"0123456789"}},` + meta + `}}` + "\n"),
		[]byte(`{"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","content":[]}}` + "\n")
}

// BenchmarkUseTool is a whole call through pipes to a server process and back.
func BenchmarkUseTool(b *testing.B) {
	for name, begin := range beginnings {
		b.Run(name, func(b *testing.B) {
			client, call, want := begin(b)
			b.ReportAllocs()
			for b.Loop() {
				client.expect(call, want)
			}
		})
	}
}

// beginnings begin a session, and return a call and its answer.
var beginnings = map[string]func(testing.TB) (client *echoClient, call, want []byte){
	"legacy": func(tb testing.TB) (*echoClient, []byte, []byte) {
		client := newEchoClient(tb, "legacy")
		call, want := client.useTool()
		return client, call, want
	},
	"legacy, through stages": func(tb testing.TB) (*echoClient, []byte, []byte) {
		var stage watcher
		rules := policyStage(config.PolicyRule{Tools: []toolbox.Pattern{"*/delete_*"}, Then: config.Deny})
		client := newRoutedClient(tb, "legacy", call.NewRouter(call.Stages{
			Screen: []call.Screener{rules}, Admit: []call.Admitter{stage, rules}, Observe: []call.Observer{stage},
		}))
		call, want := client.useTool()
		return client, call, want
	},
	"legacy, counted and remembered": func(tb testing.TB) (*echoClient, []byte, []byte) {
		client := newRoutedClient(tb, "legacy", call.NewRouter(call.Stages{
			Observe: []call.Observer{meter.New(time.Now()), history.New(strings.Clone)}, Shape: true,
		}))
		call, want := client.useTool()
		return client, call, want
	},
	"legacy, by read_tool": func(tb testing.TB) (*echoClient, []byte, []byte) {
		client := newEchoClient(tb, "legacy")
		call, want := client.useTool()
		return client, bytes.Replace(call, []byte("use_tool"), []byte("read_tool"), 1), want
	},
	"legacy, with rules about the tool": func(tb testing.TB) (*echoClient, []byte, []byte) {
		yes := true
		rules := policyStage(
			config.PolicyRule{Tools: []toolbox.Pattern{"T/*"}, Then: config.Allow},
			config.PolicyRule{Hints: config.PolicyHints{Idempotent: &yes}, Then: config.Ask},
			config.PolicyRule{Callers: []string{"token:ci"}, Then: config.Deny},
		)
		client := newRoutedClient(tb, "legacy", call.NewRouter(call.Stages{Screen: []call.Screener{rules}, Admit: []call.Admitter{rules}}))
		call, want := client.useTool()
		return client, call, want
	},
	"modern": func(tb testing.TB) (*echoClient, []byte, []byte) {
		call, want := useToolModern(`{}`)
		return newEchoClient(tb, "modern"), call, want
	},
	"modern client that can be asked": func(tb testing.TB) (*echoClient, []byte, []byte) {
		call, want := useToolModern(`{"elicitation":{},"roots":{}}`)
		return newEchoClient(tb, "modern"), call, want
	},
}

func declaresReading(_ toolbox.Ref, tool catalog.Tool) bool {
	return string(tool.Definition.Member("annotations").Member("readOnlyHint").Bytes()) == "true"
}

// policyStage is the stage of a policy with these rules.
func policyStage(rules ...config.PolicyRule) *policy.Stage {
	file := config.PolicyFile{Default: config.Allow, Rules: rules}
	return policy.NewStage(policy.New(&config.Config{Policy: config.Policy{Files: []config.PolicyFile{file}}}), policy.StageOptions{})
}

// watcher is a stage that watches and admits everything.
type watcher struct{}

func (watcher) CallBegan(*call.Call, time.Time)   {}
func (watcher) CallEnded(*call.Call, call.End)    {}
func (watcher) Admit(*call.Call) (v call.Verdict) { return v }

// BenchmarkUseToolAtOnce is the same with many calls in flight.
func BenchmarkUseToolAtOnce(b *testing.B) {
	for name, begin := range beginnings {
		b.Run(name, func(b *testing.B) { benchmarkAtOnce(b, begin) })
	}
}

func benchmarkAtOnce(b *testing.B, begin func(testing.TB) (client *echoClient, call, want []byte)) {
	const calls = 64
	client, call, want := begin(b)
	var all []byte
	for i := range calls {
		all = append(all, bytes.Replace(call, []byte(`"id":2`), fmt.Appendf(nil, `"id":%d`, i+10), 1)...)
	}
	b.ReportAllocs()
	for answered := calls; b.Loop(); answered++ {
		if answered == calls {
			answered = 0
			if _, err := client.in.Write(all); err != nil {
				b.Fatal(err)
			}
		}
		if answer, err := client.answers.ReadSlice('\n'); err != nil || len(answer) != len(want)+1 {
			b.Fatalf("the answer is %s, error %v", answer, err)
		}
	}
}

// What a call allocates does not depend on the machine, unlike its time, so that a test can
// hold on to it. There are three allocations, the fourth is room, or for the shape of arguments.
func TestAllocationsOfACall(t *testing.T) {
	for name, begin := range beginnings {
		t.Run(name, func(t *testing.T) {
			client, call, want := begin(t)
			if found := testing.AllocsPerRun(2000, func() { client.expect(call, want) }); found > 4 {
				t.Errorf("a call has %v allocations, want at most 4", found)
			}
		})
	}
}
