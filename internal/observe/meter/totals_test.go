package meter

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/tracecontext"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
)

// sentCall returns the end of a call that was sent, and took 3 ms at the server and 1 ms elsewhere.
func sentCall(status call.Status, errorType string) call.End {
	return call.End{Status: status, ErrorType: errorType, Began: begin, Sent: begin, Took: 4 * time.Millisecond, Server: 3 * time.Millisecond}
}

func onlyServer(t *testing.T, m *Meter) Totals {
	t.Helper()
	all := m.Snapshot()
	if len(all.Servers) != 1 || all.Servers[0].Toolbox != "t" || all.Servers[0].Server != "s" {
		t.Fatalf("the servers are %+v", all.Servers)
	}
	return *all.Servers[0]
}

func TestTotals(t *testing.T) {
	m := New(begin)
	one := &call.Call{Server: anyServer(t), Method: "tools/call", Name: "x", Tool: wire.Raw([]byte("{}"))}
	for range 3 {
		m.CallBegan(one, begin)
	}
	if got := onlyServer(t, m); got.InFlight != 3 {
		t.Errorf("in flight are %d", got.InFlight)
	}
	m.CallEnded(one, sentCall(call.StatusOK, ""))
	m.CallEnded(one, sentCall(call.StatusRPCError, "-32602"))
	m.CallEnded(one, call.End{Status: call.StatusRefused, ErrorType: "denied", Began: begin, Took: time.Second})
	m.CallBegan(one, begin)
	m.CallEnded(one, sentCall(call.StatusInputRequired, ""))
	got := onlyServer(t, m)
	if got.InFlight != 0 || got.Overhead.Count != 3 || got.Overhead.Counts[6] != 3 || got.Overhead.Sum != .003 {
		t.Errorf("in flight are %d, the overhead is %+v", got.InFlight, got.Overhead)
	}
	if len(got.Methods) != 1 || got.Methods[0].Method != "tools/call" || got.Methods[0].Took.Count != 3 || got.Methods[0].AtServer.Counts[0] != 3 || got.Methods[0].AtServer.Sum != .009 {
		t.Errorf("the methods are %+v", got.Methods)
	}
	if len(got.Tools) != 1 || got.Tools[0].Tool != "x" || got.Tools[0].Outcomes.Of(call.StatusOK) != 1 || got.Tools[0].Outcomes.Of(call.StatusRefused) != 1 || got.Tools[0].Outcomes.Of(call.StatusInputRequired) != 1 || got.Tools[0].Outcomes != got.Methods[0].Outcomes {
		t.Errorf("the tools are %+v", got.Tools)
	}
	if want := []ErrorTotals{{"-32602", 1}, {"denied", 1}}; !slices.Equal(got.Errors, want) {
		t.Errorf("the errors are %+v", got.Errors)
	}
}

// The last request of a bucket that was recorded is its exemplar.
func TestTracedRequestsAreExemplars(t *testing.T) {
	m := New(begin)
	for i, id := range []byte{0, 1, 2, 0} {
		one := &call.Call{Server: anyServer(t), Method: "tools/call", Name: "x", Tool: wire.Raw([]byte("{}"))}
		if id != 0 {
			one.Trace = &call.Trace{ID: tracecontext.TraceID{id}}
		}
		end := sentCall(call.StatusOK, "")
		end.Began = begin.Add(time.Duration(i) * time.Second)
		m.CallBegan(one, begin)
		m.CallEnded(one, end)
	}
	got := onlyServer(t, m)
	for name, h := range map[string]Histogram{"took": got.Methods[0].Took, "at server": got.Methods[0].AtServer, "overhead": got.Overhead} {
		found := 0
		for i, one := range h.Exemplars {
			if one == nil {
				continue
			}
			found++
			if h.Counts[i] != 4 || one.Trace != (tracecontext.TraceID{2}) || one.Seconds != h.Sum/4 || !one.Time.Equal(begin.Add(2*time.Second+4*time.Millisecond)) {
				t.Errorf("%s: the exemplar of bucket %d is %+v", name, i, one)
			}
		}
		if found != 1 {
			t.Errorf("%s has %d exemplars", name, found)
		}
	}
}

func TestEventsAreCounted(t *testing.T) {
	m := New(begin)
	m.ServerStarted("t", "s", 300*time.Millisecond, nil)
	m.ServerStarted("t", "s", time.Second, errors.New("no"))
	m.ServerCrashed("t", "s")
	m.DefinitionsChanged("t", "s", make([]catalog.Change, 2))
	m.ServerEnded("t", "s", 30*time.Millisecond, false)
	m.ServerEnded("t", "s", time.Hour, false)
	m.ServerEnded("t", "s", time.Minute, true)
	got := onlyServer(t, m)
	if got.Sessions.Count != 2 || got.Sessions.Counts[2] != 1 || got.Sessions.Counts[14] != 1 || got.BrokenOff.Count != 1 || got.BrokenOff.Sum != 60 {
		t.Errorf("the sessions are %+v and %+v", got.Sessions, got.BrokenOff)
	}
	if got.Starts != 1 || got.FailedStarts != 1 || got.Crashes != 1 || got.DefinitionsChanged != 2 || got.StartTime.Count != 1 || got.StartTime.Counts[5] != 1 {
		t.Errorf("got %+v", got)
	}
}

