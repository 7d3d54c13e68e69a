package telemetry

import (
	"strconv"
	"strings"
	"time"

	collectortrace "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	otlptrace "go.opentelemetry.io/proto/slim/otlp/trace/v1"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/tracecontext"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/meter"
)

// record is a traced request that ended: that of a client, or the part of it that a server got.
type record struct {
	call.Routed
	origin *call.Origin  // may be nil
	method string        // "" for an unknown one
	isPart bool          // the span towards the client is that of another record
	parts  []call.Routed // of the request; their spans are below that of the record

	mask             func(string) string // see Options
	state, requestID string              // of the client, once they are masked
}

// masked returns the record without secrets in what clients and servers chose. A tracestate with one is left out.
func (r *record) masked(mask func(string) string) *record {
	safe := *r
	safe.mask = mask
	safe.Toolbox, safe.Server, safe.Tool, safe.Prompt = mask(r.Toolbox), mask(r.Server), mask(r.Tool), mask(r.Prompt)
	if state := r.Trace.Carrier.State; mask(state) == state {
		safe.state = state
	}
	if r.origin != nil {
		safe.requestID = mask(strings.Trim(r.origin.RequestID, `"`))
	}
	return &safe
}

// minStep is the shortest step that gets a span of its own, unless it is a request to the server: a server that is ready
// needs no start, and most decisions take no time.
const minStep = 100 * time.Microsecond

// Names of spans and attributes of the workbench's own.
const (
	attrToolbox = "mcp_workbench.toolbox"
	attrServer  = "mcp_workbench.server"
	attrOutcome = "mcp_workbench.outcome"

	spanStart    = "mcp_workbench.server.start"
	spanTask     = "mcp_workbench.task"
	spanApproval = "mcp_workbench.approval"
	spanLogin    = "mcp_workbench.login"
	spanQuestion = "mcp_workbench.question"
)

// Flags of a span besides those of the traceparent.
const (
	flagSampled     = 1
	flagRemoteKnown = 1 << 8
	flagRemote      = 1 << 9
)

// traces returns the message with the spans of requests.
func (r *resource) traces(batch []record) *collectortrace.ExportTraceServiceRequest {
	var spans []*otlptrace.Span
	for i := range batch {
		spans = append(spans, batch[i].masked(r.mask).spans()...)
	}
	return &collectortrace.ExportTraceServiceRequest{ResourceSpans: []*otlptrace.ResourceSpans{{
		Resource: r.message, ScopeSpans: []*otlptrace.ScopeSpans{{Scope: r.scope, Spans: spans}},
	}}}
}

// spans returns the spans of a request: one for the client, with one for each step as its child.
func (r *record) spans() (all []*otlptrace.Span) {
	if !r.isPart {
		all = append(all, r.whole(r.End.Began.Add(r.End.Took)))
	}
	if r.origin == nil {
		return append(all, r.steps()...)
	}
	all = append(all, r.starts()...)
	for _, part := range r.parts {
		below := *r
		below.Routed = part
		all = append(all, below.masked(r.mask).steps()...)
	}
	return all
}

// steps returns the spans of the steps.
func (r *record) steps() (all []*otlptrace.Span) {
	until := r.End.Began.Add(r.End.Took)
	steps := r.Trace.Steps()
	for i := range steps {
		step := &steps[i]
		if step.Ended.IsZero() || step.Ended.After(until) {
			step.Ended = until
		}
		if step.Kind != call.StepRequest && step.Ended.Sub(step.Began) < minStep {
			continue
		}
		child := r.step(step)
		if i == lastOf(steps, r.culprit()) {
			r.fail(child, false)
		}
		all = append(all, child)
	}
	return all
}

// whole returns the span towards the client.
func (r *record) whole(until time.Time) *otlptrace.Span {
	span := r.span(r.Trace.Span, r.Trace.Parent, r.name(), r.End.Began, until)
	span.Kind = otlptrace.Span_SPAN_KIND_SERVER
	if !r.Trace.Parent.IsZero() {
		span.Flags |= flagRemote
	}
	span.Attributes = append(r.attributes(), r.fromClient()...)
	span.Attributes = append(span.Attributes, text(attrOutcome, outcome(r.End.Status)))
	r.fail(span, true)
	return span
}

// starts returns the spans of servers that were started for a request that the workbench answered.
func (r *record) starts() (all []*otlptrace.Span) {
	for _, start := range r.origin.Starts() {
		span := r.span(tracecontext.NewSpanID(), r.Trace.Span, spanStart, start.Began, start.Ended)
		span.Kind = otlptrace.Span_SPAN_KIND_INTERNAL
		span.Attributes = place(start.Toolbox, start.Server)
		if start.Failed {
			span.Attributes = append(span.Attributes, text("error.type", "start_failed"))
			span.Status = &otlptrace.Status{Code: otlptrace.Status_STATUS_CODE_ERROR}
		}
		all = append(all, span)
	}
	return all
}

// place says which server a span is about; nothing if it is about none.
func place(toolbox, server string) (all []*common.KeyValue) {
	if toolbox != "" {
		all = append(all, text(attrToolbox, toolbox))
	}
	if server != "" {
		all = append(all, text(attrServer, server))
	}
	return all
}

// name is that of the conventions: the method, and the tool or prompt.
func (r *record) name() string {
	name := r.methodName()
	if about := r.Tool + r.Prompt; about != "" {
		name += " " + clean(about)
	}
	return name
}

func (r *record) methodName() string {
	if r.method == "" {
		return meter.Other
	}
	return r.method
}

