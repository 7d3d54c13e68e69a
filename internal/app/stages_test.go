package app

import (
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/meter"
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
		want meter.Key
		// calls and errors; no row is expected without calls
		calls, errors int
	}{
		{"a tool", call.Call{Method: "tools/call", Name: "x", Tool: wire.Raw([]byte("{}"))}, call.StatusOK, meter.Key{Method: "tools/call", Tool: "x"}, 1, 0},
		{"a tool that fails", call.Call{Method: "tools/call", Name: "x", Tool: wire.Raw([]byte("{}"))}, call.StatusToolError, meter.Key{Method: "tools/call", Tool: "x"}, 1, 1},
		{"an error", call.Call{Method: "tools/call", Name: "x", Tool: wire.Raw([]byte("{}"))}, call.StatusRPCError, meter.Key{Method: "tools/call", Tool: "x"}, 1, 1},
		{"no answer", call.Call{Method: "prompts/get", Name: "x"}, call.StatusFailed, meter.Key{Method: "prompts/get"}, 1, 1},
		{"cancelled", call.Call{Method: "prompts/get", Name: "x"}, call.StatusCancelled, meter.Key{Method: "prompts/get"}, 1, 0},
		{"a tool that is not listed", call.Call{Method: "tools/call", Name: "made up"}, call.StatusRefused, meter.Key{Method: "tools/call"}, 1, 1},
		{"an unknown method", call.Call{Method: "made/up"}, call.StatusOK, meter.Key{}, 1, 0},
		{"a round of questions", call.Call{Method: "prompts/get"}, call.StatusInputRequired, meter.Key{}, 0, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := meter.New(began)
			test.call.Server = server
			metering{m}.CallEnded(&test.call, call.End{Status: test.end, Began: began, Took: time.Second})
			got := m.Read("t", "s", began)
			if test.calls == 0 {
				if len(got.Rows) != 0 {
					t.Errorf("counted %+v", got.Rows)
				}
				return
			}
			test.want.Toolbox, test.want.Server = "t", "s"
			if len(got.Rows) != 1 || got.Rows[0].Key != test.want || got.Calls != test.calls || got.Errors != test.errors {
				t.Errorf("counted %+v", got.Rows)
			}
		})
	}
}

func TestMeteringAllocatesNothing(t *testing.T) {
	var stage call.Observer = metering{meter.New(time.Now())}
	one := &call.Call{Server: anyServer(t), Method: "tools/call", Name: "x", Tool: wire.Raw([]byte("{}"))}
	count := func() {
		stage.CallBegan(one, time.Time{})
		stage.CallEnded(one, call.End{Status: call.StatusOK, Began: time.Now(), Took: time.Millisecond})
	}
	count()
	if found := testing.AllocsPerRun(1000, count); found > 0 {
		t.Errorf("counting a request has %v allocations", found)
	}
}