func TestSessionsOfClientsAreCounted(t *testing.T) {
	m := New(begin)
	m.ClientLeft(false, protocol.Revision20251125, time.Second)
	m.ClientLeft(false, protocol.Revision20251125, time.Minute)
	m.ClientLeft(true, protocol.Revision20250618, time.Second)
	m.ClientLeft(true, "a client's own", time.Second)
	all := m.Snapshot().Clients
	slices.SortFunc(all, func(a, b ClientTotals) int { return strings.Compare(string(a.Revision), string(b.Revision)) })
	if len(all) != 2 || !all[0].OverHTTP || all[0].Took.Count != 1 || all[1].OverHTTP || all[1].Took.Count != 2 || all[1].Took.Sum != 61 {
		t.Errorf("the sessions are %+v", all)
	}
}

func TestLabelsAreBounded(t *testing.T) {
	m := New(begin)
	server := anyServer(t)
	const beyond = 10
	for i := range maxTools + beyond {
		one := &call.Call{Server: server, Method: "tools/call", Name: fmt.Sprint("tool", i), Tool: wire.Raw([]byte("{}"))}
		m.CallBegan(one, begin)
		m.CallEnded(one, sentCall(call.StatusRPCError, fmt.Sprint(-i)))
	}
	for _, name := range []string{"timeout", "server_ended", "denied"} { // whatever codes servers invent
		if m.errorType(m.serverTotals("t", "s"), name) == m.errorType(m.serverTotals("t", "s"), "-9999999") {
			t.Errorf("'%s' is not counted apart", name)
		}
	}
	unknown := &call.Call{Server: server, Method: "made/up"}
	m.CallBegan(unknown, begin)
	m.CallEnded(unknown, sentCall(call.StatusOK, ""))
	got := onlyServer(t, m)
	if len(got.Tools) != maxTools+1 || got.Tools[0].Tool != Other || got.Tools[0].Outcomes.Of(call.StatusRPCError) != beyond {
		t.Errorf("%d tools are counted, the first is %+v", len(got.Tools), got.Tools[0])
	}
	if at := slices.IndexFunc(got.Errors, func(e ErrorTotals) bool { return e.Type == Other }); len(got.Errors) != maxErrorCodes+1+3 || got.Errors[at].Count != maxTools+beyond-maxErrorCodes {
		t.Errorf("the errors are %+v", got.Errors)
	}
	if len(got.Methods) != 2 || got.Methods[0].Method != Other {
		t.Errorf("the methods are %+v", got.Methods)
	}

	// The tools of a server that left make room.
	m.Retain(func(string, string) bool { return false })
	if all := m.Snapshot().Servers; len(all) != 0 {
		t.Errorf("there are still %+v", all)
	}
	one := &call.Call{Server: server, Method: "tools/call", Name: "new", Tool: wire.Raw([]byte("{}"))}
	m.CallBegan(one, begin)
	m.Retain(func(string, string) bool { return false })
	m.CallEnded(one, sentCall(call.StatusOK, ""))
	if got := onlyServer(t, m); got.Tools[0].Tool != "new" || got.InFlight != 0 {
		t.Errorf("got %+v", got)
	}
}

func TestDurationsAreCountedUpToTheirBounds(t *testing.T) {
	var d durations
	for _, took := range []time.Duration{-1, 0, 10 * time.Millisecond, 10*time.Millisecond + 1, 5 * time.Minute, time.Hour} {
		d.add(took, &operationBounds, nil)
	}
	got := d.read(&operationBounds)
	if got.Counts[0] != 3 || got.Counts[1] != 1 || got.Counts[13] != 1 || got.Counts[14] != 1 || got.Count != 6 || got.Bounds[0] != .01 || got.Bounds[13] != 300 {
		t.Errorf("got %+v", got)
	}
	for i := 1; i < len(overheadBounds); i++ {
		if overheadBounds[i] <= overheadBounds[i-1] || operationBounds[i] <= operationBounds[i-1] {
			t.Errorf("bound %d is not above the one before", i)
		}
	}
}

func TestTotalsAreCountedByMany(t *testing.T) {
	m := New(begin)
	server := anyServer(t)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			one := &call.Call{Server: server, Method: "tools/call", Name: fmt.Sprint(i % 3), Tool: wire.Raw([]byte("{}"))}
			for range 200 {
				m.CallBegan(one, begin)
				m.CallEnded(one, sentCall(call.StatusOK, ""))
				m.Snapshot()
			}
		})
	}
	all.Wait()
	if got := onlyServer(t, m); got.InFlight != 0 || got.Methods[0].Outcomes.Of(call.StatusOK) != 1600 || len(got.Tools) != 3 {
		t.Errorf("got %+v", got)
	}
}
