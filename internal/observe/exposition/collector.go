// Package exposition shows what the workbench counts in the formats of Prometheus. It reads the counters when it is
// asked, and has no part in requests.
package exposition

import (
	"fmt"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/meter"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
)

// Measured is everything that is shown, at one moment.
type Measured struct {
	Version string // of the workbench
	Counted meter.Snapshot
	Servers []Server // that are configured
}

// Server is the present state of a configured server.
type Server struct {
	Toolbox, Name string
	States        map[fleet.State]int // how many of its copies are in each state
	Memory        int64               // of all its processes in bytes; 0 if unknown
	Questions     int                 // calls that wait for approval
	IsLocked      bool                // only approved definitions are offered
}

// outcomes are the values of the label of that name.
var outcomes = map[call.Status]string{
	call.StatusOK: "ok", call.StatusToolError: "tool_error", call.StatusRPCError: "rpc_error", call.StatusFailed: "failed",
	call.StatusRefused: "refused", call.StatusCancelled: "cancelled", call.StatusInputRequired: "input_required",
}

// maxLabel is the size in bytes of a name that becomes the value of a label; the rest is cut off.
const maxLabel = 128

// collector implements prometheus.Collector.
type collector struct {
	read func() Measured
	mask func(string) string // removes secrets from names that servers chose
}

// Describe implements prometheus.Collector.
func (*collector) Describe(to chan<- *prometheus.Desc) {
	for _, desc := range all {
		to <- desc
	}
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(to chan<- prometheus.Metric) {
	seen := c.read()
	out := output{to}
	out.gauge(buildInfo, 1, label(seen.Version))
	out.clients(seen.Counted.Clients)
	type name struct{ toolbox, server string }
	counted := make(map[name]*meter.Totals, len(seen.Counted.Servers))
	for _, one := range seen.Counted.Servers {
		counted[name{one.Toolbox, one.Server}] = one
	}
	shown := make(map[name]bool)
	for i := range seen.Servers {
		server := &seen.Servers[i]
		as := name{label(server.Toolbox), label(server.Name)}
		for n := 2; shown[as]; n++ { // names that differ only in what labels leave out
			as.server = fmt.Sprintf("%s (%d)", label(server.Name), n)
		}
		shown[as] = true
		of := []string{as.toolbox, as.server}
		out.state(server, of)
		totals := counted[name{server.Toolbox, server.Name}]
		if totals == nil {
			totals = new(meter.Totals) // counters begin at 0, so that their first rise is seen
		}
		out.lifecycle(totals, server.IsLocked, of)
		out.requests(totals, of)
		out.tools(totals, c.mask, of)
	}
}

// output sends metrics; of are the labels of the server that they are about.
type output struct{ to chan<- prometheus.Metric }

func (o output) state(server *Server, of []string) {
	for _, state := range fleet.States() {
		o.gauge(serverState, float64(server.States[state]), with(of, state.Label())...)
	}
	if server.Memory > 0 {
		o.gauge(serverMemory, float64(server.Memory), of...)
	}
	o.gauge(questionsWaiting, float64(server.Questions), of...)
}

func (o output) lifecycle(totals *meter.Totals, isLocked bool, of []string) {
	o.counter(serverStarts, totals.Starts, with(of, "ok")...)
	o.counter(serverStarts, totals.FailedStarts, with(of, "failed")...)
	o.counter(serverCrashes, totals.Crashes, of...)
	locked := "false"
	if isLocked {
		locked = "true"
	}
	o.counter(definitionsChanged, totals.DefinitionsChanged, with(of, locked)...)
	o.histogram(serverStartTime, &totals.StartTime, of...)
	o.histogram(clientSession, &totals.Sessions, with(of, "")...)
	o.histogram(clientSession, &totals.BrokenOff, with(of, "server_ended")...)
	o.gauge(inFlight, float64(totals.InFlight), of...)
}

// clients measures the sessions of clients, of which there is one kind for each transport and revision.
func (o output) clients(all []meter.ClientTotals) {
	for i := range all {
		transport := "pipe"
		if all[i].OverHTTP {
			transport = "tcp"
		}
		o.histogram(serverSession, &all[i].Took, transport, string(all[i].Revision))
	}
}

func (o output) requests(totals *meter.Totals, of []string) {
	o.histogram(overhead, &totals.Overhead, of...)
	for i := range totals.Methods {
		method := &totals.Methods[i]
		labels := with(of, method.Method)
		o.histogram(serverOperation, &method.Took, labels...)
		o.histogram(clientOperation, &method.AtServer, labels...)
		for status, name := range outcomes {
			o.counter(requestsTotal, method.Outcomes.Of(status), with(labels, name)...)
		}
	}
	for _, one := range totals.Errors {
		o.counter(errorsTotal, one.Count, with(of, one.Type)...)
	}
}

// tools counts the calls of each tool. Tools whose names are the same as labels are counted together.
func (o output) tools(totals *meter.Totals, mask func(string) string, of []string) {
	for name, sum := range totals.ToolsBy(func(tool string) string { return label(mask(tool)) }) {
		for status, outcome := range outcomes {
			o.counter(callsTotal, sum.Of(status), with(of, name, outcome)...)
		}
	}
}

func (o output) gauge(desc *prometheus.Desc, value float64, labels ...string) {
	o.to <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
}

func (o output) counter(desc *prometheus.Desc, value uint64, labels ...string) {
	o.to <- prometheus.MustNewConstMetric(desc, prometheus.CounterValue, float64(value), labels...)
}

// histogram sends a histogram with its exemplars. One that was never counted is left out.
func (o output) histogram(desc *prometheus.Desc, h *meter.Histogram, labels ...string) {
	if h.Bounds == nil {
		return
	}
	buckets := make(map[float64]uint64, len(h.Bounds))
	upTo := uint64(0)
	for i, bound := range h.Bounds {
		upTo += h.Counts[i]
		buckets[bound] = upTo
	}
	metric := prometheus.MustNewConstHistogram(desc, h.Count, h.Sum, buckets, labels...)
	var exemplars []prometheus.Exemplar
	for _, one := range h.Exemplars {
		if one != nil {
			exemplars = append(exemplars, prometheus.Exemplar{Value: one.Seconds, Timestamp: one.Time, Labels: prometheus.Labels{"trace_id": one.Trace.String()}})
		}
	}
	if len(exemplars) > 0 {
		metric = prometheus.MustNewMetricWithExemplars(metric, exemplars...)
	}
	o.to <- metric
}

// with returns labels with further ones; the first are not changed.
func with(labels []string, more ...string) []string {
	return append(labels[:len(labels):len(labels)], more...)
}

// label makes a name, which others may have chosen, fit for the value of a label: valid UTF-8, harmless on a terminal, and
// of bounded size.
func label(name string) string {
	name = tty.CleanLine(name)
	if len(name) <= maxLabel {
		return name
	}
	name = name[:maxLabel]
	for !utf8.ValidString(name) {
		name = name[:len(name)-1]
	}
	return name
}
