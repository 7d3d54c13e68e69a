package front

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/audit"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/history"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/meter"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/telemetry"
)

// ofACall is what a call allocates while nothing observes it: the two messages, and the record of the call.
const ofACall = 3

// observations are the ways to observe calls, as app/stages.go combines them, and at first none.
var observations = []struct {
	name  string
	begin func(testing.TB) observers
	// most is how many more allocations a call may have than without any of them. What traces that are recorded and the audit
	// log allocate is only measured: they are off unless somebody asks for them.
	most float64
}{
	{"off", func(testing.TB) observers { return observers{} }, 0},
	{"metrics", func(testing.TB) observers {
		return observers{stages: call.Stages{Observe: []call.Observer{meter.New(time.Now())}}}
	}, 0},
	{"metrics+history", countedAndRemembered, 1},
	{"metrics+history+traces,unsampled", func(tb testing.TB) observers { return traced(tb, "always_off") }, 4},
	{"metrics+history+traces,sampled", func(tb testing.TB) observers { return traced(tb, "always_on") }, math.Inf(1)},
	{"metrics+history+audit", func(tb testing.TB) observers {
		with, folder := countedAndRemembered(tb), tb.TempDir()
		log := audit.Open(audit.Options{Folder: filepath.Join(folder, "log"), Keys: filepath.Join(folder, "keys")})
		tb.Cleanup(func() {
			if err := log.Close(context.Background()); err != nil {
				tb.Error(err)
			}
		})
		stage := audit.NewStage(log)
		with.stages.Screen, with.stages.Admit, with.stages.Hash = []call.Screener{stage}, []call.Admitter{stage}, true
		with.stages.Observe = append(with.stages.Observe, stage)
		return with
	}, math.Inf(1)},
}

// observers are what watches requests: on their way to a server, and when they are answered.
type observers struct {
	stages   call.Stages
	answered func(*call.Origin, call.Answer)
}

// countedAndRemembered is what every workbench has.
func countedAndRemembered(testing.TB) observers {
	return observers{stages: call.Stages{Observe: []call.Observer{meter.New(time.Now()), history.New(strings.Clone)}, Shape: true}}
}

// traced sends spans to a receiver that throws them away.
func traced(tb testing.TB, sampler string) observers {
	tb.Helper()
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }))
	tb.Cleanup(receiver.Close)
	sender := telemetry.New(telemetry.Options{Settings: telemetry.Read([]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT=" + receiver.URL, "OTEL_TRACES_SAMPLER=" + sampler,
	})})
	sender.Start()
	tb.Cleanup(func() { sender.Close(context.Background()) })
	with := countedAndRemembered(tb)
	with.stages.Trace, with.stages.Observe, with.answered = sender.Tracer(), append(with.stages.Observe, sender), sender.Answered()
	return with
}

// observedClient begins a session whose calls are observed, and returns a call and its answer.
func observedClient(tb testing.TB, era string, by observers) (client *echoClient, request, want []byte) {
	tb.Helper()
	client = newTracedClient(tb, era, call.NewRouter(by.stages), by.answered)
	if era == "legacy" {
		request, want = client.useTool()
	} else {
		request, want = useToolModern(`{}`)
	}
	return client, request, want
}

func TestAllocationsOfAnObservedCall(t *testing.T) {
	for _, era := range []string{"legacy", "modern"} {
		for _, observed := range observations {
			t.Run(era+"/"+observed.name, func(t *testing.T) {
				client, call, want := observedClient(t, era, observed.begin(t))
				found := testing.AllocsPerRun(500, func() { client.expect(call, want) })
				t.Logf("a call has %v allocations", found)
				if found > ofACall+observed.most {
					t.Errorf("a call has %v allocations, want at most %d + %v", found, ofACall, observed.most)
				}
			})
		}
	}
}

// BenchmarkObserved compares calls that are observed with the same calls while nothing observes them, in turn, many in flight:
// one call at a time takes so much longer in the kernel that the difference disappears. Times are medians.
func BenchmarkObserved(b *testing.B) {
	for _, observed := range observations {
		b.Run(observed.name, func(b *testing.B) {
			off := newMeasuredCalls(b, observers{})
			on := newMeasuredCalls(b, observed.begin(b))
			for b.Loop() {
				off.run(b)
				on.run(b)
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(on.time(), "µs/call")
			b.ReportMetric(on.time()-off.time(), "µs-more/call")
			b.ReportMetric(on.allocationsOfACall(), "allocs/call")
			b.ReportMetric(on.allocationsOfACall()-off.allocationsOfACall(), "allocs-more/call")
		})
	}
}

// callsAtOnce is how many calls are in flight.
const callsAtOnce = 64

// measuredCalls makes many calls at once, and measures them.
type measuredCalls struct {
	client      *echoClient
	calls       []byte
	times       []time.Duration // of all calls of a batch
	allocations []uint64        // as times
}

func newMeasuredCalls(b *testing.B, by observers) *measuredCalls {
	b.Helper()
	client, call, _ := observedClient(b, "legacy", by)
	made := &measuredCalls{client: client}
	for i := range callsAtOnce {
		made.calls = append(made.calls, bytes.Replace(call, []byte(`"id":2`), fmt.Appendf(nil, `"id":%d`, i+10), 1)...)
	}
	return made
}

func (m *measuredCalls) run(b *testing.B) {
	b.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := time.Now()
	if _, err := m.client.in.Write(m.calls); err != nil {
		b.Fatal(err)
	}
	for range callsAtOnce {
		if answer, err := m.client.answers.ReadSlice('\n'); err != nil || !bytes.Contains(answer, []byte(`"result":`)) {
			b.Fatalf("the answer is %s, error %v", answer, err)
		}
	}
	m.times = append(m.times, time.Since(began))
	runtime.ReadMemStats(&after)
	m.allocations = append(m.allocations, after.Mallocs-before.Mallocs)
}

// time returns the microseconds of a call.
func (m *measuredCalls) time() float64 {
	return float64(medianOf(m.times)) / float64(time.Microsecond) / callsAtOnce
}

func (m *measuredCalls) allocationsOfACall() float64 {
	return float64(medianOf(m.allocations)) / callsAtOnce
}

func medianOf[T time.Duration | uint64](values []T) T {
	slices.Sort(values)
	return values[len(values)/2]
}
