// Package otlptest is a receiver of OpenTelemetry for tests, built on the official definitions of the protocol.
package otlptest

import (
	"compress/gzip"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	collectormetrics "go.opentelemetry.io/proto/slim/otlp/collector/metrics/v1"
	collectortrace "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	otlpmetrics "go.opentelemetry.io/proto/slim/otlp/metrics/v1"
	otlptrace "go.opentelemetry.io/proto/slim/otlp/trace/v1"
)

// Receiver accepts traces and metrics over OTLP/HTTP.
type Receiver struct {
	*httptest.Server
	// Before is called with each request; if it returns false, it has answered. It may be nil. Set it before the first request.
	Before func(w http.ResponseWriter, r *http.Request) bool

	mu       sync.Mutex
	spans    []Span
	metrics  map[string]*otlpmetrics.Metric // the last ones
	resource map[string]string
	headers  http.Header // of the last request
	raw      []byte      // of all messages
}

// Span is a span in a form that tests can compare.
type Span struct {
	Trace, ID, Parent string // hexadecimal; Parent is "" for a root
	Name, Kind        string // Kind is "server", "client" or "internal"
	Attributes        map[string]string
	Failed            bool
	State             string
	Remote            bool // the parent is of another process
	Began, Ended      time.Time
}

// New starts a receiver, which ends with the test.
func New(t testing.TB) *Receiver {
	r := &Receiver{metrics: make(map[string]*otlpmetrics.Metric), resource: make(map[string]string)}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

// ServeHTTP implements http.Handler.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	if r.Before != nil && !r.Before(w, request) {
		return
	}
	answer, err := r.receive(request)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
	_, _ = w.Write(answer)
}

func (r *Receiver) receive(request *http.Request) (answer []byte, err error) {
	if request.Method != http.MethodPost || request.Header.Get("Content-Type") != "application/x-protobuf" {
		return nil, fmt.Errorf("%s with content of type %q", request.Method, request.Header.Get("Content-Type"))
	}
	source := io.Reader(request.Body)
	if request.Header.Get("Content-Encoding") == "gzip" {
		if source, err = gzip.NewReader(source); err != nil {
			return nil, err
		}
	}
	body, err := io.ReadAll(source)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.headers, r.raw = request.Header.Clone(), append(r.raw, body...)
	switch {
	case strings.HasSuffix(request.URL.Path, "/v1/traces"):
		return r.takeTraces(body)
	case strings.HasSuffix(request.URL.Path, "/v1/metrics"):
		return r.takeMetrics(body)
	}
	return nil, fmt.Errorf("unknown path %s", request.URL.Path)
}

func (r *Receiver) takeTraces(body []byte) ([]byte, error) {
	var message collectortrace.ExportTraceServiceRequest
	if err := proto.Unmarshal(body, &message); err != nil {
		return nil, err
	}
	for _, from := range message.GetResourceSpans() {
		r.resource = texts(from.GetResource().GetAttributes())
		for _, scope := range from.GetScopeSpans() {
			for _, span := range scope.GetSpans() {
				r.spans = append(r.spans, read(span))
			}
		}
	}
	return proto.Marshal(new(collectortrace.ExportTraceServiceResponse))
}

func read(s *otlptrace.Span) Span {
	return Span{
		Trace: hex.EncodeToString(s.GetTraceId()), ID: hex.EncodeToString(s.GetSpanId()), Parent: hex.EncodeToString(s.GetParentSpanId()),
		Name: s.GetName(), Kind: strings.ToLower(strings.TrimPrefix(s.GetKind().String(), "SPAN_KIND_")), Attributes: texts(s.GetAttributes()),
		Failed: s.GetStatus().GetCode() == otlptrace.Status_STATUS_CODE_ERROR, State: s.GetTraceState(), Remote: s.GetFlags()&(1<<9) != 0,
		Began: time.Unix(0, int64(s.GetStartTimeUnixNano())), Ended: time.Unix(0, int64(s.GetEndTimeUnixNano())),
	}
}

func (r *Receiver) takeMetrics(body []byte) ([]byte, error) {
	var message collectormetrics.ExportMetricsServiceRequest
	if err := proto.Unmarshal(body, &message); err != nil {
		return nil, err
	}
	for _, from := range message.GetResourceMetrics() {
		for _, scope := range from.GetScopeMetrics() {
			for _, metric := range scope.GetMetrics() {
				r.metrics[metric.GetName()] = metric
			}
		}
	}
	return proto.Marshal(new(collectormetrics.ExportMetricsServiceResponse))
}

func texts(attributes []*common.KeyValue) map[string]string {
	all := make(map[string]string)
	for _, one := range attributes {
		switch value := one.GetValue().GetValue().(type) {
		case *common.AnyValue_StringValue:
			all[one.GetKey()] = value.StringValue
		case *common.AnyValue_IntValue:
			all[one.GetKey()] = fmt.Sprint(value.IntValue)
		}
	}
	return all
}

// Spans returns the spans so far.
func (r *Receiver) Spans() []Span {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Span(nil), r.spans...)
}

// Metric returns what was last sent of a metric; nil if nothing was.
func (r *Receiver) Metric(name string) *otlpmetrics.Metric {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.metrics[name]
}

// Resource returns who sent the last spans.
func (r *Receiver) Resource() map[string]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.resource
}

// Headers returns those of the last request.
func (r *Receiver) Headers() http.Header {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.headers
}

// Raw returns the bytes of all messages.
func (r *Receiver) Raw() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return string(r.raw)
}

// Await waits for a number of spans, and returns all that there are then.
func (r *Receiver) Await(t testing.TB, count int) []Span {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if spans := r.Spans(); len(spans) >= count {
			return spans
		} else if time.Now().After(deadline) {
			t.Fatalf("there are %d spans, want %d: %+v", len(spans), count, spans)
		}
	}
}

// AwaitTrace waits for a number of spans of a trace, and returns those that there are then, in the order of time.
func (r *Receiver) AwaitTrace(t testing.TB, trace string, count int) (of []Span) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		of = slices.DeleteFunc(ordered(r.Spans()), func(s Span) bool { return s.Trace != trace })
		if len(of) >= count {
			return of
		} else if time.Now().After(deadline) {
			t.Fatalf("there are %d spans, want %d: %+v", len(of), count, of)
		}
	}
}

// Tree returns the spans of a trace as text: one line for each, with its children indented below it in the order of time.
func Tree(spans []Span, trace string) string {
	var b strings.Builder
	known := make(map[string]bool)
	for _, s := range spans {
		known[s.ID] = known[s.ID] || s.Trace == trace
	}
	var write func(parent, indent string)
	write = func(parent, indent string) {
		for _, s := range ordered(spans) {
			isRoot := parent == "" && !known[s.Parent]
			if s.Trace == trace && (isRoot || parent != "" && s.Parent == parent) {
				fmt.Fprintf(&b, "%s%s %s\n", indent, s.Kind, s.Name)
				write(s.ID, indent+"  ")
			}
		}
	}
	write("", "")
	return b.String()
}

func ordered(spans []Span) []Span {
	all := append([]Span(nil), spans...)
	for i := range all {
		for j := i; j > 0 && all[j].Began.Before(all[j-1].Began); j-- {
			all[j], all[j-1] = all[j-1], all[j]
		}
	}
	return all
}
