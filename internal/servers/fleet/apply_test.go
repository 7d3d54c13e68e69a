//go:build unix

package fleet

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// changed returns the rig's configuration with one change.
func (r *rig) changed(change func(*config.Config)) *config.Config {
	cfg := *r.table.Load().config
	cfg.Toolboxes = append([]config.Toolbox(nil), cfg.Toolboxes...)
	for i := range cfg.Toolboxes {
		cfg.Toolboxes[i].Servers = append([]config.Server(nil), cfg.Toolboxes[i].Servers...)
	}
	change(&cfg)
	return &cfg
}

func isGone(pid int) bool { return syscall.Kill(pid, 0) != nil }

func TestApplyKeepsWhatDidNotChange(t *testing.T) {
	r := newRig(t, map[string]string{"S": `{}`}, nil, Options{})
	before := r.server(t, "S")
	if err := call(t.Context(), before, "x"); err != nil {
		t.Fatal(err)
	}
	r.Apply(r.changed(func(cfg *config.Config) {
		cfg.Toolboxes[0].Description = "new"
		cfg.Toolboxes = append([]config.Toolbox{{Name: "first"}}, cfg.Toolboxes...)
	}))
	if names := r.Toolboxes(); len(names) != 2 || names[0].Name != "first" || names[1].Description != "new" {
		t.Errorf("the toolboxes are %+v", names)
	}
	box, _ := r.Toolbox("T")
	after, _ := box.Server("S")
	if after != before || call(t.Context(), after, "x") != nil || r.starts(t, "S") != 1 {
		t.Error("a server that did not change was replaced")
	}
}

func TestApplyReplacesWhatChanged(t *testing.T) {
	r := newRig(t, map[string]string{"S": `{}`}, nil, Options{})
	before := r.server(t, "S")
	if err := call(t.Context(), before, "x"); err != nil {
		t.Fatal(err)
	}
	pid := before.Status().PID
	r.Apply(r.changed(func(cfg *config.Config) { cfg.Toolboxes[0].Servers[0].Timeouts.Call = time.Minute }))
	eventually(t, "the end of the old one", func() bool { return isGone(pid) })
	box, _ := r.Toolbox("T")
	after, _ := box.Server("S")
	if after == before || call(t.Context(), after, "x") != nil || r.starts(t, "S") != 2 {
		t.Error("the server was not replaced")
	}
	if err := call(t.Context(), before, "x"); err == nil || !strings.Contains(err.Error(), "no longer part") {
		t.Errorf("the old one, asked again, says %v", err)
	}
}

func TestDismissedServerFinishesItsCalls(t *testing.T) {
	r := newRig(t, map[string]string{"S": `{}`}, nil, Options{})
	gate := filepath.Join(r.folder, "go")
	spec := `{"calls":{"slow":[{"wait":"file ` + gate + `"},{"result":{}}]}}`
	if err := os.WriteFile(filepath.Join(r.folder, "S.json"), []byte(spec), 0o600); err != nil {
		t.Fatal(err)
	}
	server := r.server(t, "S")
	ended := make(chan error)
	go func() { ended <- call(t.Context(), server, "slow") }()
	eventually(t, "the call", func() bool {
		log, _ := os.ReadFile(filepath.Join(r.folder, "S.log"))
		return strings.Contains(string(log), `"slow"`)
	})
	pid := server.Status().PID
	r.Apply(r.changed(func(cfg *config.Config) { cfg.Toolboxes = nil }))
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Errorf("the call of the dismissed server failed: %v", err)
	}
	eventually(t, "the end of the server", func() bool { return isGone(pid) })
}

func TestStatus(t *testing.T) {
	r := newRig(t, map[string]string{"S": `{"tools":[{"name":"a","inputSchema":{}}],"start":[{"stderr":"hello hunter2hunter2"}],
		"calls":{"crash":[{"exit":4}]}}`}, nil, Options{Config: &config.Config{Secrets: []string{"hunter2hunter2"}}})
	server := r.server(t, "S")
	if got := r.Status(); len(got) != 1 || got[0].State != Idle || got[0].Server != "S" || got[0].Toolbox != "T" {
		t.Errorf("before the start the status is %+v", got)
	}
	if err := call(t.Context(), server, "a"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the line on stderr", func() bool { return len(server.Status().Stderr) > 0 })
	if got := server.Status(); got.State != Ready || got.PID == 0 || got.Uptime <= 0 || got.Tools != 1 || got.Stderr[0] != "hello [hidden]" {
		t.Errorf("when it is ready the status is %+v", got)
	}
	for range 2 {
		if err := call(t.Context(), server, "crash"); err == nil {
			t.Fatal("the call that crashes succeeded")
		}
		eventually(t, "the explanation", func() bool { return strings.Contains(server.Status().LastError, "code 4") })
		if server.Status().Restarts == 1 {
			break
		}
	}
	got := server.Status()
	if got.Restarts != 1 || got.PID != 0 || got.Since.IsZero() || got.State == Ready {
		t.Errorf("after two crashes the status is %+v", got)
	}
}
