package telemetry

import (
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/tracecontext"
	"github.com/mcp-workbench/mcp-workbench/test/otlptest"
)

func TestSpanOfARequest(t *testing.T) {
	for _, test := range []struct {
		name                        string
		end                         call.Status
		kind                        string // of the error
		failed, hasCode             bool
		method, tool, prompt, wants string // wants is the name
	}{
		{name: "ok", end: call.StatusOK, method: "tools/call", tool: "x", wants: "tools/call x"},
		{name: "a prompt", end: call.StatusOK, method: "prompts/get", prompt: "p", wants: "prompts/get p"},
		{name: "an unknown method", end: call.StatusOK, wants: "_other"},
		{name: "an error of the tool", end: call.StatusToolError, kind: "tool_error", failed: true, method: "tools/call", tool: "x", wants: "tools/call x"},
		{name: "an error", end: call.StatusRPCError, kind: "-32603", failed: true, hasCode: true, method: "tools/call", wants: "tools/call"},
		{name: "an error of the client", end: call.StatusRPCError, kind: "-32602", hasCode: true, method: "tools/call", wants: "tools/call"},
		{name: "no such resource", end: call.StatusRPCError, kind: "-32002", hasCode: true, method: "resources/read", wants: "resources/read"},
		{name: "a timeout", end: call.StatusFailed, kind: "timeout", failed: true, method: "tools/call", wants: "tools/call"},
		{name: "denied", end: call.StatusRefused, kind: "denied", failed: true, method: "tools/call", wants: "tools/call"},
		{name: "cancelled", end: call.StatusCancelled, kind: "cancelled", method: "tools/call", wants: "tools/call"},
		{name: "a round", end: call.StatusInputRequired, method: "tools/call", wants: "tools/call"},
	} {
		t.Run(test.name, func(t *testing.T) {
			receiver := otlptest.New(t)
			s, _ := start(t, receiver.URL)
			s.queue <- record{
				trace:  &call.Trace{ID: tracecontext.NewTraceID(), Span: tracecontext.NewSpanID()},
				origin: &call.Origin{RequestID: `"7"`, Revision: "2025-11-25", OverHTTP: true}, method: test.method,
				Routed: call.Routed{
					Toolbox: "t", Server: "s", Tool: test.tool, Prompt: test.prompt,
					End: call.End{Status: test.end, ErrorType: test.kind, Began: time.Unix(1000, 0), Took: time.Second},
				},
			}
			s.Close(t.Context())
			spans := receiver.Spans()
			if len(spans) != 1 {
				t.Fatalf("the spans are %+v", spans)
			}
			got, all := spans[0], spans[0].Attributes
			if got.Name != test.wants || got.Kind != "server" || got.Failed != test.failed || got.Ended.Sub(got.Began) != time.Second || got.Remote {
				t.Errorf("the span is %+v", got)
			}
			wantKind := test.kind
			if test.end == call.StatusCancelled {
				wantKind = ""
			}
			if all["error.type"] != wantKind || (all["rpc.response.status_code"] == test.kind && test.kind != "") != test.hasCode {
				t.Errorf("the attributes are %v", all)
			}
			for name, want := range map[string]string{
				"jsonrpc.request.id": "7", "mcp.protocol.version": "2025-11-25", "network.transport": "tcp", "mcp_workbench.toolbox": "t", "mcp_workbench.server": "s",
				"gen_ai.tool.name": test.tool, "gen_ai.prompt.name": test.prompt, "mcp_workbench.outcome": outcome(test.end),
			} {
				if all[name] != want {
					t.Errorf("%s is %q, want %q", name, all[name], want)
				}
			}
		})
	}
}
