package telemetry

import (
	"strconv"
	"time"

	collectormetrics "go.opentelemetry.io/proto/slim/otlp/collector/metrics/v1"
	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	otlpmetrics "go.opentelemetry.io/proto/slim/otlp/metrics/v1"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/meter"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
)

// Labels of metrics are those of /metrics, where they have underscores instead of dots.
const (
	labelToolbox = "toolbox"
	labelServer  = "server"
	labelMethod  = "mcp.method.name"
	labelTool    = "gen_ai.tool.name"
	labelOutcome = "outcome"
	labelError   = "error.type"
	labelState   = "state"
	labelLocked  = "locked"

	labelTransport = "network.transport"
	labelRevision  = "mcp.protocol.version"
)

// builder makes the metrics of one message, all with the same times. Metrics of the same name share an entry.
type builder struct {
	since, now uint64
	mask       func(string) string // see Options
	all        []*otlpmetrics.Metric
	byName     map[string]*otlpmetrics.Metric
}

// metrics returns the message with all metrics.
func (r *resource) metrics(snapshot meter.Snapshot, states []ServerState, now time.Time) *collectormetrics.ExportMetricsServiceRequest {
	b := &builder{since: uint64(snapshot.Since.UnixNano()), now: uint64(now.UnixNano()), mask: r.mask, byName: make(map[string]*otlpmetrics.Metric)}
	isLocked := make(map[serverKey]bool)
	for _, s := range states {
		isLocked[s.key()] = s.IsLocked
	}
	for _, server := range snapshot.Servers {
		b.addServer(server, isLocked[serverKey{server.Toolbox, server.Server}])
	}
	b.addStates(states)
	b.addClients(snapshot.Clients)
	return &collectormetrics.ExportMetricsServiceRequest{ResourceMetrics: []*otlpmetrics.ResourceMetrics{{
		Resource: r.message, ScopeMetrics: []*otlpmetrics.ScopeMetrics{{Scope: r.scope, Metrics: b.all}},
	}}}
}

func (b *builder) addServer(t *meter.Totals, isLocked bool) {
	with := func(more ...*common.KeyValue) []*common.KeyValue {
		return append([]*common.KeyValue{text(labelToolbox, t.Toolbox), text(labelServer, t.Server)}, more...)
	}
	for i := range t.Methods {
		m := &t.Methods[i]
		method := text(labelMethod, m.Method)
		b.histogram("mcp.server.operation.duration", &m.Took, with(method))
		b.histogram("mcp.client.operation.duration", &m.AtServer, with(method))
		b.outcomes("mcp_workbench.requests", "{request}", &m.Outcomes, func(outcome *common.KeyValue) []*common.KeyValue { return with(method, outcome) })
	}
	for name, outcomes := range t.ToolsBy(func(tool string) string { return clean(b.mask(tool)) }) {
		tool := text(labelTool, name)
		b.outcomes("mcp_workbench.calls", "{call}", &outcomes, func(outcome *common.KeyValue) []*common.KeyValue { return with(tool, outcome) })
	}
	for _, e := range t.Errors {
		b.counter("mcp_workbench.errors", "{error}", e.Count, with(text(labelError, e.Type)))
	}
	b.histogram("mcp_workbench.overhead.duration", &t.Overhead, with())
	b.gauge("mcp_workbench.calls.in_flight", "{request}", float64(t.InFlight), with())
	b.counter("mcp_workbench.server.starts", "{start}", t.Starts, with(text(labelOutcome, "ok")))
	b.counter("mcp_workbench.server.starts", "{start}", t.FailedStarts, with(text(labelOutcome, "failed")))
	b.histogram("mcp_workbench.server.start.duration", &t.StartTime, with())
	b.histogram("mcp.client.session.duration", &t.Sessions, with())
	b.histogram("mcp.client.session.duration", &t.BrokenOff, with(text(labelError, "server_ended")))
	b.counter("mcp_workbench.server.crashes", "{crash}", t.Crashes, with())
	b.counter("mcp_workbench.definitions.changed", "{definition}", t.DefinitionsChanged, with(text(labelLocked, strconv.FormatBool(isLocked))))
}

// addClients adds the sessions of clients that ended.
func (b *builder) addClients(all []meter.ClientTotals) {
	for i := range all {
		transport := "pipe"
		if all[i].OverHTTP {
			transport = "tcp"
		}
		b.histogram("mcp.server.session.duration", &all[i].Took, []*common.KeyValue{text(labelTransport, transport), text(labelRevision, string(all[i].Revision))})
	}
}

