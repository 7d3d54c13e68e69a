package call

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/tracecontext"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
)

// Tracer decides which requests are traced.
type Tracer interface {
	// Trace returns the trace of a request that is about to begin; nil if it is not traced. It must not block.
	Trace(call *Call) *Trace
}

// Trace is the part of a trace that a request has in the workbench. The tracer sets the exported fields, which do not
// change. A trace exists only for a request that is recorded (sampled).
type Trace struct {
	ID      tracecontext.TraceID
	Span    tracecontext.SpanID  // of the request, from its client's view
	Parent  tracecontext.SpanID  // the client's; zero if the trace begins here
	Carrier tracecontext.Carrier // that the client sent, State and Baggage are passed on
	// Silent says that the server is not told of the trace.
	Silent bool

	mu    sync.Mutex
	steps []Step
	open  int // the number of the step that goes on, from 1; 0: none does
}

// maxSteps bounds the steps of a request that are recorded; later ones are left out.
const maxSteps = 64

// StepKind is what happens in a step.
type StepKind uint8

// The kinds of steps.
const (
	StepStart    StepKind = iota + 1 // the server is started, or asked for log messages first
	StepRequest                      // the request is at the server
	StepTask                         // the server works on a task, or wants the request again later
	StepApproval                     // a stage decides, for example by asking a person
	StepLogin                        // a person logs in to the server
	StepQuestion                     // a person, or the client's model, answers a question of the server
)

// Step is a part of a request that took time outside of the workbench.
type Step struct {
	Kind  StepKind
	Span  tracecontext.SpanID
	Began time.Time
	Ended time.Time // zero if it went on until the request ended
	// During is the request at the server in which a legacy server asked its question; zero otherwise.
	During tracecontext.SpanID
	Peer   downstream.Peer // only of StepRequest
	ID     uint64          // of the JSON-RPC request, only of StepRequest; 0 if it was not sent
}

// Steps returns the steps so far, in the order in which they began.
func (t *Trace) Steps() []Step {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.steps)
}

// stepsOf says which step a phase of the request is; a request at the server begins with sending, see send.
var stepsOf = [phases]StepKind{
	inStart: StepStart, awaitsServer: StepTask, atApproval: StepApproval, atLogin: StepLogin, atQuestion: StepQuestion,
}

// enter ends the step that goes on, and begins that of a phase, if there is one.
func (t *Trace) enter(next phase, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	kind := stepsOf[next]
	if t.open > 0 {
		current := &t.steps[t.open-1]
		if current.Kind == kind || next == atServer && current.Kind == StepRequest {
			return
		}
		current.Ended, t.open = now, 0
	}
	switch last := len(t.steps); {
	case kind == 0:
	case kind == StepTask && last > 0 && t.steps[last-1].Kind == StepTask: // it was polled
		t.steps[last-1].Ended, t.open = time.Time{}, last
	default:
		t.begin(Step{Kind: kind, Began: now})
	}
}

// begin adds a step, which goes on, and returns its span: that of the request if the step is left out. The caller holds mu.
func (t *Trace) begin(step Step) tracecontext.SpanID {
	if len(t.steps) == maxSteps {
		return t.Span
	}
	step.Span = tracecontext.NewSpanID()
	t.steps = append(t.steps, step)
	t.open = len(t.steps)
	return step.Span
}

// send begins the step of a request that is about to be sent, and returns what it carries.
func (t *Trace) send(to downstream.Peer) *tracecontext.Carrier {
	now := time.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open > 0 {
		t.steps[t.open-1].Ended, t.open = now, 0
	}
	span := t.begin(Step{Kind: StepRequest, Began: now, Peer: to})
	return &tracecontext.Carrier{
		Parent: tracecontext.Parent{Trace: t.ID, Span: span, Sampled: true}.String(), State: t.Carrier.State, Baggage: t.Carrier.Baggage,
	}
}

// sent records the id of the request that was sent last; unsent removes its step.
func (t *Trace) sent(id uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range slices.Backward(t.steps) {
		if t.steps[i].Kind == StepRequest {
			t.steps[i].ID = id
			return
		}
	}
}

