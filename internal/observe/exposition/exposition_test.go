package exposition

import (
	"compress/gzip"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"go.uber.org/goleak"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/tracecontext"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/meter"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const openMetricsType = "application/openmetrics-text; version=1.0.0"

// measured returns a server of each of two toolboxes, of which the first was used.
func measured() Measured {
	used := meter.Histogram{
		Bounds: []float64{.01, .02}, Counts: []uint64{3, 2, 1}, Count: 6, Sum: 1.5,
		Exemplars: []*meter.Exemplar{nil, {Trace: tracecontext.TraceID{0xab, 15: 1}, Seconds: .015, Time: time.Unix(1000, 0)}, nil},
	}
	ended := meter.Outcomes{call.StatusOK: 5, call.StatusToolError: 1}
	return Measured{
		Version: "1.2.3",
		Counted: meter.Snapshot{Servers: []*meter.Totals{{
			Toolbox: "dev", Server: "s", InFlight: 2, Overhead: used, Starts: 3, FailedStarts: 1, StartTime: used, Crashes: 4, DefinitionsChanged: 2,
			Methods:  []meter.MethodTotals{{Method: "tools/call", Outcomes: ended, Took: used, AtServer: used}},
			Tools:    []meter.ToolTotals{{Tool: "read", Outcomes: ended}},
			Errors:   []meter.ErrorTotals{{Type: "tool_error", Count: 1}},
			Sessions: used, BrokenOff: used,
		}}, Clients: []meter.ClientTotals{{Revision: "2025-11-25", Took: used}, {OverHTTP: true, Revision: "2025-11-25", Took: used}}},
		Servers: []Server{
			{Toolbox: "dev", Name: "s", States: map[fleet.State]int{fleet.Ready: 2, fleet.BackingOff: 1}, Memory: 1 << 20, Questions: 1, IsLocked: true},
			{Toolbox: "ops", Name: "s", States: map[fleet.State]int{fleet.Idle: 1}},
		},
	}
}

// read returns what a reader gets who accepts a format.
func read(t *testing.T, options Options, accept string) string {
	t.Helper()
	var log strings.Builder
	options.Log = slog.New(slog.NewTextHandler(&log, nil))
	if options.Mask == nil {
		options.Mask = func(name string) string { return name }
	}
	response, request := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/metrics", nil)
	request.Header.Set("Accept", accept)
	NewHandler(options).ServeHTTP(response, request)
	if response.Code != http.StatusOK || log.Len() > 0 {
		t.Fatalf("status %d: %s%s", response.Code, response.Body, log.String())
	}
	return response.Body.String()
}

func TestMetrics(t *testing.T) {
	got := read(t, Options{Read: measured}, "")
	const of = `{server="s",toolbox="dev"}`
	for _, want := range []string{
		`mcp_workbench_build_info{version="1.2.3"} 1`,
		`mcp_server_operation_duration_seconds_bucket{mcp_method_name="tools/call",server="s",toolbox="dev",le="0.02"} 5`,
		`mcp_server_operation_duration_seconds_bucket{mcp_method_name="tools/call",server="s",toolbox="dev",le="+Inf"} 6`,
		`mcp_client_operation_duration_seconds_sum{mcp_method_name="tools/call",server="s",toolbox="dev"} 1.5`,
		`mcp_workbench_overhead_duration_seconds_count` + of + ` 6`,
		`mcp_workbench_requests_total{mcp_method_name="tools/call",outcome="ok",server="s",toolbox="dev"} 5`,
		`mcp_workbench_calls_total{gen_ai_tool_name="read",outcome="tool_error",server="s",toolbox="dev"} 1`,
		`mcp_workbench_calls_total{gen_ai_tool_name="read",outcome="refused",server="s",toolbox="dev"} 0`,
		`mcp_workbench_errors_total{error_type="tool_error",server="s",toolbox="dev"} 1`,
		`mcp_workbench_calls_in_flight` + of + ` 2`,
		`mcp_workbench_server_starts_total{outcome="ok",server="s",toolbox="dev"} 3`,
		`mcp_workbench_server_starts_total{outcome="failed",server="s",toolbox="dev"} 1`,
		`mcp_workbench_server_start_duration_seconds_count` + of + ` 6`,
		`mcp_workbench_server_crashes_total` + of + ` 4`,
		`mcp_workbench_server_state{server="s",state="ready",toolbox="dev"} 2`,
		`mcp_workbench_server_state{server="s",state="backing_off",toolbox="dev"} 1`,
		`mcp_workbench_server_state{server="s",state="idle",toolbox="dev"} 0`,
		`mcp_workbench_server_state{server="s",state="idle",toolbox="ops"} 1`,
		`mcp_workbench_server_memory_bytes` + of + ` 1.048576e+06`,
		`mcp_workbench_questions_waiting` + of + ` 1`,
		`mcp_workbench_definitions_changed_total{locked="true",server="s",toolbox="dev"} 2`,
		`mcp_workbench_definitions_changed_total{locked="false",server="s",toolbox="ops"} 0`,
		`mcp_workbench_server_crashes_total{server="s",toolbox="ops"} 0`,
		`mcp_client_session_duration_seconds_count{error_type="",server="s",toolbox="dev"} 6`,
		`mcp_client_session_duration_seconds_count{error_type="server_ended",server="s",toolbox="dev"} 6`,
		`mcp_server_session_duration_seconds_sum{mcp_protocol_version="2025-11-25",network_transport="pipe"} 1.5`,
		`mcp_server_session_duration_seconds_bucket{mcp_protocol_version="2025-11-25",network_transport="tcp",le="0.01"} 3`,
		"go_goroutines ",
	} {
		if !strings.Contains(got, "\n"+want) {
			t.Errorf("%s is missing", want)
		}
	}
	for _, unwanted := range []string{"trace_id", `memory_bytes{server="s",toolbox="ops"}`, "# EOF"} {
		if strings.Contains(got, unwanted) {
			t.Errorf("%s is there", unwanted)
		}
	}
	if t.Failed() {
		t.Log(got)
	}
}

// Every state and every outcome has a name of its own.
func TestEveryValueHasALabel(t *testing.T) {
	seen := make(map[string]bool)
	for status := int(call.StatusOK); status < len(meter.Outcomes{}); status++ {
		name := outcomes[call.Status(status)]
		if name == "" || seen[name] {
			t.Errorf("%s is called %q", call.Status(status), name)
		}
		seen[name] = true
	}
}

func TestExemplars(t *testing.T) {
	got := read(t, Options{Read: measured}, openMetricsType)
	want := `mcp_server_operation_duration_seconds_bucket{mcp_method_name="tools/call",server="s",toolbox="dev",le="0.02"} 5 # {trace_id="ab000000000000000000000000000001"} 0.015 1000.0` + "\n"
	if !strings.Contains(got, want) || !strings.HasSuffix(got, "# EOF\n") {
		t.Errorf("got %s", got)
	}
}

func TestFormats(t *testing.T) {
	handler := NewHandler(Options{Read: measured, Mask: func(name string) string { return name }, Log: slog.New(slog.DiscardHandler)})
	const protobuf = "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding="
	for _, test := range []struct{ accept, encoding, wantType, wantEncoding string }{
		{"", "", "text/plain; version=0.0.4; charset=utf-8", ""},
		{"*/*", "gzip", "text/plain; version=0.0.4; charset=utf-8", "gzip"},
		{"text/plain", "deflate, GZIP;q=0.5", "text/plain; version=0.0.4; charset=utf-8", "gzip"},
		{"text/plain;version=0.0.4", "gzip;q=0", "text/plain; version=0.0.4; charset=utf-8", ""},
		{openMetricsType + ",text/plain;q=0.5", "gzip;q=0.0, identity", "application/openmetrics-text; version=1.0.0; charset=utf-8", ""},
		{protobuf + "delimited", "gzip", protobuf + "delimited", "gzip"},
		{protobuf + "text", "br", "text/plain; version=0.0.4; charset=utf-8", ""},
	} {
		response, request := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/metrics", nil)
		request.Header.Set("Accept", test.accept)
		request.Header.Set("Accept-Encoding", test.encoding)
		handler.ServeHTTP(response, request)
		header := response.Header()
		gotType, _, _ := strings.Cut(header.Get("Content-Type"), "; escaping=")
		if gotType != test.wantType || header.Get("Content-Encoding") != test.wantEncoding {
			t.Errorf("%+v: the answer has the headers %v", test, header)
			continue
		}
		body := io.Reader(response.Body)
		if test.wantEncoding != "" {
			var err error
			if body, err = gzip.NewReader(body); err != nil {
				t.Fatal(err)
			}
		}
		names, err := familiesOf(body, expfmt.NewDecoder(body, expfmt.Format(header.Get("Content-Type"))), gotType)
		if err != nil || !names["mcp_workbench_build_info"] || !names["go_goroutines"] {
			t.Errorf("%+v: the answer has %v, %v", test, names, err)
		}
	}
}

// familiesOf returns the names of the metrics in an answer. The library reads no OpenMetrics.
func familiesOf(body io.Reader, decoder expfmt.Decoder, contentType string) (map[string]bool, error) {
	names := make(map[string]bool)
	if strings.HasPrefix(contentType, expfmt.OpenMetricsType) {
		content, err := io.ReadAll(body)
		for line := range strings.Lines(string(content)) {
			if named, isType := strings.CutPrefix(line, "# TYPE "); isType {
				names[strings.Fields(named)[0]] = true
			}
		}
		return names, err
	}
	for {
		var family dto.MetricFamily
		switch err := decoder.Decode(&family); {
		case errors.Is(err, io.EOF):
			return names, nil
		case err != nil:
			return names, err
		}
		names[family.GetName()] = true
	}
}

// What a token must not see does not exist for it.
func TestMetricsOfSomeToolboxes(t *testing.T) {
	visible := []string{"ops"}
	got := read(t, Options{Read: measured, Visible: func(*http.Request) []string { return visible }}, "")
	if strings.Contains(got, `"dev"`) || strings.Contains(got, "mcp_server_operation") || strings.Contains(got, "mcp_server_session") || !strings.Contains(got, `toolbox="ops"`) {
		t.Errorf("a token for ops sees %s", got)
	}
	visible = []string{}
	if got := read(t, Options{Read: measured, Visible: func(*http.Request) []string { return visible }}, ""); strings.Contains(got, "toolbox=") {
		t.Errorf("a token for nothing sees %s", got)
	}
}

// Servers choose the names of tools. None of them makes metrics incomplete, or shows a secret.
func TestNamesThatServersChose(t *testing.T) {
	hostile := func() Measured {
		seen := measured()
		tools := &seen.Counted.Servers[0].Tools
		*tools = nil
		for _, name := range []string{
			"", "a\"} 1\nfake_total 7", "bad \xff utf8", "\x1b[31mred", "red", strings.Repeat("é", maxLabel), strings.Repeat("é", maxLabel) + "b",
			"of sk-secret", "of sk-other", "_other",
		} {
			*tools = append(*tools, meter.ToolTotals{Tool: name, Outcomes: meter.Outcomes{call.StatusOK: 1}})
		}
		return seen
	}
	mask := func(name string) string {
		return strings.NewReplacer("sk-secret", "***", "sk-other", "***").Replace(name)
	}
	got := read(t, Options{Read: hostile, Mask: mask}, "")
	for _, want := range []string{`="red",outcome="ok",server="s",toolbox="dev"} 2`, `="of ***",outcome="ok",server="s",toolbox="dev"} 2`, strings.Repeat("é", maxLabel/2) + `",outcome="ok",server="s",toolbox="dev"} 2`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is missing", want)
		}
	}
	if strings.Contains(got, "\nfake_total") || strings.Contains(got, "sk-") || strings.Contains(got, "\x1b") {
		t.Errorf("got %s", got)
	}
}