// serverKey identifies a server.
type serverKey struct{ toolbox, server string }

func (k serverKey) labels(more ...*common.KeyValue) []*common.KeyValue {
	return append([]*common.KeyValue{text(labelToolbox, k.toolbox), text(labelServer, k.server)}, more...)
}

// addStates counts the sessions of a server by their state, and adds up their memory. States without any are 0: a receiver would
// show the last number otherwise.
func (b *builder) addStates(states []ServerState) {
	type stateKey struct {
		serverKey
		state fleet.State
	}
	sessions, memory := make(map[stateKey]int), make(map[serverKey]int64)
	for _, s := range states {
		sessions[stateKey{s.key(), s.State}]++
		memory[s.key()] += s.Memory
	}
	for _, s := range states {
		of := s.key()
		size, isFirst := memory[of]
		if !isFirst {
			continue
		}
		delete(memory, of)
		for _, state := range fleet.States() {
			b.gauge("mcp_workbench.server.state", "{session}", float64(sessions[stateKey{of, state}]), of.labels(text(labelState, state.Label())))
		}
		if size > 0 {
			b.gauge("mcp_workbench.server.memory", "By", float64(size), of.labels())
		}
		b.gauge("mcp_workbench.questions.waiting", "{question}", float64(s.Questions), of.labels())
	}
}

// metric returns the entry of a name.
func (b *builder) metric(name, unit string) *otlpmetrics.Metric {
	if m := b.byName[name]; m != nil {
		return m
	}
	m := &otlpmetrics.Metric{Name: name, Unit: unit}
	b.byName[name] = m
	b.all = append(b.all, m)
	return m
}

func (b *builder) outcomes(name, unit string, counts *meter.Outcomes, with func(outcome *common.KeyValue) []*common.KeyValue) {
	for status := call.StatusOK; status <= call.StatusInputRequired; status++ {
		if count := counts.Of(status); count > 0 {
			b.counter(name, unit, count, with(text(labelOutcome, outcome(status))))
		}
	}
}

func (b *builder) counter(name, unit string, value uint64, attributes []*common.KeyValue) {
	m := b.metric(name, unit)
	if m.Data == nil {
		m.Data = &otlpmetrics.Metric_Sum{Sum: &otlpmetrics.Sum{
			AggregationTemporality: otlpmetrics.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE, IsMonotonic: true,
		}}
	}
	m.GetSum().DataPoints = append(m.GetSum().DataPoints, &otlpmetrics.NumberDataPoint{
		Attributes: attributes, StartTimeUnixNano: b.since, TimeUnixNano: b.now, Value: &otlpmetrics.NumberDataPoint_AsInt{AsInt: int64(value)},
	})
}

func (b *builder) gauge(name, unit string, value float64, attributes []*common.KeyValue) {
	m := b.metric(name, unit)
	if m.Data == nil {
		m.Data = &otlpmetrics.Metric_Gauge{Gauge: new(otlpmetrics.Gauge)}
	}
	m.GetGauge().DataPoints = append(m.GetGauge().DataPoints, &otlpmetrics.NumberDataPoint{
		Attributes: attributes, TimeUnixNano: b.now, Value: &otlpmetrics.NumberDataPoint_AsDouble{AsDouble: value},
	})
}

func (b *builder) histogram(name string, h *meter.Histogram, attributes []*common.KeyValue) {
	if h.Count == 0 {
		return
	}
	m := b.metric(name, "s")
	if m.Data == nil {
		m.Data = &otlpmetrics.Metric_Histogram{Histogram: &otlpmetrics.Histogram{
			AggregationTemporality: otlpmetrics.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE,
		}}
	}
	m.GetHistogram().DataPoints = append(m.GetHistogram().DataPoints, &otlpmetrics.HistogramDataPoint{
		Attributes: attributes, StartTimeUnixNano: b.since, TimeUnixNano: b.now,
		Count: h.Count, Sum: &h.Sum, BucketCounts: h.Counts, ExplicitBounds: h.Bounds, Exemplars: exemplars(h),
	})
}

// exemplars returns the requests in a histogram that were traced.
func exemplars(h *meter.Histogram) (all []*otlpmetrics.Exemplar) {
	for _, one := range h.Exemplars {
		if one != nil {
			all = append(all, &otlpmetrics.Exemplar{
				TraceId: one.Trace[:], TimeUnixNano: uint64(one.Time.UnixNano()), Value: &otlpmetrics.Exemplar_AsDouble{AsDouble: one.Seconds},
			})
		}
	}
	return all
}
