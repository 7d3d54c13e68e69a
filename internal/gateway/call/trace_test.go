package call

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/tracecontext"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
)

// theTrace is a tracer with one trace, for one request; nil traces nothing.
type theTrace struct{ trace *Trace }

func (t theTrace) Trace(*Call) *Trace { return t.trace }

func newTrace() *Trace {
	return &Trace{ID: tracecontext.NewTraceID(), Span: tracecontext.NewSpanID(), Carrier: tracecontext.Carrier{State: "a=1"}}
}

func kindsOf(steps []Step) (kinds []StepKind) {
	for _, step := range steps {
		kinds = append(kinds, step.Kind)
	}
	return kinds
}

// sentTo returns what a server got: the lines of its log with a method.
func sentTo(t *testing.T, log, method string) (lines []string) {
	for line := range strings.Lines(readAll(t, log)) {
		if strings.Contains(line, `"`+method+`"`) {
			lines = append(lines, line)
		}
	}
	return lines
}

func TestTracedCallsSaySoToTheServer(t *testing.T) {
	const meta, params = `{` + hop + `,"progressToken":"p","traceparent":"old","tracestate":"old","x":1}`, `{"uri":"a:b","_meta":{` + hop + `}}`
	for _, era := range []string{"legacy", "modern"} {
		for _, modern := range []bool{false, true} {
			servers, log := serve(t, `{"era":"`+era+`","capabilities":{"resources":{},"tools":{}},`+tools+`,"calls":{"x":[{"result":{"content":[]}}]},
				"on":{"resources/read":[{"result":{"contents":[]}}],"resources/list":[{"result":{"resources":[]}}]}}`)
			options := everything
			options.Modern = modern
			for _, trace := range []*Trace{nil, newTrace(), {Silent: true}} {
				a := newAnswerer(t, options, nil)
				router := NewRouter(Stages{Observe: []Observer{newRecorder(t)}, Trace: theTrace{trace}})
				for _, arguments := range []string{meta, ""} {
					router.CallTool(servers, &Request{
						Ref: toolbox.Ref{Toolbox: "T", Server: "S", Name: "x"}, Arguments: wire.Raw([]byte(`{"a":1}`)), Meta: wire.Raw([]byte(arguments)),
						Client: a, Canceller: new(Canceller), Replier: a,
					})
					if got := await(t, a.replies); got.err != nil {
						t.Fatal(got.err)
					}
				}
				box, _ := servers.Toolbox("T")
				server, _ := box.Server("S")
				for method, params := range map[string]string{"resources/read": params, "resources/list": ""} {
					router.Forward(server, &Forwarding{Method: method, Params: wire.Raw([]byte(params)), Client: a, Canceller: new(Canceller), Replier: a})
					await(t, a.replies)
				}
				checkSent(t, log, era, trace)
			}
		}
	}
}

// checkSent looks at the last requests of each kind that a server got.
func checkSent(t *testing.T, log, era string, trace *Trace) {
	t.Helper()
	var last []string
	for _, method := range []string{"tools/call", "resources/read", "resources/list"} {
		lines := sentTo(t, log, method)
		last = append(last, lines[max(0, len(lines)-2):]...)
		if method != "tools/call" {
			last = append(last[:len(last)-min(2, len(lines))], lines[len(lines)-1])
		}
	}
	steps := []Step(nil)
	if trace != nil {
		steps = slices.DeleteFunc(trace.Steps(), func(s Step) bool { return s.Kind != StepRequest })
		if len(steps) != len(last) {
			t.Fatalf("%d requests are recorded, want %d: %+v", len(steps), len(last), steps)
		}
	}
	for i, line := range last {
		said := strings.Count(line, "traceparent")
		switch {
		case trace == nil || trace.Silent:
			if i == 0 != (said == 1 && strings.Contains(line, `"traceparent":"old","tracestate":"old","x":1`)) || i > 0 && said > 0 {
				t.Errorf("%s, not traced: the server got %s", era, line)
			}
		case said != 1 || strings.Contains(line, "old") || !strings.Contains(line, `"tracestate":"a=1"`) || !strings.Contains(line, `"00-`+trace.ID.String()+"-"):
			t.Errorf("%s, traced: the server got %s", era, line)
		}
		if era == "modern" && strings.Count(line, `"io.modelcontextprotocol/protocolVersion"`) > 1 {
			t.Errorf("the server got %s", line)
		}
	}
	for _, step := range steps {
		if !trace.Silent && !slices.ContainsFunc(last, func(line string) bool { return strings.Contains(line, step.Span.String()) }) {
			t.Errorf("no request has the span %s as its parent: %s", step.Span, last)
		}
		if step.ID == 0 || step.Ended.IsZero() || step.Peer.Revision == "" {
			t.Errorf("the step is %+v", step)
		}
	}
}

