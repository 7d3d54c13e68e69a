package meter

import (
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// anyServer returns the server t/s, which is never started.
func anyServer(t *testing.T) *fleet.Server {
	t.Helper()
	servers := fleet.New(fleet.Options{Config: &config.Config{Toolboxes: []config.Toolbox{{Name: "t", Servers: []config.Server{{Name: "s", Command: "x"}}}}}})
	box, _ := servers.Toolbox("t")
	server, ok := box.Server("s")
	if !ok {
		t.Fatal("there is no server")
	}
	return server
}

func TestRequestsAreCountedByToolAndMethod(t *testing.T) {
	server, began := anyServer(t), time.Unix(1000, 0)
	for _, test := range []struct {
		name string
		call call.Call
		end  call.Status
		want key
		// calls and errors; no row is expected without calls
		calls, errors int
	}{
		{"a tool", call.Call{Method: "tools/call", Name: "x", Tool: wire.Raw([]byte("{}"))}, call.StatusOK, key{method: "tools/call", tool: "x"}, 1, 0},
		{"a tool that fails", call.Call{Method: "tools/call", Name: "x", Tool: wire.Raw([]byte("{}"))}, call.StatusToolError, key{method: "tools/call", tool: "x"}, 1, 1},
		{"an error", call.Call{Method: "tools/call", Name: "x", Tool: wire.Raw([]byte("{}"))}, call.StatusRPCError, key{method: "tools/call", tool: "x"}, 1, 1},
		{"no answer", call.Call{Method: "prompts/get", Name: "x"}, call.StatusFailed, key{method: "prompts/get"}, 1, 1},
		{"cancelled", call.Call{Method: "prompts/get", Name: "x"}, call.StatusCancelled, key{method: "prompts/get"}, 1, 0},
		{"a tool that is not listed", call.Call{Method: "tools/call", Name: "made up"}, call.StatusRefused, key{method: "tools/call"}, 1, 1},
		{"an unknown method", call.Call{Method: "made/up"}, call.StatusOK, key{}, 1, 0},
		{"a round of questions", call.Call{Method: "prompts/get"}, call.StatusInputRequired, key{}, 0, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := New(began)
			test.call.Server = server
			m.CallEnded(&test.call, call.End{Status: test.end, Began: began, Took: time.Second})
			got := m.Read("t", "s", began)
			if test.calls == 0 {
				if len(got.Requests) != 0 {
					t.Errorf("counted %+v", got.Requests)
				}
				return
			}
			if len(got.Requests) != 1 || got.Requests[0].Method != test.want.method || got.Requests[0].Tool != test.want.tool || got.Requests[0].Calls != test.calls || got.Requests[0].Errors != test.errors {
				t.Errorf("counted %+v", got.Requests)
			}
		})
	}
}

// Every call of a tool is counted by tool, also one that ended before the tool was known.
func TestCallsOfUnknownToolsAreCounted(t *testing.T) {
	m := New(time.Unix(1000, 0))
	for _, status := range []call.Status{call.StatusRefused, call.StatusFailed} {
		m.CallEnded(&call.Call{Server: anyServer(t), Method: "tools/call", Name: "x"}, call.End{Status: status})
	}
	m.CallEnded(&call.Call{Server: anyServer(t), Method: "prompts/get", Name: "x"}, call.End{})
	counted := m.serverTotals("t", "s").tools.find(Other)
	if counted == nil || counted[call.StatusRefused].Load() != 1 || counted[call.StatusFailed].Load() != 1 || counted[call.StatusOK].Load() != 0 {
		t.Errorf("counted %v", counted)
	}
}

func TestMeteringAllocatesNothing(t *testing.T) {
	var stage call.Observer = New(time.Now())
	one := &call.Call{Server: anyServer(t), Method: "tools/call", Name: "x", Tool: wire.Raw([]byte("{}"))}
	count := func() {
		stage.CallBegan(one, time.Time{})
		stage.CallEnded(one, call.End{Status: call.StatusToolError, ErrorType: "tool_error", Began: time.Now(), Sent: time.Now(), Took: time.Millisecond})
	}
	count()
	if found := testing.AllocsPerRun(1000, count); found > 0 {
		t.Errorf("counting a request has %v allocations", found)
	}
}