func (r *record) span(id, parent tracecontext.SpanID, name string, from, to time.Time) *otlptrace.Span {
	span := &otlptrace.Span{
		TraceId: r.Trace.ID[:], SpanId: id[:], TraceState: r.state, Flags: flagSampled | flagRemoteKnown,
		Name: name, StartTimeUnixNano: uint64(r.at(from)), EndTimeUnixNano: uint64(max(r.at(to), r.at(from))),
	}
	if !parent.IsZero() {
		span.ParentSpanId = parent[:]
	}
	return span
}

// at returns a time in nanoseconds since 1970, by the clock of the computer as it was when the request began: it may have been set
// since then, and spans of one request must not overlap or shrink because of that.
func (r *record) at(t time.Time) int64 {
	began := r.End.Began
	if r.origin != nil && !r.origin.Began.IsZero() {
		began = r.origin.Began
	}
	return began.Add(t.Sub(began)).UnixNano()
}

// attributes are those that the spans towards the client and the server share.
func (r *record) attributes() []*common.KeyValue {
	all := append([]*common.KeyValue{text("mcp.method.name", r.methodName())}, place(r.Toolbox, r.Server)...)
	if r.Tool != "" {
		all = append(all, text("gen_ai.tool.name", r.Tool))
	}
	if r.method == protocol.MethodToolsCall {
		all = append(all, text("gen_ai.operation.name", "execute_tool"))
	}
	if r.Prompt != "" {
		all = append(all, text("gen_ai.prompt.name", r.Prompt))
	}
	return all
}

// maxID is the longest id of a client's request that is sent, in bytes; a longer one is left out.
const maxID = 64

func (r *record) fromClient() (all []*common.KeyValue) {
	if r.origin == nil {
		return nil
	}
	if r.requestID != "" && len(r.requestID) <= maxID {
		all = append(all, text("jsonrpc.request.id", r.requestID))
	}
	if r.origin.Revision != "" {
		all = append(all, text("mcp.protocol.version", r.origin.Revision))
	}
	if r.origin.OverHTTP {
		return append(all, text("network.transport", "tcp"), text("network.protocol.name", "http"))
	}
	return append(all, text("network.transport", "pipe"))
}

// step returns the span of a step.
func (r *record) step(step *call.Step) *otlptrace.Span {
	parent, name := r.Trace.Span, ""
	switch step.Kind {
	case call.StepRequest:
		span := r.span(step.Span, parent, r.name(), step.Began, step.Ended)
		span.Kind = otlptrace.Span_SPAN_KIND_CLIENT
		span.Attributes = append(r.attributes(), r.toServer(step)...)
		return span
	case call.StepStart:
		name = spanStart
	case call.StepTask:
		name = spanTask
	case call.StepApproval:
		name = spanApproval
	case call.StepLogin:
		name = spanLogin
	case call.StepQuestion:
		name = spanQuestion
		if !step.During.IsZero() {
			parent = step.During
		}
	}
	span := r.span(step.Span, parent, name, step.Began, step.Ended)
	span.Kind = otlptrace.Span_SPAN_KIND_INTERNAL
	span.Attributes = place(r.Toolbox, r.Server)
	return span
}

func (r *record) toServer(step *call.Step) (all []*common.KeyValue) {
	if step.ID != 0 {
		all = append(all, text("jsonrpc.request.id", strconv.FormatUint(step.ID, 10)))
	}
	if step.Peer.Revision != "" {
		all = append(all, text("mcp.protocol.version", string(step.Peer.Revision)))
	}
	if step.Peer.Host == "" {
		return append(all, text("network.transport", "pipe"))
	}
	return append(all, text("network.transport", "tcp"), text("network.protocol.name", "http"),
		text("server.address", r.mask(step.Peer.Host)), number("server.port", int64(step.Peer.Port)))
}

// culprit returns the kind of step in which a request failed; 0 for none.
func (r *record) culprit() call.StepKind {
	switch r.End.ErrorType {
	case "", "cancelled", "not_found", "invalid_arguments", "refused":
		return 0
	case "start_failed":
		return call.StepStart
	case "login_needed":
		return call.StepLogin
	case "denied":
		return call.StepApproval
	}
	return call.StepRequest
}

// lastOf returns the number of the last step of a kind; -1 without one.
func lastOf(steps []call.Step, kind call.StepKind) int {
	for i := len(steps) - 1; i >= 0; i-- {
		if steps[i].Kind == kind {
			return i
		}
	}
	return -1
}

// fail marks a span as failed, if the request did. Errors that the client made are none of a server.
func (r *record) fail(span *otlptrace.Span, towardsClient bool) {
	kind := r.End.ErrorType
	if kind == "" || r.End.Status == call.StatusCancelled || r.End.Status == call.StatusInputRequired {
		return
	}
	span.Attributes = append(span.Attributes, text("error.type", kind))
	code, err := strconv.Atoi(kind)
	if err == nil {
		span.Attributes = append(span.Attributes, text("rpc.response.status_code", kind))
	}
	if err == nil && towardsClient && isOfClient(code) {
		return
	}
	span.Status = &otlptrace.Status{Code: otlptrace.Status_STATUS_CODE_ERROR}
}

// isOfClient reports whether the conventions count an error as one of the client.
func isOfClient(code int) bool {
	switch code {
	case protocol.CodeParseError, protocol.CodeInvalidRequest, protocol.CodeMethodNotFound, protocol.CodeInvalidParams, -32002: // a resource is not found
		return true
	}
	return false
}

// outcome names the way in which a request ended, in the words of the metrics.
func outcome(status call.Status) string {
	if status == call.StatusRPCError {
		return "rpc_error"
	}
	return strings.ReplaceAll(status.String(), " ", "_")
}
