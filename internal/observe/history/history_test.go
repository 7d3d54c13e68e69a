package history

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// client is one with a profile.
type client struct{ profile *fleet.ClientProfile }

func (client) Notify(string, []byte) error     { return nil }
func (client) TryNotify(string, []byte)        {}
func (client) Ask(*downstream.Question)        {}
func (c client) Profile() *fleet.ClientProfile { return c.profile }
func unmasked(text string) string              { return text }
func masked(text string) string                { return strings.ReplaceAll(text, "hunter2", "***") }
func newHistory() *History                     { return New(unmasked) }

func numbers(records []Record) (all []uint64) {
	for _, one := range records {
		all = append(all, one.Seq)
	}
	return all
}

// newCall returns a call of a tool of the server t/s, which is never started.
func newCall(t testing.TB, tool string) *call.Call {
	t.Helper()
	servers := fleet.New(fleet.Options{Config: &config.Config{Toolboxes: []config.Toolbox{{Name: "t", Servers: []config.Server{{Name: "s", Command: "x"}}}}}})
	box, _ := servers.Toolbox("t")
	server, ok := box.Server("s")
	if !ok {
		t.Fatal("there is no server")
	}
	profile := fleet.NewClientProfile(fleet.ProfileOptions{Name: "a client", Caller: "stdio"})
	t.Cleanup(profile.Close)
	return &call.Call{Server: server, Client: client{profile}, Method: "tools/call", Name: tool, Shape: "path: string 12 B"}
}

var ended = call.End{Status: call.StatusOK, Began: time.Unix(1_000_000, 0), Took: 10 * time.Millisecond}

// add adds calls.
func add(h *History, one *call.Call, count int) {
	for range count {
		h.CallBegan(one, ended.Began)
		h.CallEnded(one, ended)
	}
}

func TestRecord(t *testing.T) {
	h := newHistory()
	one := newCall(t, "read")
	one.Arguments = wire.Raw([]byte(`{"path":"/etc/passwd!"}`))
	h.CallEnded(one, call.End{
		Status: call.StatusRPCError, ErrorType: "-32602", Began: ended.Began, Took: 1500 * time.Millisecond, Start: time.Second, Server: 300 * time.Millisecond,
		Waited: 100 * time.Millisecond, RequestSize: 23, ResponseSize: 40,
	})
	records, next, _ := h.Read(0)
	if len(records) != 1 || next != 1 {
		t.Fatalf("got %+v, next %d", records, next)
	}
	want := Record{
		PID: h.pid, Seq: 1, Time: ended.Began, Client: "a client", Caller: "stdio", Toolbox: "t", Server: "s", Method: "tools/call", Tool: "read",
		Outcome: "JSON-RPC error", ErrorType: "-32602", Took: 1.5, InWorkbench: .1, InStart: 1, AtServer: .3, Waited: .1,
		RequestBytes: 23, ResponseBytes: 40, Arguments: "path: string 12 B",
	}
	if records[0] != want {
		t.Errorf("got  %+v\nwant %+v", records[0], want)
	}
}

// What the server used is what was seen last, or what it was stopped for.
func TestUsageInRecords(t *testing.T) {
	h := newHistory()
	one, end := newCall(t, "read"), ended
	end.Usage = &fleet.Usage{Memory: 5 << 20, CPU: .12345}
	h.CallEnded(one, end)
	end.Status, end.Over = call.StatusFailed, &fleet.MemoryLimitError{Used: 9 << 20, Limit: 8 << 20, Key: "limits.memory"}
	h.CallEnded(one, end)
	records, _, _ := h.Read(0)
	if r := records[0]; r.Memory != 5<<20 || r.CPU != 12.3 || r.MemoryLimit != 0 || r.LimitKey != "" {
		t.Errorf("a call: %+v", r)
	}
	if r := records[1]; r.Memory != 9<<20 || r.MemoryLimit != 8<<20 || r.LimitKey != "limits.memory" {
		t.Errorf("one that was too much: %+v", r)
	}
}

func TestNamesOfRecords(t *testing.T) {
	for _, test := range []struct{ method, name, tool, prompt, wantMethod string }{
		{"tools/call", "read", "read", "", "tools/call"},
		{"prompts/get", "ask", "", "ask", "prompts/get"},
		{"resources/read", "file:///home/me/secret", "", "", "resources/read"},
		{"made/up", "x", "", "", ""},
		{"tools/call", strings.Repeat("x", maxName), strings.Repeat("x", maxName), "", "tools/call"},
		{"tools/call", strings.Repeat("x", maxName+1), "…", "", "tools/call"},
		{"tools/call", "say_hunter2", "say_***", "", "tools/call"},
	} {
		h := New(masked)
		one := newCall(t, test.name)
		one.Method, one.Shape = test.method, "hunter2: null"
		h.CallEnded(one, ended)
		got, _, _ := h.Read(0)
		if got[0].Method != test.wantMethod || got[0].Tool != test.tool || got[0].Prompt != test.prompt || got[0].Arguments != "***: null" {
			t.Errorf("%s %s: %+v", test.method, test.name, got[0])
		}
	}
	// What a client calls itself can be anything.
	h := New(masked)
	one := newCall(t, "x")
	profile := fleet.NewClientProfile(fleet.ProfileOptions{Name: "\x1b[31mhunter2\u202e\nclient", Caller: "token:hunter2"})
	defer profile.Close()
	one.Client = client{profile}
	add(h, one, 1)
	one.Client = client{}
	add(h, one, 1)
	if got, _, _ := h.Read(0); got[0].Client != "*** client" || got[0].Caller != "token:***" || got[1].Client != "" || got[1].Caller != "" {
		t.Errorf("got %+v", got)
	}
}

