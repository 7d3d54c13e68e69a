package fleet

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
)

// This file is about servers that do not survive the question for their era. Only Linux
// tells at once that they read it.

// asked counts how often a fake was asked for its era.
func (r *rig) asked(t *testing.T, name string) int {
	t.Helper()
	log, err := os.ReadFile(filepath.Join(r.folder, name+".log"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(log), `"method":"server/discover"`)
}

func TestServerThatDiesOfTheQuestionIsStartedAgainAtOnce(t *testing.T) {
	r := newRig(t, map[string]string{
		"S": `{"on":{"server/discover":[{"exit":3}]},"calls":{"crash":[{"exit":7}]}}`,
	}, nil, Options{})
	server := r.server(t, "S")
	if err := call(t.Context(), server, "echo"); err != nil {
		t.Fatalf("the call failed: %v", err)
	}
	if starts, asked := r.starts(t, "S"), r.asked(t, "S"); starts != 2 || asked != 1 {
		t.Errorf("%d processes were started and %d asked, want 2 and 1", starts, asked)
	}
	if status := server.Status(); status.LastError != "" {
		t.Errorf("the start counts as failed: %s", status.LastError)
	}
	if err := call(t.Context(), server, "crash"); err == nil {
		t.Error("the crash went unnoticed")
	}
	if err := call(t.Context(), server, "echo"); err != nil {
		t.Errorf("the call after a crash failed: %v", err)
	}
	if starts, asked := r.starts(t, "S"), r.asked(t, "S"); starts != 3 || asked != 1 {
		t.Errorf("%d processes were started and %d asked, want 3 and 1: it is known by now", starts, asked)
	}
}

func TestServerThatDiesOfAnythingIsStartedTwiceAtMost(t *testing.T) {
	r := newRig(t, map[string]string{
		"S": `{"on":{"server/discover":[{"exit":3}],"initialize":[{"stderr":"boom"},{"exit":4}]}}`,
	}, nil, Options{})
	server := r.server(t, "S")
	err := call(t.Context(), server, "echo")
	if err == nil || !strings.Contains(err.Error(), "code 4") || !strings.Contains(err.Error(), "boom") {
		t.Errorf("the call failed with %v, want how the second process ended", err)
	}
	if starts, asked := r.starts(t, "S"), r.asked(t, "S"); starts != 2 || asked != 1 {
		t.Errorf("%d processes were started and %d asked, want 2 and 1", starts, asked)
	}
	if opening, known := server.startHints.opening(false, false); opening != downstream.ProbeFirst || known {
		t.Error("the question is blamed, but the server dies without it as well")
	}
}

// It may end because of either request when it has both; both are tried alone.
func TestSlowModernServerThatDiesOfInitialize(t *testing.T) {
	r := newRig(t, map[string]string{
		"S": `{"era":"modern","on":{"server/discover":[{"starts":1,"wait":"forever"}],"initialize":[{"exit":3}]}}`,
	}, nil, Options{})
	if err := call(t.Context(), r.server(t, "S"), "echo"); err != nil {
		t.Fatalf("the call failed: %v", err)
	}
	if starts, asked := r.starts(t, "S"), r.asked(t, "S"); starts != 3 || asked != 2 {
		t.Errorf("%d processes were started and %d asked, want 3 and 2", starts, asked)
	}
}

func TestServerThatNeverReadTheQuestionIsStartedOnce(t *testing.T) {
	r := newRig(t, map[string]string{"S": `{"start":[{"exit":3}]}`}, nil, Options{})
	server := r.server(t, "S")
	if err := call(t.Context(), server, "echo"); err == nil || !strings.Contains(err.Error(), "code 3") {
		t.Errorf("the call failed with %v, want the exit code", err)
	}
	if starts := r.starts(t, "S"); starts != 1 {
		t.Errorf("%d processes were started, want 1", starts)
	}
}
