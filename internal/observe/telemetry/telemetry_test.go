package telemetry

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/tracecontext"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/meter"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/test/otlptest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// anyServer returns the server t/s, which is never started.
func anyServer(t *testing.T) *fleet.Server {
	t.Helper()
	servers := fleet.New(fleet.Options{Config: &config.Config{Toolboxes: []config.Toolbox{{Name: "t", Servers: []config.Server{{Name: "s", Command: "x"}}}}}})
	box, _ := servers.Toolbox("t")
	server, ok := box.Server("s")
	if !ok {
		t.Fatal("there is no server")
	}
	return server
}

// logged is a log that a test can read while it is written.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// start starts a sender to an address.
func start(t *testing.T, address string, variables ...string) (*Sender, *logged) {
	t.Helper()
	log := new(logged)
	settings := Read(append(variables, "OTEL_EXPORTER_OTLP_ENDPOINT="+address))
	s := New(Options{
		Settings: settings, Version: "1.2.3", Log: slog.New(slog.NewTextHandler(log, nil)),
		Metrics: func() (meter.Snapshot, []ServerState) {
			m := meter.New(time.Now())
			m.CallBegan(&call.Call{Server: anyServer(t)}, time.Now())
			traced := aCall(t, nil)
			traced.Trace = &call.Trace{ID: tracecontext.TraceID{1}}
			m.CallEnded(traced, call.End{Status: call.StatusOK, Began: time.Now(), Took: time.Second, Sent: time.Now()})
			m.ServerEnded("t", "s", time.Minute, true)
			m.ClientLeft(true, protocol.Revision20251125, time.Minute)
			return m.Snapshot(), []ServerState{{"t", "s", "ready", 100, 3, true}, {"t", "s", "ready", 20, 3, true}, {"t", "s", "idle", 0, 3, true}}
		},
	})
	if s.traces != nil {
		s.traces.pause = time.Millisecond
	}
	s.Start()
	t.Cleanup(func() { s.Close(t.Context()) })
	return s, log
}

func aCall(t *testing.T, client call.Client) *call.Call {
	return &call.Call{Server: anyServer(t), Method: "tools/call", Name: "x", Tool: wire.Raw([]byte("{}")), Client: client}
}

// end tells the sender of a call that was traced.
func (s *Sender) end(c *call.Call, end call.End) {
	c.Trace = s.Tracer().Trace(c)
	if end.Status == 0 {
		end.Status = call.StatusOK
	}
	end.Began, end.Took = time.Now(), time.Second
	s.CallBegan(c, end.Began)
	s.CallEnded(c, end)
}

func TestNothingIsSentUnlessConfigured(t *testing.T) {
	s := New(Options{Settings: Read(nil)})
	if s != nil || s.Tracer() != nil {
		t.Fatalf("there is a sender: %+v", s)
	}
	s.Start()
	s.Close(t.Context())
}

func TestSpansAndMetricsArrive(t *testing.T) {
	for _, compression := range []string{"none", "gzip"} {
		receiver := otlptest.New(t)
		s, log := start(t, receiver.URL, "OTEL_EXPORTER_OTLP_HEADERS=api-key=abc", "OTEL_SERVICE_NAME=mine", "OTEL_RESOURCE_ATTRIBUTES=team=a", "OTEL_EXPORTER_OTLP_COMPRESSION="+compression)
		for range 3 {
			s.end(aCall(t, nil), call.End{})
		}
		s.Close(t.Context())
		if spans := receiver.Spans(); len(spans) != 3 || spans[0].Name != "tools/call x" || spans[0].Kind != "server" || spans[0].Parent != "" {
			t.Errorf("the spans are %+v", spans)
		}
		if who := receiver.Resource(); who["service.name"] != "mine" || who["team"] != "a" || who["service.version"] != "1.2.3" || who["service.instance.id"] == "" {
			t.Errorf("they are from %v", who)
		}
		if got := receiver.Headers().Get("Api-Key"); got != "abc" {
			t.Errorf("the header is %q", got)
		}
		points := receiver.Metric("mcp.server.operation.duration").GetHistogram().GetDataPoints()
		if len(points) != 1 || points[0].GetCount() != 1 || points[0].GetSum() != 1 || len(points[0].GetExplicitBounds()) != 14 || len(points[0].GetBucketCounts()) != 15 || points[0].GetBucketCounts()[6] != 1 ||
			len(points[0].GetExemplars()) != 1 || points[0].GetExemplars()[0].GetTraceId()[0] != 1 || points[0].GetExemplars()[0].GetAsDouble() != 1 {
			t.Errorf("the durations are %v", points)
		}
		states := make(map[string]float64) // also those that no session is in, so that a receiver forgets the one before
		for _, point := range receiver.Metric("mcp_workbench.server.state").GetGauge().GetDataPoints() {
			states[point.GetAttributes()[2].GetValue().GetStringValue()] = point.GetAsDouble()
		}
		wantStates := map[string]float64{"ready": 2, "idle": 1, "faulty": 0, "starting": 0, "backing_off": 0, "login_needed": 0, "stopping": 0}
		memory := receiver.Metric("mcp_workbench.server.memory").GetGauge().GetDataPoints()
		if !maps.Equal(states, wantStates) || len(memory) != 1 || memory[0].GetAsDouble() != 120 {
			t.Errorf("the states are %v, the memory %v", states, memory)
		}
		for name, label := range map[string]string{"mcp.client.session.duration": "server_ended", "mcp.server.session.duration": "tcp"} {
			sessions := receiver.Metric(name).GetHistogram().GetDataPoints()
			if len(sessions) != 1 || sessions[0].GetCount() != 1 || sessions[0].GetSum() != 60 || !strings.Contains(fmt.Sprint(sessions[0].GetAttributes()), label) {
				t.Errorf("%s is %v", name, sessions)
			}
		}
		if calls := receiver.Metric("mcp_workbench.calls").GetSum(); len(calls.GetDataPoints()) != 1 || !calls.GetIsMonotonic() {
			t.Errorf("the calls are %v", calls)
		}
		if waiting := receiver.Metric("mcp_workbench.questions.waiting").GetGauge().GetDataPoints(); len(waiting) != 1 || waiting[0].GetAsDouble() != 3 || len(waiting[0].GetAttributes()) != 2 {
			t.Errorf("waiting are %v", waiting)
		}
		changed := receiver.Metric("mcp_workbench.definitions.changed").GetSum().GetDataPoints()
		if len(changed) != 1 || changed[0].GetAttributes()[2].GetKey() != "locked" || changed[0].GetAttributes()[2].GetValue().GetStringValue() != "true" {
			t.Errorf("changed are %v", changed)
		}
		if log.String() != "" {
			t.Errorf("the log is %s", log)
		}
	}
}

