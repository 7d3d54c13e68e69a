package telemetry

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	otlpmetrics "go.opentelemetry.io/proto/slim/otlp/metrics/v1"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/tracecontext"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/meter"
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
				origin: &call.Origin{RequestID: `"7"`, Revision: "2025-11-25", OverHTTP: true}, method: test.method,
				Routed: call.Routed{
					Toolbox: "t", Server: "s", Tool: test.tool, Prompt: test.prompt, Trace: &call.Trace{ID: tracecontext.NewTraceID(), Span: tracecontext.NewSpanID()},
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

// What clients and servers chose may hold a secret of the configuration.
func TestSecretsAreMasked(t *testing.T) {
	receiver := otlptest.New(t)
	s, _ := start(t, receiver.URL)
	mask := func(text string) string { return strings.ReplaceAll(text, "secret", "[hidden]") }
	s.resource.mask = mask
	long := strings.Repeat("x", maxText-3) + "secret" // what is cut off must not show the beginning of a secret
	for _, tool := range []string{"a-secret", long} {
		s.queue <- record{
			origin: &call.Origin{RequestID: `"secret"`}, method: "tools/call",
			Routed: call.Routed{Toolbox: "t", Server: "s", Tool: tool, Prompt: "secret", End: call.End{Status: call.StatusOK}, Trace: &call.Trace{
				ID: tracecontext.NewTraceID(), Span: tracecontext.NewSpanID(), Carrier: tracecontext.Carrier{State: "a=secret"},
			}},
		}
	}
	s.Close(t.Context())
	if raw := receiver.Raw(); strings.Contains(raw, "xsec") || strings.Contains(raw, "secret") || !strings.Contains(raw, "a-[hidden]") || len(receiver.Spans()) != 2 {
		t.Errorf("what was sent is %q", raw)
	}
	b := &builder{mask: mask, byName: make(map[string]*otlpmetrics.Metric)}
	b.addServer(&meter.Totals{Tools: []meter.ToolTotals{{Tool: "a-secret", Outcomes: meter.Outcomes{call.StatusOK: 1}}, {Tool: "a-[hidden]", Outcomes: meter.Outcomes{call.StatusOK: 2}}}}, false)
	points := b.byName["mcp_workbench.calls"].GetSum().GetDataPoints()
	if len(points) != 1 || points[0].GetAsInt() != 3 || points[0].GetAttributes()[2].GetValue().GetStringValue() != "a-[hidden]" {
		t.Errorf("the calls are %v", points)
	}
}

// A client's request and its parts are one record, unless a part ends after the answer.
func TestPartsOfARequest(t *testing.T) {
	receiver := otlptest.New(t)
	s, _ := start(t, receiver.URL)
	for _, isLate := range []bool{false, true} {
		by := &client{origin: call.Origin{Method: "tools/call", Began: time.Now()}}
		c := aCall(t, by)
		answer := func() { s.Answered()(&by.origin, call.Answer{}) }
		if isLate {
			answer()
		}
		c.Trace = s.Tracer().Trace(c)
		s.CallEnded(c, call.End{Status: call.StatusOK, Began: time.Now()})
		if !isLate {
			answer()
		}
	}
	s.Close(t.Context())
	var names []string
	for _, span := range receiver.Spans() {
		names = append(names, span.Name)
	}
	if want := []string{"tools/call x", "tools/call"}; !slices.Equal(names, want) {
		t.Errorf("the spans are %q, want %q", names, want)
	}
}

// The clock of the computer may be set while a request runs: what a span took is measured, not subtracted from it.
func TestClockThatIsSet(t *testing.T) {
	began := time.Now()
	from, to := set(began.Add(time.Second), time.Hour), set(began.Add(3*time.Second), -time.Hour)
	for _, r := range []*record{
		{Routed: call.Routed{End: call.End{Began: began}, Trace: new(call.Trace)}},
		{Routed: call.Routed{End: call.End{Began: set(began, time.Minute)}, Trace: new(call.Trace)}, origin: &call.Origin{Began: began}},
	} {
		span := r.span(tracecontext.NewSpanID(), tracecontext.SpanID{}, "x", from, to)
		if after := time.Duration(int64(span.StartTimeUnixNano) - began.UnixNano()); after != time.Second {
			t.Errorf("it began after %s", after)
		}
		if took := time.Duration(span.EndTimeUnixNano - span.StartTimeUnixNano); took != 2*time.Second {
			t.Errorf("it took %s", took)
		}
	}
}

// set returns a time as it is read when the clock of the computer was set by whole seconds: what durations are measured with
// stays as it was.
func set(t time.Time, by time.Duration) time.Time {
	const secondsAt = 30 // the bit of time.Time's first word from which on the seconds are
	wall := (*uint64)(unsafe.Pointer(&t))
	*wall += uint64(by/time.Second) << secondsAt
	return t
}
