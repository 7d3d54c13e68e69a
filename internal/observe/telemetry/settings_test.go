package telemetry

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestRead(t *testing.T) {
	usual := SamplerSettings{ParentBased: true, Ratio: 1, PerSecond: 100}
	at := func(url string) Endpoint {
		return Endpoint{URL: url, Headers: map[string]string{}, Timeout: 10 * time.Second}
	}
	both := Settings{
		Traces: at("http://h:4318/v1/traces"), Metrics: at("http://h:4318/v1/metrics"), Service: "mcp-workbench", Resource: map[string]string{},
		Sampler: usual, Interval: time.Minute, TraceContext: true, Baggage: true,
	}
	with := func(change func(*Settings)) Settings {
		s := both
		change(&s)
		return s
	}
	const endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT=http://h:4318/"
	for _, test := range []struct {
		name    string
		environ string
		want    Settings
		problem string // part of the only one
	}{
		{name: "nothing", environ: "PATH=/bin OTEL_SERVICE_NAME=x"},
		{name: "disabled", environ: endpoint + " OTEL_SDK_DISABLED=TRUE"},
		{name: "both", environ: endpoint, want: both},
		{name: "traces only", environ: "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=https://h/own OTEL_EXPORTER_OTLP_TRACES_TIMEOUT=50", want: with(func(s *Settings) {
			s.Traces, s.Metrics = at("https://h/own"), Endpoint{}
			s.Traces.Timeout = 50 * time.Millisecond
		})},
		{name: "no metrics", environ: endpoint + " OTEL_METRICS_EXPORTER=none", want: with(func(s *Settings) { s.Metrics = Endpoint{} })},
		{name: "an unknown exporter", environ: endpoint + " OTEL_METRICS_EXPORTER=prometheus", want: with(func(s *Settings) { s.Metrics = Endpoint{} }), problem: "OTEL_METRICS_EXPORTER is not followed, and nothing of this kind is sent"},
		{name: "gRPC", environ: endpoint + " OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=grpc", want: with(func(s *Settings) { s.Traces = Endpoint{} }), problem: "only 'http/protobuf'"},
		{name: "gRPC for all", environ: endpoint + " OTEL_EXPORTER_OTLP_PROTOCOL=grpc", problem: "the variable OTEL_EXPORTER_OTLP_PROTOCOL is not followed"},
		{name: "no address", environ: "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=secret:4317", problem: "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT is not an address"},
		{name: "headers", environ: endpoint + " OTEL_EXPORTER_OTLP_HEADERS=api-key=a%20b%3D,x=y", want: with(func(s *Settings) {
			s.Traces.Headers = map[string]string{"api-key": "a b=", "x": "y"}
			s.Metrics.Headers = s.Traces.Headers
		})},
		{name: "wrong headers", environ: "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://h/ OTEL_EXPORTER_OTLP_HEADERS=a=%0asecret", want: with(func(s *Settings) {
			s.Traces, s.Metrics = at("http://h/"), Endpoint{}
		}), problem: "OTEL_EXPORTER_OTLP_HEADERS has a header that cannot be sent"},
		{name: "resource", environ: endpoint + " OTEL_RESOURCE_ATTRIBUTES=service.name=mine,team=a OTEL_METRIC_EXPORT_INTERVAL=1000", want: with(func(s *Settings) {
			s.Service, s.Resource, s.Interval = "mine", map[string]string{"team": "a"}, time.Second
		})},
		{name: "a short interval", environ: endpoint + " OTEL_METRIC_EXPORT_INTERVAL=5", want: with(func(s *Settings) { s.Interval = time.Second }), problem: "OTEL_METRIC_EXPORT_INTERVAL is below 1s"},
		{name: "neither on nor off", environ: endpoint + " OTEL_SDK_DISABLED=yes", want: both, problem: "OTEL_SDK_DISABLED is neither"},
		{name: "not disabled", environ: endpoint + " OTEL_SDK_DISABLED=False", want: both},
		{name: "service", environ: endpoint + " OTEL_RESOURCE_ATTRIBUTES=service.name=mine OTEL_SERVICE_NAME=other", want: with(func(s *Settings) { s.Service = "other" })},
		{name: "ratio", environ: endpoint + " OTEL_TRACES_SAMPLER=parentbased_traceidratio OTEL_TRACES_SAMPLER_ARG=0.25", want: with(func(s *Settings) { s.Sampler = SamplerSettings{ParentBased: true, Ratio: 0.25} })},
		{name: "always", environ: endpoint + " OTEL_TRACES_SAMPLER=always_on", want: with(func(s *Settings) { s.Sampler = SamplerSettings{Ratio: 1} })},
		{name: "an unknown sampler", environ: endpoint + " OTEL_TRACES_SAMPLER=xray", want: both, problem: "OTEL_TRACES_SAMPLER names a sampler"},
		{name: "a wrong ratio", environ: endpoint + " OTEL_TRACES_SAMPLER=traceidratio OTEL_TRACES_SAMPLER_ARG=nan", want: with(func(s *Settings) { s.Sampler = SamplerSettings{Ratio: 1} }), problem: "OTEL_TRACES_SAMPLER_ARG"},
		{name: "no propagation", environ: endpoint + " OTEL_PROPAGATORS=none", want: with(func(s *Settings) { s.TraceContext, s.Baggage = false, false })},
		{name: "an unknown propagator", environ: endpoint + " OTEL_PROPAGATORS=b3,tracecontext", want: with(func(s *Settings) { s.Baggage = false }), problem: "OTEL_PROPAGATORS"},
		{name: "compression", environ: endpoint + " OTEL_EXPORTER_OTLP_COMPRESSION=gzip", want: with(func(s *Settings) { s.Traces.Gzip, s.Metrics.Gzip = true, true })},
		{name: "a wrong time", environ: "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT=http://h/ OTEL_EXPORTER_OTLP_TIMEOUT=10s", want: with(func(s *Settings) {
			s.Traces, s.Metrics = Endpoint{}, at("http://h/")
		}), problem: "OTEL_EXPORTER_OTLP_TIMEOUT is not a number of milliseconds"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := Read(strings.Fields(test.environ))
			if all := strings.Join(got.Problems, "\n"); !strings.Contains(all, test.problem) || (test.problem == "") != (all == "") || strings.Contains(all, "secret") || len(got.Problems) > 1 {
				t.Errorf("the problems are %q, want %q", all, test.problem)
			}
			got.Problems = nil
			if difference := cmp.Diff(test.want, got); difference != "" {
				t.Error(difference)
			}
		})
	}
}