func TestReceiverThatIsDown(t *testing.T) {
	receiver := otlptest.New(t)
	address := receiver.URL
	receiver.Close()
	s, log := start(t, address, "OTEL_EXPORTER_OTLP_HEADERS=api-key=secret")
	began := time.Now()
	for range maxQueue + maxBatch + 100 {
		s.end(aCall(t, nil), call.End{})
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("calls took %s", took)
	}
	s.Close(t.Context())
	if text := log.String(); !strings.Contains(text, "spans") || strings.Contains(text, "secret") || strings.Count(text, "\n") > 4 {
		t.Errorf("the log is %s", text)
	}
}

func TestSlowReceiverIsLeft(t *testing.T) {
	receiver := otlptest.New(t)
	released := make(chan struct{})
	receiver.Before = func(http.ResponseWriter, *http.Request) bool {
		<-released
		return false
	}
	defer close(released)
	s, log := start(t, receiver.URL)
	s.end(aCall(t, nil), call.End{})
	began := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	s.Close(ctx)
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("it took %s", took)
	}
	if !strings.Contains(log.String(), "requests=1") {
		t.Errorf("the log is %s", log)
	}
}

func TestReceiverThatWantsToWait(t *testing.T) {
	receiver := otlptest.New(t)
	var refused atomic.Int64
	var first, second atomic.Int64
	receiver.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "traces") {
			return true
		}
		if refused.Add(1) == 1 {
			first.Store(time.Now().UnixMilli())
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusServiceUnavailable)
			return false
		}
		second.Store(time.Now().UnixMilli())
		return true
	}
	s, log := start(t, receiver.URL)
	s.end(aCall(t, nil), call.End{})
	receiver.Await(t, 1)
	if waited := second.Load() - first.Load(); waited < 1000 {
		t.Errorf("it waited %d ms", waited)
	}
	if log.String() != "" {
		t.Errorf("the log is %s", log)
	}
}

func TestRefusedSpansAreDropped(t *testing.T) {
	receiver := otlptest.New(t)
	var posts atomic.Int64
	receiver.Before = func(w http.ResponseWriter, _ *http.Request) bool {
		posts.Add(1)
		http.Redirect(w, httptestRequest(t), "/elsewhere", http.StatusTemporaryRedirect)
		return false
	}
	s, log := start(t, receiver.URL, "OTEL_METRICS_EXPORTER=none")
	s.end(aCall(t, nil), call.End{})
	s.Close(t.Context())
	if posts.Load() != 1 || !strings.Contains(log.String(), "HTTP status 307") {
		t.Errorf("there were %d attempts, the log is %s", posts.Load(), log)
	}
}

