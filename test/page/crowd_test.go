//go:build linux

package page

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/observe/history"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/meter"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
	"github.com/mcp-workbench/mcp-workbench/internal/web/page"
	"github.com/mcp-workbench/mcp-workbench/test/npm"
)

// The crowd of which the page shows a part. A workbench sends at most five changes a second; the crowd sends more.
const (
	crowdServers = 1_000
	crowdTools   = 10_000
	crowdPause   = 100 * time.Millisecond // between two changes of every server
)

// crowd is a workbench with a great many servers and tools, all of which change all the time.
type crowd struct {
	control.Subject              // not asked for anything else
	lines           atomic.Int64 // sent
}

func (c *crowd) server(n int, round int) control.Server {
	state := []string{"ready", "starting", "backing off", "idle"}[(n+round)%4]
	name := fmt.Sprintf("server%04d", n)
	return control.Server{
		Key: "crowd/" + name, Toolbox: "crowd", Name: name, State: state, PID: 1000 + n, Uptime: float64(round), Memory: int64(n+round) << 10,
		Requests: round, Starts: round, Tools: crowdTools / crowdServers,
	}
}

func (c *crowd) servers(round int) []control.Server {
	all := make([]control.Server, crowdServers)
	for n := range all {
		all[n] = c.server(n, round)
	}
	return all
}

// Inspect implements control.Subject.
func (c *crowd) Inspect() control.Workbench {
	return control.Workbench{PID: os.Getpid(), Version: "1", Serving: control.Shared, Started: time.Now(), Clients: []control.ConnectedClient{}, Servers: c.servers(0), Activity: []meter.Server{}}
}

// Metrics implements control.Subject.
func (c *crowd) Metrics() http.Handler { return http.NotFoundHandler() }

// Watch implements control.Subject.
func (c *crowd) Watch(ctx context.Context, send func(*control.Event) error) error {
	state := c.Inspect()
	none, clients, questions, recordings := 0, []control.ConnectedClient{}, []control.Question{}, []control.RecordingInfo{}
	first := &control.Event{State: &state, Servers: state.Servers, Clients: &clients, Questions: &questions, Recordings: &recordings, Changes: &none, Running: &control.RunningCalls{}}
	state.Servers = nil
	if err := send(first); err != nil {
		return err
	}
	again := time.NewTicker(crowdPause)
	defer again.Stop()
	for round := 1; ; round++ {
		select {
		case <-again.C:
		case <-ctx.Done():
			return ctx.Err()
		}
		event := &control.Event{Servers: c.servers(round), Calls: c.calls(round)}
		if round%10 == 0 {
			event.Counters = c.counters(round)
		}
		if err := send(event); err != nil {
			return err
		}
		c.lines.Add(1)
	}
}

func (c *crowd) calls(round int) *control.CallBatch {
	batch := &control.CallBatch{}
	for n := range 200 {
		seq := uint64(round*200 + n)
		batch.Calls = append(batch.Calls, history.Record{
			PID: os.Getpid(), Seq: seq, Time: time.Now(), Client: "crowd", Toolbox: "crowd", Server: fmt.Sprintf("server%04d", seq%crowdServers), Method: "tools/call",
			Tool: "work", Outcome: "ok", Took: 0.02, InWorkbench: 0.001, AtServer: 0.019, RequestBytes: 10, ResponseBytes: 20,
		})
	}
	return batch
}

func (c *crowd) counters(round int) *control.Counters {
	counters := &control.Counters{At: time.Now(), Memory: 1 << 24}
	for _, server := range c.servers(round) {
		counters.Servers = append(counters.Servers, control.ServerCounters{Key: server.Key, Memory: server.Memory, Counts: meter.Counts{Calls: round, TotalCalls: round * 2, P50: 0.01, P95: 0.02}})
	}
	return counters
}

// History implements control.Subject.
func (c *crowd) History(uint64) ([]history.Record, uint64, <-chan struct{}) { return nil, 0, nil }

// WatchQuestions implements control.Subject.
func (c *crowd) WatchQuestions(string) (changes <-chan struct{}, end func()) { return nil, func() {} }

// Tools implements control.Subject.
func (c *crowd) Tools(query control.ToolQuery) (control.ToolPage, error) {
	result := control.ToolPage{Offset: query.Offset, Total: crowdTools, Tools: []control.ToolRow{}}
	for n := query.Offset; n < min(query.Offset+query.Limit, crowdTools); n++ {
		result.Tools = append(result.Tools, control.ToolRow{
			Toolbox: "crowd", Server: fmt.Sprintf("server%04d", n/10), Name: fmt.Sprintf("tool%05d", n), Line: "Does the work of number " + fmt.Sprint(n), Tokens: 40 + n%100,
		})
	}
	return result, nil
}

// serveCrowd serves the page about a crowd, and returns a link to it.
func serveCrowd(t *testing.T) (of *crowd, link string) {
	t.Helper()
	of = &crowd{}
	ctx, cancel := context.WithCancel(context.Background())
	local, wait := control.NewLocal(ctx, of)
	served, err := page.New(page.Options{Version: "1", Mode: page.ModeUI, Sessions: true, Find: func(context.Context) ([]*control.Client, error) { return []*control.Client{local}, nil }})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- served.Serve(ctx, listener) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := wait(); err != nil {
			t.Error(err)
		}
	})
	return of, served.Link("http://" + listener.Addr().String())
}

// figures is what the browser measured of a crowd.
type figures struct {
	Scene   string  `json:"scene"`
	Nodes   int     `json:"nodes"`         // elements of the page
	Script  float64 `json:"scriptSeconds"` // in Seconds
	Tasks   float64 `json:"taskSeconds"`   // likewise, with layout and drawing
	Heap    int64   `json:"heapBytes"`     // after collecting garbage
	Seconds float64 `json:"seconds"`
	Search  float64 `json:"searchSeconds"` // until what was searched is seen
}

const (
	maxNodes    = 3_000 // elements of the page, whatever the number of servers, calls and tools
	maxPerWatch = 12    // lines a second that a watch sends to a tab
	crowdTime   = "PAGE_CROWD_SECONDS"
)

// The page draws what is in sight: a crowd costs it no more elements than a few. Times and memory are printed, and fail
// nothing.
func TestCrowd(t *testing.T) {
	_, chromium := npm.NeedBrowser(t)
	of, link := serveCrowd(t)
	b := &bench{Chromium: chromium, Folder: t.TempDir(), Link: link, Seconds: os.Getenv(crowdTime)}
	start := time.Now()
	all := browse(t, "crowd.mjs", b)
	if len(all) != 4 {
		t.Fatalf("there are %d scenes", len(all))
	}
	for _, one := range all {
		t.Logf("%-8s %5d elements, %.2f s of script and %.2f s of all work in %.0f s, heap %.1f MB, search %.0f ms",
			one.Scene, one.Nodes, one.Script, one.Tasks, one.Seconds, float64(one.Heap)/1e6, one.Search*1000)
		if one.Nodes > maxNodes || one.Nodes < 50 {
			t.Errorf("%s has %d elements; at most %d", one.Scene, one.Nodes, maxNodes)
		}
	}
	if rate := float64(of.lines.Load()) / time.Since(start).Seconds(); rate > maxPerWatch {
		t.Errorf("%.1f lines a second were sent", rate)
	}
}
