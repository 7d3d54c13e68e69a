package prometheus

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

var address = regexp.MustCompile(`msg="Listening on" address=(\S+)`)

// scraper is a Prometheus.
type scraper struct {
	t    *testing.T
	root string
}

// startPrometheus starts a Prometheus that scrapes a workbench twice a second.
func startPrometheus(t *testing.T, b *bench) *scraper {
	t.Helper()
	rules, err := filepath.Abs(rulesFile)
	if err != nil {
		t.Fatal(err)
	}
	config := fmt.Sprintf(`
global: {scrape_interval: 500ms, scrape_timeout: 500ms, evaluation_interval: 1s}
rule_files: [%q]
scrape_configs:
  - job_name: mcp-workbench
    authorization: {credentials_file: %q}
    static_configs: [{targets: [%q]}]
`, rules, b.write("token", b.tokens["reader"]), strings.TrimPrefix(b.root(), "http://"))
	cmd := exec.Command(need(t, "prometheus"), "--config.file="+b.write("prometheus.yml", config),
		"--storage.tsdb.path="+filepath.Join(b.folder, "data"), "--web.listen-address=127.0.0.1:0", "--enable-feature=exemplar-storage")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	found, ended := make(chan string, 1), make(chan struct{})
	go func() {
		defer close(ended)
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			if match := address.FindStringSubmatch(lines.Text()); match != nil {
				found <- match[1]
			}
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt) // it may have ended, which shows below
		overdue := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
		defer overdue.Stop()
		<-ended
		if err := cmd.Wait(); err != nil {
			t.Errorf("Prometheus: %v", err)
		}
	})
	select {
	case at := <-found:
		return &scraper{t, "http://" + at}
	case <-ended:
		t.Fatal("Prometheus ended at once")
	case <-time.After(patience):
		t.Fatal("Prometheus does not listen")
	}
	return nil
}

// sample is one result of a query.
type sample struct {
	Metric map[string]string
	Value  [2]any // the time, and the value as a text
}

// query runs a query, and returns its results that are numbers.
func (s *scraper) query(ctx context.Context, text string) (numbers []sample, err error) {
	var answer struct {
		Status, Error string
		Data          struct{ Result []sample }
	}
	if err := s.get(ctx, "/api/v1/query?query="+url.QueryEscape(text), &answer); err != nil {
		return nil, err
	}
	if answer.Status != "success" {
		return nil, fmt.Errorf("%s: %s", text, answer.Error)
	}
	for _, one := range answer.Data.Result {
		if one.Value[1] != "NaN" {
			numbers = append(numbers, one)
		}
	}
	return numbers, nil
}

func (s *scraper) get(ctx context.Context, path string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.root+path, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	return json.Unmarshal(content, into)
}

// panel is a panel of the dashboard.
type panel struct {
	Type, Title string
	Targets     []struct{ Expr string }
}

// panels returns those of the dashboard that is shipped.
func panels(t *testing.T) []panel {
	t.Helper()
	content, err := os.ReadFile(dashboardFile)
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct{ Panels []panel }
	if err := json.Unmarshal(content, &dashboard); err != nil {
		t.Fatal(err)
	}
	return dashboard.Panels
}

// variables are the values of the variables of the dashboard.
var variables = strings.NewReplacer("$__rate_interval", "5s", "$job", ".*", "$instance", ".*", "$toolbox", "dev|ops", "$server", ".*")

func TestPrometheusScrapesTheWorkbench(t *testing.T) {
	need(t, "prometheus") // before the work of a build
	b := newBench(t)
	end := b.work()
	defer end()
	s := startPrometheus(t, b)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	count := 0
	for _, panel := range panels(t) {
		if panel.Type == "row" {
			continue
		}
		if len(panel.Targets) == 0 {
			t.Errorf("the panel '%s' has no query", panel.Title)
		}
		for _, target := range panel.Targets {
			count++
			s.awaitData(ctx, panel.Title, variables.Replace(target.Expr))
		}
	}
	if count < 20 {
		t.Errorf("the dashboard has %d queries", count)
	}
	for _, text := range []string{
		`sum(mcp_workbench_server_crashes_total) > 0`, `mcp_workbench_requests_total{outcome="tool_error"} > 0`, `mcp_workbench_requests_total{outcome="rpc_error"} > 0`,
		`mcp_workbench_errors_total{error_type="-32000"} > 0`, `mcp_workbench_calls_total{gen_ai_tool_name="good",outcome="ok"} > 0`, `mcp_workbench_server_memory_bytes > 0`,
		`mcp_server_session_duration_seconds_count{network_transport="tcp",mcp_protocol_version="2025-11-25"} == 1`,
		`mcp_client_session_duration_seconds_count{toolbox="ops",error_type="server_ended"} > 0`,
	} {
		s.awaitData(ctx, "what was done", text)
	}
	s.checkRules(ctx)
	s.checkExemplars(ctx)
	if found, err := s.query(ctx, `{__name__=~"mcp_.+",gen_ai_tool_name=~".*`+secret+`.*"}`); err != nil || len(found) > 0 {
		t.Errorf("a secret is a label: %v, %v", found, err)
	}
}

// awaitData waits until a query has a result.
func (s *scraper) awaitData(ctx context.Context, what, text string) {
	s.t.Helper()
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for {
		found, err := s.query(ctx, text)
		if len(found) > 0 {
			return
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			s.t.Fatalf("%s: no data for %s: %v", what, text, err)
		}
	}
}

// checkRules checks that Prometheus has evaluated the rules, and without an error.
func (s *scraper) checkRules(ctx context.Context) {
	s.t.Helper()
	var answer struct {
		Data struct {
			Groups []struct {
				Rules []struct{ Name, Health, LastError string }
			}
		}
	}
	if err := s.get(ctx, "/api/v1/rules", &answer); err != nil {
		s.t.Fatal(err)
	}
	count := 0
	for _, group := range answer.Data.Groups {
		for _, rule := range group.Rules {
			count++
			if rule.Health != "ok" {
				s.t.Errorf("the rule %s is %s: %s", rule.Name, rule.Health, rule.LastError)
			}
		}
	}
	if count != 5 {
		s.t.Errorf("there are %d rules", count)
	}
}

// checkExemplars checks that Prometheus has stored exemplars, which name traces.
func (s *scraper) checkExemplars(ctx context.Context) {
	s.t.Helper()
	now := time.Now()
	query := url.Values{
		"query": {"mcp_server_operation_duration_seconds_bucket"}, "start": {now.Add(-patience).Format(time.RFC3339)}, "end": {now.Add(patience).Format(time.RFC3339)},
	}
	var answer struct {
		Data []struct {
			Exemplars []struct{ Labels map[string]string }
		}
	}
	if err := s.get(ctx, "/api/v1/query_exemplars?"+query.Encode(), &answer); err != nil {
		s.t.Fatal(err)
	}
	if len(answer.Data) == 0 {
		s.t.Error("there are no exemplars")
	}
	for _, series := range answer.Data {
		for _, one := range series.Exemplars {
			if len(one.Labels["trace_id"]) != 32 {
				s.t.Errorf("an exemplar has the labels %v", one.Labels)
			}
		}
	}
}
