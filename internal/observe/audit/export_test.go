package audit

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
)

// exported returns the events that a log is exported to.
func (r *rig) exported(format string) (events []map[string]any, err error) {
	r.t.Helper()
	var out strings.Builder
	err = Export(&out, r.options.Folder, format)
	for line := range strings.Lines(out.String()) {
		var event map[string]any
		if err := json.Unmarshal([]byte(line), &event); err != nil {
			r.t.Fatal(err)
		}
		events = append(events, event)
	}
	return events, err
}

func TestExport(t *testing.T) {
	r := newRig(t)
	l := Open(r.options)
	stage := NewStage(l)
	c := newCall(t, `{"path":"a-value"}`)
	stage.CallBegan(c, time.Now())
	stage.CallEnded(c, call.End{Status: call.StatusRefused, ErrorType: "denied", Took: 2 * time.Millisecond})
	r.close(l)
	lines := strings.Count(r.text(), "\n")

	events, err := r.exported("ocsf")
	if err != nil || len(events) != lines {
		t.Fatalf("%d events of %d lines, %v", len(events), lines, err)
	}
	refused := events[1]
	for name, want := range map[string]any{
		"class_uid": 6003.0, "category_uid": 6.0, "type_uid": 600399.0, "activity_id": 99.0, "status_id": 2.0, "action_id": 2.0, "severity_id": 3.0, "duration": 2.0,
	} {
		if refused[name] != want {
			t.Errorf("%s is %v, want %v", name, refused[name], want)
		}
	}
	if name := refused["actor"].(map[string]any)["user"].(map[string]any)["name"]; name != "token:ci" {
		t.Errorf("the actor is %v", name)
	}
	if events, err = r.exported("cloudevents"); err != nil || len(events) != lines {
		t.Fatalf("%d events of %d lines, %v", len(events), lines, err)
	}
	seen := make(map[any]bool)
	for _, event := range events {
		if event["specversion"] != "1.0" || event["source"] == "" || seen[event["id"]] {
			t.Errorf("%v", event)
		}
		seen[event["id"]] = true
	}
	if event := events[1]; event["type"] != "mcp_workbench.audit.refused" || event["subject"] != "T/S/x" {
		t.Errorf("%v", event)
	}

	// What cannot be read is left out, and said.
	path := filepath.Join(r.options.Folder, fileName(1))
	if err := os.WriteFile(path, []byte(r.text()+"{torn"), 0o600); err != nil {
		t.Fatal(err)
	}
	if events, err = r.exported("ocsf"); err == nil || len(events) != lines {
		t.Errorf("%d events of %d lines, %v", len(events), lines, err)
	}
}