func TestReading(t *testing.T) {
	h := newHistory()
	one := newCall(t, "x")
	records, next, more := h.Read(0)
	if len(records) != 0 || next != 0 || more == nil {
		t.Fatalf("an empty history has %+v, next %d", records, next)
	}
	_, _, also := h.Read(5) // after calls that there are not yet
	add(h, one, 3)
	for _, waiting := range []<-chan struct{}{more, also} {
		select {
		case <-waiting:
		default:
			t.Error("those who wait are not told")
		}
	}
	if records, next, _ = h.Read(1); !slices.Equal(numbers(records), []uint64{2, 3}) || next != 3 || records[0].Lost != 0 {
		t.Errorf("got %v, next %d", numbers(records), next)
	}
	add(h, one, maxBatch)
	if records, next, more = h.Read(1); len(records) != maxBatch || next != maxBatch+1 || more != nil {
		t.Errorf("got %d, next %d", len(records), next)
	}
	if records, next, _ = h.Read(next); len(records) != 2 || next != maxBatch+3 || h.Last() != next {
		t.Errorf("got %d, next %d", len(records), next)
	}
}

func TestOldCallsAreForgotten(t *testing.T) {
	h := newHistory()
	for i := range maxRecords + 10 {
		add(h, newCallNamed(t, fmt.Sprint(i+1)), 1)
	}
	records, _, _ := h.Read(0)
	if records[0].Seq != 11 || records[0].Lost != 10 || records[0].Tool != "11" || records[1].Lost != 0 {
		t.Errorf("the first is %+v", records[0])
	}
	seen := len(records)
	for next := records[len(records)-1].Seq; len(records) > 0; seen += len(records) {
		for i := range records {
			if records[i].Tool != fmt.Sprint(records[i].Seq) {
				t.Fatalf("the call %d is %s", records[i].Seq, records[i].Tool)
			}
		}
		records, next, _ = h.Read(next)
	}
	if seen != maxRecords || len(h.ring) != maxRecords || len(h.names) > maxNames {
		t.Errorf("read %d, the ring has %d, there are %d names", seen, len(h.ring), len(h.names))
	}
}

var template *call.Call

// newCallNamed is newCall for many.
func newCallNamed(t *testing.T, tool string) *call.Call {
	t.Helper()
	if template == nil {
		template = newCall(t, "")
	}
	one := *template
	one.Name = tool
	return &one
}

func TestRememberingAllocatesNothing(t *testing.T) {
	h, one := newHistory(), newCall(t, "x")
	add(h, one, maxRecords)
	if found := testing.AllocsPerRun(1000, func() { add(h, one, 1) }); found > 0 {
		t.Errorf("a record has %v allocations", found)
	}
}

func TestManyRecordAndRead(t *testing.T) {
	h, one := newHistory(), newCall(t, "x")
	var writers, readers sync.WaitGroup
	const each, readersCount = 1000, 3
	for range 4 {
		writers.Go(func() { add(h, one, each) })
	}
	for range readersCount {
		readers.Go(func() {
			read := uint64(0)
			for after := uint64(0); after < 4*each; {
				records, next, more := h.Read(after)
				if more != nil {
					<-more
				}
				for i := range records {
					read += 1 + records[i].Lost
				}
				after = next
			}
			if read != 4*each {
				t.Errorf("read %d", read)
			}
		})
	}
	writers.Wait()
	readers.Wait()
}

func TestIsError(t *testing.T) {
	for status, want := range map[call.Status]bool{
		call.StatusOK: false, call.StatusCancelled: false, call.StatusInputRequired: false,
		call.StatusToolError: true, call.StatusRPCError: true, call.StatusFailed: true, call.StatusRefused: true,
	} {
		if got := (&Record{Outcome: status.String()}).IsError(); got != want {
			t.Errorf("%s: %t", status, got)
		}
	}
}

func BenchmarkRecord(b *testing.B) {
	h, one := newHistory(), newCall(b, "x")
	b.ReportAllocs()
	for b.Loop() {
		add(h, one, 1)
	}
}
