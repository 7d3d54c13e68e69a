// Package prometheus lets Debian's Prometheus scrape a running workbench, and checks the rules and the dashboard that
// are shipped against what it finds.
package prometheus

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
	"github.com/mcp-workbench/mcp-workbench/test/released"
)

// patience bounds what a test waits for; it is never reached where nothing is wrong.
const patience = time.Minute

// What is shipped.
const (
	rulesFile     = "../../packaging/prometheus/mcp-workbench.rules.yml"
	dashboardFile = "../../packaging/grafana/mcp-workbench.json"
)

func TestMain(m *testing.M) {
	mcptest.PlayRole(nil)
	os.Exit(released.Run(m))
}

// need returns the path of a program of Prometheus. Without it the test is skipped, but on CI, where a skipped test would
// go unnoticed, it fails.
func need(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	switch {
	case err != nil && os.Getenv("CI") != "":
		t.Fatalf("%s is needed on CI: %v", name, err)
	case err != nil:
		t.Skipf("skipped, there is no %s: %v; on Debian 'apt-get install prometheus' brings it", name, err)
	}
	return path
}

// run runs a program that has to succeed, and returns what it printed.
func run(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
	return string(out)
}
