package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/test/otlptest"
)

// This file follows traces from the client through the workbench to a server, with a receiver of OpenTelemetry.

const (
	clientTrace = "0af7651916cd43dd8448eb211c80319c"
	clientSpan  = "b7ad6b7169203331"
	traceparent = "00-" + clientTrace + "-" + clientSpan + "-01"
)

// newTracedBench is a workbench that sends its spans to a receiver, before a server that a tap watches.
func newTracedBench(t *testing.T) (*bench, *tap, *otlptest.Receiver) {
	t.Helper()
	receiver, p := otlptest.New(t), newTap(t)
	b := newBench(t, "", box{"all", "", []server{p.around(everythingServer(t))}})
	b.more = []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + receiver.URL}
	return b, p, receiver
}

// checkServer checks that the server was told of the span of the workbench's request, and adds the span that it would send.
func checkServer(t *testing.T, p *tap, spans []otlptest.Span) []otlptest.Span {
	t.Helper()
	got := p.findCall()
	var params struct {
		Meta map[string]any `json:"_meta"`
	}
	if err := json.Unmarshal(got.Params, &params); err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(fmt.Sprint(params.Meta["traceparent"]), "-")
	if len(parts) != 4 || parts[1] != clientTrace || parts[3] != "01" || params.Meta["tracestate"] != "vendor=1" || params.Meta["baggage"] != "k=v" {
		t.Fatalf("the server got %s", got.Params)
	}
	return append(spans, otlptest.Span{Trace: parts[1], ID: "of the server", Parent: parts[2], Name: "echo", Kind: "server", Began: spans[len(spans)-1].Began})
}

func checkTree(t *testing.T, p *tap, spans []otlptest.Span, revision, transport string) {
	t.Helper()
	began := spans[0].Began
	spans = append(checkServer(t, p, spans), otlptest.Span{Trace: clientTrace, ID: clientSpan, Name: "of the client", Kind: "client", Began: began})
	want := `client of the client
  server tools/call echo
    internal mcp_workbench.server.start
    client tools/call echo
      server echo
`
	if revision == newest { // it had to open the toolbox first, which started the server
		want = strings.Replace(want, "    internal mcp_workbench.server.start\n", "", 1)
	}
	if got := otlptest.Tree(spans, clientTrace); got != want {
		t.Errorf("the trace is\n%s", got)
	}
	for name, want := range map[string]string{
		"mcp.method.name": "tools/call", "gen_ai.tool.name": "echo", "gen_ai.operation.name": "execute_tool", "mcp.protocol.version": revision,
		"network.transport": transport, "mcp_workbench.toolbox": "all", "mcp_workbench.server": "everything", "mcp_workbench.outcome": "ok",
	} {
		if got := spans[0].Attributes[name]; got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

const legacyTrace = `"_meta":{"traceparent":"` + traceparent + `","tracestate":"vendor=1","baggage":"k=v"}`

func TestTraceOfALegacyClient(t *testing.T) {
	t.Parallel()
	b, p, receiver := newTracedBench(t)
	c := b.client(newest)
	c.open("all")
	c.request("tools/call", fmt.Sprintf(`{"name":"use_tool","arguments":%s,%s}`, useArguments("all", "everything", "echo", `{"message":"a-secret"}`), legacyTrace))
	checkTree(t, p, receiver.AwaitTrace(t, clientTrace, 2), newest, "pipe")
	if strings.Contains(receiver.Raw(), "a-secret") {
		t.Error("the arguments were sent")
	}
}

const modernMeta = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}`

func TestTraceOfAModernClient(t *testing.T) {
	t.Parallel()
	b, p, receiver := newTracedBench(t)
	c := dial(t, b.mark, b.command())
	c.request("tools/call", fmt.Sprintf(`{"name":"use_tool","arguments":%s,"_meta":{%s,"traceparent":"%s","tracestate":"vendor=1","baggage":"k=v"}}`,
		useArguments("all", "everything", "echo", `{"message":"x"}`), modernMeta, traceparent))
	checkTree(t, p, receiver.AwaitTrace(t, clientTrace, 3), "2026-07-28", "pipe")
}

// The trace of a client over HTTP may be in the headers of its request.
func TestTraceInHeaders(t *testing.T) {
	t.Parallel()
	b, p, receiver := newTracedBench(t)
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"use_tool","arguments":%s,"_meta":{%s}}}`,
		useArguments("all", "everything", "echo", `{"message":"x"}`), modernMeta)
	request, err := http.NewRequestWithContext(deadline(t), http.MethodPost, b.serve(), strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "use_tool",
		"traceparent": traceparent, "tracestate": "vendor=1", "baggage": "k=v",
	} {
		request.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if text, err := io.ReadAll(response.Body); err != nil || response.StatusCode != http.StatusOK || !strings.Contains(string(text), "Echo: x") {
		t.Fatalf("the answer is %d %s, %v", response.StatusCode, text, err)
	}
	checkTree(t, p, receiver.AwaitTrace(t, clientTrace, 3), "2026-07-28", "tcp")
}

