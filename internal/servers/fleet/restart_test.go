//go:build unix

package fleet

import (
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

func TestRestart(t *testing.T) {
	r := newRig(t, map[string]string{"S": `{}`}, nil, Options{})
	server := r.server(t, "S")
	if err := call(t.Context(), server, "x"); err != nil {
		t.Fatal(err)
	}
	pid := server.Status().PID
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	after := server.Status()
	if after.State != Ready || after.PID == pid || after.Restarts != 1 || r.starts(t, "S") != 2 {
		t.Errorf("after the restart: %+v", after)
	}
	if after.Requests != 2 { // the one before, and the one that started it again
		t.Errorf("%d uses are counted", after.Requests)
	}
	eventually(t, "the end of the old one", func() bool { return isGone(pid) })
}

func TestRestartOfOneThatNeverRan(t *testing.T) {
	r := newRig(t, map[string]string{"S": `{}`}, nil, Options{})
	if err := r.server(t, "S").Restart(t.Context()); err != nil || r.starts(t, "S") != 1 {
		t.Errorf("%v, %d starts", err, r.starts(t, "S"))
	}
}

func TestRestartEndsABackoff(t *testing.T) {
	r := newRig(t, map[string]string{"S": `{"start":[{"exit":1}]}`}, nil, Options{})
	server := r.server(t, "S")
	first := call(t.Context(), server, "x")
	server.mu.Lock()
	server.failure.until = time.Now().Add(time.Hour)
	server.mu.Unlock()
	if err := server.Restart(t.Context()); err == nil || err.Error() != first.Error() || r.starts(t, "S") != 2 {
		t.Errorf("the restart failed with %v after %d starts, want %v at once", err, r.starts(t, "S"), first)
	}
}

func TestJournalOfAServer(t *testing.T) {
	r := newRig(t, map[string]string{"S": `{"start":[{"stderr":"token is hunter2hunter2"}]}`}, nil,
		Options{Config: &config.Config{Secrets: []string{"hunter2hunter2"}}})
	server := r.server(t, "S")
	lines, next, more := server.Journal(0)
	if len(lines) != 0 || next != 0 {
		t.Fatalf("before the start: %v", lines)
	}
	for i := range 2 {
		if err := server.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		eventually(t, "a line", func() bool {
			select {
			case <-more:
				return true
			default:
				return false
			}
		})
		lines, next, more = server.Journal(next)
		if len(lines) != 1 || lines[0].Text != "token is [hidden]" {
			t.Errorf("life %d wrote %v", i, lines)
		}
	}
	if all, _, _ := server.Journal(0); len(all) != 2 {
		t.Errorf("it keeps %v", all)
	}
}