func TestMethodsAndReaders(t *testing.T) {
	inside, leave := make(chan struct{}), make(chan struct{})
	handler := NewHandler(Options{Log: slog.New(slog.DiscardHandler), Read: func() Measured {
		inside <- struct{}{}
		<-leave
		return Measured{}
	}})
	ask := func(method string) int {
		response := httptest.NewRecorder()
		handler.ServeHTTP(response, httptest.NewRequest(method, "/metrics", nil))
		return response.Code
	}
	if got := ask(http.MethodPost); got != http.StatusMethodNotAllowed {
		t.Errorf("POST has status %d", got)
	}
	codes := make(chan int, maxReaders)
	for range maxReaders {
		go func() { codes <- ask(http.MethodGet) }()
		<-inside
	}
	if got := ask(http.MethodGet); got != http.StatusServiceUnavailable {
		t.Errorf("one reader too many has status %d", got)
	}
	close(leave)
	for range maxReaders {
		if got := <-codes; got != http.StatusOK {
			t.Errorf("a reader has status %d", got)
		}
	}
}

func TestMerge(t *testing.T) {
	var parts [][]*dto.MetricFamily
	for _, pid := range []string{"11", "22"} {
		registry := prometheus.NewRegistry()
		registry.MustRegister(&collector{read: measured, mask: strings.Clone})
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		Label(families, "pid", pid)
		parts = append(parts, families)
	}
	other, kind := "mcp_workbench_build_info", dto.MetricType_COUNTER
	parts = append(parts, []*dto.MetricFamily{{Name: &other, Type: &kind, Metric: []*dto.Metric{{Counter: &dto.Counter{}}}}})
	merged := Merge(parts)
	for _, openMetrics := range []bool{false, true} {
		var out strings.Builder
		if err := Write(&out, merged, openMetrics); err != nil {
			t.Fatal(err)
		}
		got := out.String()
		for _, want := range []string{`build_info{version="1.2.3",pid="11"} 1`, `build_info{version="1.2.3",pid="22"} 1`} {
			if strings.Count(got, want) != 1 {
				t.Errorf("%s is not there once", want)
			}
		}
		if strings.Count(got, "# TYPE mcp_workbench_build_info ") != 1 || strings.Contains(got, "# {trace_id=") != openMetrics || strings.HasSuffix(got, "# EOF\n") != openMetrics {
			t.Errorf("got %s", got)
		}
	}
}

// Servers whose names differ only in what labels leave out are shown apart.
func TestNamesThatLookTheSame(t *testing.T) {
	long := strings.Repeat("x", maxLabel)
	got := read(t, Options{Read: func() Measured {
		return Measured{Servers: []Server{{Toolbox: "t", Name: long + "a"}, {Toolbox: "t", Name: long + "b"}, {Toolbox: "t", Name: "a b"}, {Toolbox: "t", Name: "a  b"}, {Toolbox: "u", Name: "a b"}}}
	}}, "")
	for _, want := range []string{`server="` + long + `",toolbox="t"`, `server="` + long + ` (2)",toolbox="t"`, `server="a b",toolbox="t"`, `server="a b (2)",toolbox="t"`, `server="a b",toolbox="u"`} {
		if strings.Count(got, "mcp_workbench_server_crashes_total{"+want+"}") != 1 {
			t.Errorf("%s is missing in\n%s", want, got)
		}
	}
}