func (t *Trace) unsent() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if last := len(t.steps); last > 0 && t.steps[last-1].Kind == StepRequest && t.open == last {
		t.steps, t.open = t.steps[:last-1], 0
	}
}

// asked records a question of a legacy server, whose request goes on meanwhile. The function that it returns records
// the answer.
func (t *Trace) asked() (answered func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.steps) == maxSteps {
		return func() {}
	}
	step := Step{Kind: StepQuestion, Span: tracecontext.NewSpanID(), Began: time.Now()}
	if t.open > 0 {
		step.During = t.steps[t.open-1].Span
	}
	t.steps = append(t.steps, step)
	number := len(t.steps) - 1
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if number < len(t.steps) && t.steps[number].Span == step.Span {
			t.steps[number].Ended = time.Now()
		}
	}
}

// trace begins the trace of a request, if it is traced.
func (r *run) trace() {
	if tracer := r.router.stages.Trace; tracer != nil {
		r.call.Trace = tracer.Trace(&r.call)
		r.timing.trace = r.call.Trace
	}
}

// routed describes the request as a part of what its client asked for. Names that a client invented are left out.
func (c *Call) routed() Routed {
	part := Routed{Toolbox: c.Server.Toolbox(), Server: c.Server.Name()}
	if !c.Tool.IsAbsent() {
		part.Tool = strings.Clone(c.Name)
	}
	return part
}

// RoutedWith is routed for a request that ended.
func (c *Call) RoutedWith(end End) Routed {
	part := c.routed()
	part.End, part.Trace = end, c.Trace
	if c.Method == protocol.MethodPromptsGet && end.Status == StatusOK {
		part.Prompt = strings.Clone(c.Name)
	}
	return part
}

// carry returns what the next request to the server carries of the trace; nil: nothing.
func (r *run) carry() *tracecontext.Carrier {
	t := r.call.Trace
	if t == nil {
		return nil
	}
	if origin := OriginOf(r.call.Client); origin != nil {
		origin.Route(r.call.routed())
	}
	carrier := t.send(r.lease.Session.Peer())
	if t.Silent {
		return nil
	}
	return carrier
}

// sendCall sends a call of a tool. One that is traced says so to the server; another is sent as it is. The caller holds
// mu, since the response has to wait until the id is known.
func (r *run) sendCall(call downstream.ToolCall) (err error) {
	if carrier := r.carry(); carrier != nil {
		if call.Meta.Kind() != "object" {
			call.Requester.Modern = false // the new _meta is not a client's
		}
		call.Meta, call.Trace = carrier.Write(call.Meta), carrier
	}
	r.id, err = r.lease.Session.CallTool(call, r)
	r.noteID()
	return err
}

// sendForward is sendCall for other requests.
func (r *run) sendForward(forward downstream.Forward) (err error) {
	if kind := forward.Params.Kind(); forward.Params.IsAbsent() || kind == "object" {
		if carrier := r.carry(); carrier != nil {
			meta := forward.Params.Member("_meta")
			if meta.Kind() != "object" {
				forward.Requester.Modern = false
			}
			forward.Params, forward.Edits, forward.Trace = withMeta(forward.Params, meta, carrier.Write(meta), forward.Edits), nil, carrier
		}
	}
	r.id, err = r.lease.Session.Forward(forward, r)
	r.noteID()
	return err
}

func (r *run) noteID() {
	if t := r.call.Trace; t != nil && r.id != 0 {
		t.sent(r.id)
	}
}

// withMeta returns params with the edits and other _meta.
func withMeta(params, meta, next wire.Payload, edits []wire.Edit) wire.Payload {
	if meta.Kind() == "object" {
		edits = append(slices.Clone(edits), wire.Edit{Part: meta, With: next.Bytes()})
		return wire.Raw(wire.AppendEdited(nil, params, edits...))
	}
	edited := wire.Raw(wire.AppendEdited(nil, params, slices.Clone(edits)...))
	member := append([]byte(`"_meta":`), next.Bytes()...)
	return wire.Raw(wire.AppendWithMembers(nil, edited, func(key string) bool { return key == "_meta" }, member))
}