// A client that does not trace its request decides for all: nothing is recorded, and the server gets what the client
// wrote.
func TestUnsampledTraceIsPassedOn(t *testing.T) {
	t.Parallel()
	b, p, receiver := newTracedBench(t)
	c := b.client(newest)
	c.open("all")
	const meta = `{ "tracestate":"vendor=1" ,"traceparent":"00-` + clientTrace + "-" + clientSpan + `-00" }`
	c.request("tools/call", fmt.Sprintf(`{"name":"use_tool","arguments":%s,"_meta":%s}`, useArguments("all", "everything", "echo", `{"message":"x"}`), meta))
	if got := p.findCall(); !strings.Contains(string(got.Params), `"_meta":`+meta) {
		t.Errorf("the server got %s", got.Params)
	}
	if err := c.close(); err != nil {
		t.Error(err)
	}
	for _, span := range receiver.Spans() {
		if span.Trace == clientTrace || span.Attributes["gen_ai.tool.name"] == "echo" {
			t.Errorf("there is a span: %+v", span)
		}
	}
	if receiver.Metric("mcp.server.operation.duration") == nil || receiver.Metric("mcp_workbench.server.starts") == nil {
		t.Error("the end sent no metrics")
	}
}

// The end of the workbench sends what is left.
func TestEndSendsSpans(t *testing.T) {
	t.Parallel()
	b, _, receiver := newTracedBench(t)
	c := b.client(newest)
	c.open("all")
	c.use("all", "everything", "echo", `{"message":"x"}`)
	if err := c.close(); err != nil {
		t.Error(err)
	}
	var got []string
	for _, span := range receiver.Spans() {
		if span.Parent == "" {
			got = append(got, otlptest.Tree(receiver.Spans(), span.Trace))
		}
	}
	want := []string{
		"server initialize\n", "server tools/call open_toolbox\n  internal mcp_workbench.server.start\n", "server tools/call echo\n  client tools/call echo\n",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the traces are %q", got)
	}
}

// What the workbench answers itself is traced, too, in both eras: also errors, and the servers that it started for it.
func TestTraceOfWhatTheWorkbenchAnswers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ revision, meta, first string }{
		"legacy": {newest, "", "initialize"},
		"modern": {"2026-07-28", modernMeta + ",", "server/discover"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, _, receiver := newTracedBench(t)
			c := dial(t, b.mark, b.command())
			number := 0
			send := func(method, members string) {
				number++
				c.await(c.begin(method, fmt.Sprintf(`{%s"_meta":{%s"traceparent":"00-%032d-%s-01"}}`, members, test.meta, number, clientSpan)))
			}
			send(test.first, `"protocolVersion":"`+newest+`","capabilities":{},"clientInfo":{"name":"c","version":"1"},`)
			send("tools/list", "")
			send("tools/call", `"name":"open_toolbox","arguments":{"toolbox":"all"},`)
			send("tools/call", `"name":"open_toolbox","arguments":{"toolbox":"none"},`)
			send("tools/call", `"name":"use_tool","arguments":{"tool":{"toolbox":"none","server":"s","name":"a-secret"}},`)
			send("tools/call", `"name":"a-secret","arguments":{},`)
			send("resources/read", `"uri":"a-secret:",`)
			send("a-secret/method", "")
			for i, want := range []struct{ tree, outcome, kind string }{
				{"server " + test.first, "ok", ""},
				{"server tools/list", "ok", ""},
				{"server tools/call open_toolbox\n  internal mcp_workbench.server.start", "ok", ""},
				{"server tools/call open_toolbox", "tool_error", "tool_error"},
				{"server tools/call use_tool", "tool_error", "tool_error"},
				{"server tools/call", "rpc_error", "-32602"},
				{"", "", ""}, // a server's answer
				{"", "", ""},
			} {
				trace := fmt.Sprintf("%032d", i+1)
				spans := receiver.AwaitTrace(t, trace, 1)
				if want.tree == "" {
					continue
				}
				if got := otlptest.Tree(spans, trace); got != want.tree+"\n" {
					t.Errorf("trace %d is\n%s", i+1, got)
				}
				root := spans[0]
				if got := root.Attributes; got["mcp_workbench.outcome"] != want.outcome || got["error.type"] != want.kind || got["mcp.protocol.version"] != test.revision ||
					got["network.transport"] != "pipe" || got["jsonrpc.request.id"] == "" || root.Parent != clientSpan || !root.Remote || root.Failed != (want.kind == "tool_error") {
					t.Errorf("request %d is %+v", i+1, root)
				}
			}
			if strings.Contains(receiver.Raw(), "a-secret") {
				t.Error("names that the client invented were sent")
			}
		})
	}
}
