package app

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
)

// idleServers makes a configuration with servers that nobody starts.
func idleServers(n int) *config.Config {
	box := config.Toolbox{Name: "box"}
	for i := range n {
		box.Servers = append(box.Servers, config.Server{Name: fmt.Sprintf("s%d", i), Command: "true"})
	}
	return &config.Config{Path: "/c.json", Toolboxes: []config.Toolbox{box}}
}

func newTestApp(t testing.TB, servers int) *App {
	t.Helper()
	a, err := New(Options{Config: idleServers(servers), Environ: []string{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return a
}

// ended has the history record calls that ended.
func (a *App) ended(n int) {
	server := a.fleet.Toolboxes()[0].Servers[0]
	for range n {
		a.history.CallEnded(&call.Call{Server: server, Client: nobody{}, Method: "tools/call", Name: "x"}, call.End{Status: call.StatusOK, Began: time.Now()})
	}
}

type nobody struct{ call.Client }

func (nobody) Profile() *fleet.ClientProfile { return nil }

// watching collects what a watcher is sent.
type watching struct {
	mu     sync.Mutex // guards events
	events []control.Event
	stop   context.CancelFunc
	ended  chan error
}

func watch(t *testing.T, a *App) *watching {
	ctx, stop := context.WithCancel(t.Context())
	w := &watching{stop: stop, ended: make(chan error, 1)}
	go func() {
		w.ended <- Inspector{App: a, Serving: control.Shared}.Watch(ctx, func(event *control.Event) error {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.events = append(w.events, *event)
			return nil
		})
	}()
	synctest.Wait()
	return w
}

func (w *watching) take() []control.Event {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	taken := w.events
	w.events = nil
	return taken
}

func (w *watching) end(t *testing.T) {
	w.stop()
	if err := <-w.ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the watch ended with %v", err)
	}
}

func TestWatchBeginsWithEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newTestApp(t, 3)
		w := watch(t, a)
		defer w.end(t)
		got := w.take()
		if len(got) != 1 {
			t.Fatalf("%d events came", len(got))
		}
		first := got[0]
		if first.State == nil || first.State.Config != "/c.json" || len(first.Servers) != 3 || first.Servers[2].Key != "box/s2" || first.Servers[0].State != "idle" {
			t.Errorf("the state is %+v with the servers %+v", first.State, first.Servers)
		}
		if first.Clients == nil || first.Questions == nil || first.Running == nil || first.Changes == nil || first.Recordings == nil || first.Counters == nil {
			t.Errorf("something is missing: %+v", first)
		}
	})
}

func TestServerDetail(t *testing.T) {
	a := newTestApp(t, 2)
	cfg := idleServers(2)
	cfg.Toolboxes[0].Servers[1] = config.Server{Name: "s1", URL: "https://ada:secret@example.com/key?token=x"}
	if err := a.Reload(cfg, ""); err != nil {
		t.Fatal(err)
	}
	i := Inspector{App: a}
	if detail, err := i.Server("box/s0"); err != nil || detail.Command != "true" || detail.Config != "/c.json" || detail.State != "idle" || detail.Steps == nil || detail.Processes == nil {
		t.Errorf("the first is %+v, %v", detail, err)
	}
	if detail, err := i.Server("box/s1"); err != nil || detail.Command != "https://example.com" {
		t.Errorf("the remote one is %+v, %v", detail, err)
	}
	if _, err := i.Server("box/s2"); err == nil {
		t.Error("there is another one")
	}
}

func TestWatchIsSilentWhileNothingChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newTestApp(t, 3)
		w := watch(t, a)
		defer w.end(t)
		w.take()
		time.Sleep(keepAlive - time.Second)
		for _, event := range w.take() {
			event.Counters = nil // the memory of this process
			if !event.IsEmpty() {
				t.Errorf("there came %+v", event)
			}
		}
	})
}

func TestWatchShowsAReload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newTestApp(t, 2)
		w := watch(t, a)
		defer w.end(t)
		w.take()
		if err := a.Reload(idleServers(1), ""); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		got := w.take()
		if len(got) == 0 || got[0].State == nil || len(got[0].Servers) != 1 || got[0].Clients == nil {
			t.Fatalf("there came %+v", got)
		}
	})
}

func TestWatchPassesOnCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newTestApp(t, 1)
		a.ended(5) // nobody watched
		w := watch(t, a)
		defer w.end(t)
		w.take()
		a.ended(3)
		time.Sleep(time.Second)
		a.ended(maxNewCalls + 7)
		time.Sleep(time.Second)
		var batches []control.CallBatch
		for _, event := range w.take() {
			if event.Calls != nil {
				batches = append(batches, *event.Calls)
			}
		}
		if len(batches) != 2 || len(batches[0].Calls) != 3 || batches[0].Calls[0].Seq != 6 || batches[0].Skipped != 0 {
			t.Fatalf("the batches are %+v", batches)
		}
		if last := batches[1]; len(last.Calls) != maxNewCalls || last.Skipped != 7 || last.Calls[0].Seq != 16 {
			t.Errorf("the last batch has %d calls after %d", len(last.Calls), last.Skipped)
		}
	})
}

// Batches of calls are at least 50 ms apart, so that a watcher gets at most 20 in a second.
func TestWatchBatchesCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newTestApp(t, 1)
		w := watch(t, a)
		defer w.end(t)
		w.take()
		for range 1000 {
			a.ended(1)
			time.Sleep(time.Millisecond)
		}
		batches, calls := 0, 0
		for _, event := range w.take() {
			if event.Calls != nil {
				batches++
				calls += len(event.Calls.Calls)
			}
		}
		if batches > 20 || calls < 940 {
			t.Errorf("%d calls came in %d batches", calls, batches)
		}
	})
}

// A watcher that does not read misses calls, and learns how many.
func TestSlowWatcherIsToldWhatItMissed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newTestApp(t, 1)
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		reads, batches := make(chan struct{}), make(chan control.CallBatch, 100)
		ended := make(chan error, 1)
		go func() {
			ended <- Inspector{App: a}.Watch(ctx, func(event *control.Event) error {
				if event.Calls != nil {
					batches <- *event.Calls
					<-reads
				}
				return nil
			})
		}()
		synctest.Wait()
		a.ended(1)
		time.Sleep(time.Second)
		a.ended(10_000) // does not wait, though nobody reads
		close(reads)
		time.Sleep(time.Second)
		stop()
		<-ended
		close(batches)
		var seen, skipped uint64
		for batch := range batches {
			seen += uint64(len(batch.Calls))
			skipped += batch.Skipped
		}
		if seen+skipped != 10_001 || skipped == 0 {
			t.Errorf("%d calls were seen, %d skipped", seen, skipped)
		}
	})
}

// While nobody watches, a call costs what it did, and nothing runs.
func TestNobodyWatchingCostsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newTestApp(t, 1)
		a.ended(5000) // the ring is full
		before := testing.AllocsPerRun(1000, func() { a.ended(1) })
		w := watch(t, a)
		w.take()
		w.end(t)
		if after := testing.AllocsPerRun(1000, func() { a.ended(1) }); after > before {
			t.Errorf("a call allocates %v times, before it was watched %v times", after, before)
		}
	})
}