// Each request of several rounds has its own span, and so has the question between them.
func TestRoundsAreSteps(t *testing.T) {
	servers, log := serve(t, oneLine(twoRounds))
	a := newAnswerer(t, everything, func(q *downstream.Question) { q.Answer(respond(`{"action":"accept"}`)) })
	trace := newTrace()
	NewRouter(Stages{Observe: []Observer{newRecorder(t)}, Trace: theTrace{trace}}).CallTool(servers, &Request{
		Ref: toolbox.Ref{Toolbox: "T", Server: "S", Name: "x"}, Client: a, Canceller: new(Canceller), Replier: a,
	})
	await(t, a.replies)
	steps := trace.Steps()
	want := []StepKind{StepStart, StepRequest, StepQuestion, StepRequest, StepTask, StepRequest}
	if !slices.Equal(kindsOf(steps), want) {
		t.Fatalf("the steps are %v, want %v", kindsOf(steps), want)
	}
	for i, step := range steps {
		if step.Ended.Before(step.Began) || i > 0 && step.Began.Before(steps[i-1].Ended) {
			t.Errorf("step %d is from %s to %s", i, step.Began, step.Ended)
		}
	}
	for i, line := range sentTo(t, log, "tools/call") {
		if span := steps[1+2*i].Span.String(); strings.Count(line, span) != 1 || strings.Count(line, "traceparent") != 1 {
			t.Errorf("round %d is %s, want span %s", i, line, span)
		}
	}
}

func TestQuestionsOfLegacyServersAreSteps(t *testing.T) {
	trace := newTrace()
	trace.send(downstream.Peer{})
	trace.enter(atServer, time.Now())
	answered := trace.asked()
	answered()
	trace.asked() // is not answered
	trace.enter(inWorkbench, time.Now())
	steps := trace.Steps()
	if !slices.Equal(kindsOf(steps), []StepKind{StepRequest, StepQuestion, StepQuestion}) {
		t.Fatalf("the steps are %v", kindsOf(steps))
	}
	if steps[1].During != steps[0].Span || steps[0].Ended.IsZero() || steps[1].Ended.IsZero() || !steps[2].Ended.IsZero() {
		t.Errorf("the steps are %+v", steps)
	}
}

func TestStepsAreBounded(t *testing.T) {
	trace := newTrace()
	for range 2 * maxSteps {
		trace.enter(inStart, time.Now())
		trace.enter(inWorkbench, time.Now())
		if trace.send(downstream.Peer{}) == nil {
			t.Fatal("no carrier")
		}
		trace.asked()()
		trace.sent(1)
		trace.unsent()
	}
	if len(trace.Steps()) != maxSteps {
		t.Errorf("there are %d steps", len(trace.Steps()))
	}
	// A request without a span of its own is told the one above, so that the spans of its server are not without a parent.
	if got, _ := tracecontext.ParseParent(trace.send(downstream.Peer{}).Parent); got.Span != trace.Span {
		t.Errorf("the server is told %v, want %v", got.Span, trace.Span)
	}
}

func TestPollsAreOneStep(t *testing.T) {
	servers, _ := serve(t, `{"era":"modern",`+tools+`,"on":{"tasks/get":[{"result":{"status":"working"}},{"result":{"status":"completed","result":{"content":[]}}}]},
		"calls":{"x":[{"result":{"resultType":"task","taskId":"t-1","status":"working","pollIntervalMs":1}}]}}`)
	a := newAnswerer(t, fleet.ProfileOptions{}, nil)
	trace := newTrace()
	NewRouter(Stages{Observe: []Observer{newRecorder(t)}, Trace: theTrace{trace}}).CallTool(servers, &Request{
		Ref: toolbox.Ref{Toolbox: "T", Server: "S", Name: "x"}, Client: a, Canceller: new(Canceller), Replier: a,
	})
	await(t, a.replies)
	if got := kindsOf(trace.Steps()); !slices.Equal(got, []StepKind{StepStart, StepRequest, StepTask}) {
		t.Errorf("the steps are %v", got)
	}
}