func httptestRequest(t *testing.T) *http.Request {
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://h/", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// client is a client whose request came over HTTP.
type client struct {
	call.Client
	origin call.Origin
}

func (c *client) TraceOrigin() *call.Origin { return &c.origin }

const (
	sampled   = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	unsampled = "00-0af7651916cd43dd8448eb211c80319d-b7ad6b7169203331-00"
)

func TestSampling(t *testing.T) {
	const ours = "ours"
	for _, test := range []struct {
		name, sampler, argument, propagators string
		meta, header                         string
		want                                 string // the trace; ours: a new one; "": none
	}{
		{name: "a new trace", want: ours},
		{name: "the client's", meta: sampled, want: "0af7651916cd43dd8448eb211c80319c"},
		{name: "the header's", header: sampled, want: "0af7651916cd43dd8448eb211c80319c"},
		{name: "_meta wins", meta: unsampled, header: sampled},
		{name: "_meta wins 2", meta: sampled, header: unsampled, want: "0af7651916cd43dd8448eb211c80319c"},
		{name: "no usable _meta", meta: "x", header: sampled, want: "0af7651916cd43dd8448eb211c80319c"},
		{name: "not sampled", meta: unsampled},
		{name: "never", sampler: "always_off", meta: sampled},
		{name: "never a new one", sampler: "parentbased_always_off", meta: sampled, want: "0af7651916cd43dd8448eb211c80319c"},
		{name: "never a new one 2", sampler: "parentbased_always_off"},
		{name: "always", sampler: "always_on", meta: unsampled, want: "0af7651916cd43dd8448eb211c80319d"},
		{name: "ratio 0", sampler: "traceidratio", argument: "0", meta: sampled},
		{name: "ratio 1", sampler: "traceidratio", argument: "1", want: ours},
		{name: "nothing is propagated", propagators: "none", meta: sampled, want: ours},
	} {
		t.Run(test.name, func(t *testing.T) {
			settings := Read([]string{
				"OTEL_EXPORTER_OTLP_ENDPOINT=http://h/", "OTEL_TRACES_SAMPLER=" + test.sampler, "OTEL_TRACES_SAMPLER_ARG=" + test.argument, "OTEL_PROPAGATORS=" + test.propagators,
			})
			by := &client{origin: call.Origin{Header: tracecontext.Carrier{Parent: test.header, State: "h=1", Baggage: "b=1"}}}
			if test.meta != "" {
				by.origin.Meta = tracecontext.Carrier{Parent: test.meta, State: "m=1"}
			}
			sampler := newSampler(&settings)
			trace := sampler.Trace(aCall(t, by))
			if again := sampler.Trace(aCall(t, by)); (again == nil) != (trace == nil) || trace != nil && (again.ID != trace.ID || again.Span != trace.Span) {
				t.Errorf("two parts of a request have the traces %+v and %+v", trace, again)
			}
			switch {
			case trace == nil:
				if test.want != "" {
					t.Error("it is not traced")
				}
				return
			case test.want == "":
				t.Fatalf("it is traced: %+v", trace.ID)
			case test.want != ours && trace.ID.String() != test.want, test.want == ours != trace.Parent.IsZero():
				t.Errorf("the trace is %s of %s", trace.ID, trace.Parent)
			}
			if trace.Silent != (test.propagators == "none") || trace.Silent != (trace.Carrier.Baggage == "") {
				t.Errorf("the trace is %+v", trace.Carrier)
			}
			state := "m=1"
			if test.header != "" && test.meta != sampled {
				state = "h=1"
			}
			if test.want == ours {
				state = ""
			}
			if trace.Carrier.State != state {
				t.Errorf("the state is %s, want %s", trace.Carrier.State, state)
			}
		})
	}
}

func TestNewTracesAreLimited(t *testing.T) {
	settings := Read([]string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://h/"})
	s, c, traced := newSampler(&settings), aCall(t, nil), 0
	for range 10_000 {
		if s.Trace(c) != nil {
			traced++
		}
	}
	if traced < maxNewTraces || traced > 3*maxNewTraces {
		t.Errorf("%d are traced", traced)
	}
	c.Meta = wire.Raw([]byte(`{"traceparent":"` + sampled + `"}`))
	if s.Trace(c) == nil {
		t.Error("the client's is not traced")
	}
}

func TestRatio(t *testing.T) {
	settings := Read([]string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://h/", "OTEL_TRACES_SAMPLER=traceidratio", "OTEL_TRACES_SAMPLER_ARG=0.25"})
	s, c, traced := newSampler(&settings), aCall(t, nil), 0
	for range 10_000 {
		if s.Trace(c) != nil {
			traced++
		}
	}
	if traced < 2000 || traced > 3000 {
		t.Errorf("%d of 10000 are traced", traced)
	}
}

// A request that is not traced costs no allocation.
func TestUntracedRequestsAllocateNothing(t *testing.T) {
	settings := Read([]string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://h/"})
	s, c := newSampler(&settings), aCall(t, &client{})
	c.Meta = wire.Raw([]byte(`{"progressToken":1,"traceparent":"` + unsampled + `"}`))
	if found := testing.AllocsPerRun(100, func() { s.Trace(c) }); found > 1 { // the text of the traceparent
		t.Errorf("there are %v allocations", found)
	}
}
