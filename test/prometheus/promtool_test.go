package prometheus

import (
	"net/http"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
)

func TestPromtoolAcceptsTheRules(t *testing.T) {
	promtool := need(t, "promtool")
	run(t, exec.CommandContext(t.Context(), promtool, "check", "rules", rulesFile))
	run(t, exec.CommandContext(t.Context(), promtool, "test", "rules", "testdata/rules.test.yml"))
}

// What the command prints of one workbench is what is scraped, and promtool finds nothing wrong with it.
func TestMetricsByTokenAndCommand(t *testing.T) {
	promtool := need(t, "promtool")
	b := newBench(t)
	end := b.work()
	reader := b.tokens["reader"]
	for name, test := range map[string]struct {
		token string
		want  int
	}{
		"none": {"", http.StatusUnauthorized}, "unknown": {"mcpw_x", http.StatusUnauthorized},
		"for calls": {b.tokens["caller"], http.StatusForbidden}, "for the page": {b.tokens["page"], http.StatusForbidden},
		"for metrics": {reader, http.StatusOK}, "for both": {b.tokens["both"], http.StatusOK},
	} {
		status, body := b.get(test.token, "")
		if status != test.want || strings.Contains(body, "mcp_workbench_build_info") != (test.want == http.StatusOK) {
			t.Errorf("a token %s: status %d, %s", name, status, body)
		}
	}
	if _, narrow := b.get(b.tokens["narrow"], ""); !strings.Contains(narrow, `toolbox="ops"`) || strings.Contains(narrow, `"dev"`) {
		t.Errorf("a token for ops sees %s", narrow)
	}
	client := mcptest.NewHTTPClient(b.Address, http.Header{"Authorization": {"Bearer " + reader}})
	defer client.Close()
	if answer, err := client.Initialize(t.Context(), "2025-11-25"); err != nil || answer.Result != nil {
		t.Errorf("a token for metrics may call tools: %s %v", answer.Raw, err)
	}
	end()

	_, scraped := b.get(reader, "")
	pid := strconv.Itoa(b.PID)
	printed := b.output("metrics", "--pid", pid)
	if a, b := ours(scraped), ours(printed); a != b || a == "" {
		t.Errorf("scraped:\n%s\nprinted:\n%s", a, b)
	}
	labelled := b.output("metrics")
	for line := range strings.Lines(labelled) {
		if !strings.HasPrefix(line, "#") && !strings.Contains(line, `pid="`+pid+`"`) {
			t.Errorf("a metric has no process id: %s", line)
		}
	}
	if !strings.Contains(labelled, "mcp_workbench_build_info{") {
		t.Errorf("the metrics of all workbenches are %s", labelled)
	}
	if _, open := b.get(reader, "application/openmetrics-text; version=1.0.0"); !strings.HasSuffix(open, "# EOF\n") || !strings.Contains(open, `# {trace_id="`) {
		t.Errorf("OpenMetrics is %s", open)
	}
	for name, text := range map[string]string{"scraped": scraped, "printed": printed, "labelled": labelled} {
		check := exec.CommandContext(t.Context(), promtool, "check", "metrics")
		check.Stdin = strings.NewReader(text)
		if found := run(t, check); found != "" {
			t.Errorf("%s: promtool finds %s", name, found)
		}
		if strings.Contains(text, secret) {
			t.Errorf("%s: a secret is shown", name)
		}
	}
}

// ours returns the lines about requests, which do not change when nobody calls.
func ours(text string) string {
	var kept []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "mcp_server_") || strings.HasPrefix(line, "mcp_workbench_requests") || strings.HasPrefix(line, "mcp_workbench_calls") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}
