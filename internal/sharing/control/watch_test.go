//go:build unix

package control

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/history"
)

func (s *subject) Watch(ctx context.Context, send func(*Event) error) error {
	return s.watch(ctx, send)
}

func (s *subject) Running() RunningCalls {
	return RunningCalls{Calls: []RunningCall{{ID: "k3f9q", Toolbox: "dev box", Server: "s/1", Method: "tools/call", Tool: "x"}}}
}

func (s *subject) Server(key string) (ServerDetail, error) {
	return ServerDetail{Server: Server{Key: key}, Command: "npx", Steps: []Step{{Name: "start", State: "done"}}}, nil
}

func (s *subject) Cancel(id string) error {
	if id == "k3f9q" {
		return nil
	}
	return NotInFlight(id)
}

func TestCancel(t *testing.T) {
	_, client, _ := serve(t)
	if running, err := client.Running(t.Context()); err != nil || len(running.Calls) != 1 || client.Cancel(t.Context(), running.Calls[0].ID) != nil {
		t.Errorf("%+v runs, or cannot be cancelled: %v", running, err)
	}
	if known, ok := errors.AsType[*toolbox.Error](client.Cancel(t.Context(), "other")); !ok || known.Code != toolbox.CallNotRunning {
		t.Errorf("another one: %v", known)
	}
	if detail, err := client.Server(t.Context(), "dev box/s#2"); err != nil || detail.Key != "dev box/s#2" || detail.Command != "npx" || len(detail.Steps) != 1 {
		t.Errorf("the server is %+v, %v", detail, err)
	}
}

var errEnough = errors.New("enough")

func TestWatch(t *testing.T) {
	s, client, _ := serve(t)
	ended := make(chan error, 1)
	s.watch = func(ctx context.Context, send func(*Event) error) error {
		changes := 3
		for _, event := range []Event{
			{State: &Workbench{PID: 7}, Servers: []Server{{Key: "dev/s"}}, Questions: &[]Question{}, Changes: &changes},
			{},
			{Calls: &CallBatch{Calls: []history.Record{{Seq: 5}}, Skipped: 4}},
		} {
			if err := send(&event); err != nil {
				return err
			}
		}
		<-ctx.Done()
		ended <- ctx.Err()
		return ctx.Err()
	}
	var got []Event
	err := client.Watch(t.Context(), func(event Event) error {
		if got = append(got, event); len(got) == 3 {
			return errEnough
		}
		return nil
	})
	if !errors.Is(err, errEnough) || len(got) != 3 {
		t.Fatalf("got %+v, %v", got, err)
	}
	first := got[0]
	if first.State.PID != 7 || first.Servers[0].Key != "dev/s" || len(*first.Questions) != 0 || *first.Changes != 3 || first.Clients != nil {
		t.Errorf("the first event is %+v", first)
	}
	if !got[1].IsEmpty() || got[2].Calls.Skipped != 4 || got[2].Calls.Calls[0].Seq != 5 {
		t.Errorf("then come %+v", got[1:])
	}
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the watch ended with %v", err)
	}
}

func TestEmptyEventIsAnEmptyLine(t *testing.T) {
	if line, err := json.Marshal(Event{}); err != nil || string(line) != "{}" {
		t.Errorf("it is %s, %v", line, err)
	}
}

// Watchers leave room for commands.
func TestTooManyWatchers(t *testing.T) {
	s, client, _ := serve(t)
	s.watch = func(ctx context.Context, send func(*Event) error) error {
		if err := send(&Event{}); err != nil {
			return err
		}
		<-ctx.Done()
		return ctx.Err()
	}
	var bodies []io.Closer
	for range maxWatches {
		body, err := client.send(t.Context(), http.MethodGet, watchPath, nil)
		if err != nil {
			t.Fatal(err)
		}
		bodies = append(bodies, body)
	}
	err := client.Watch(t.Context(), func(Event) error { return nil })
	if known, ok := errors.AsType[*toolbox.Error](err); !ok || known.Code != toolbox.TooManyWatching {
		t.Errorf("one more: %v", err)
	}
	if _, err := client.Running(t.Context()); err != nil {
		t.Errorf("a command finds no room: %v", err)
	}
	for _, body := range bodies {
		body.Close()
	}
}

// A watcher that does not read gets events later, and the workbench is told by nobody to wait for it: only its own
// goroutine does.
func TestWatcherWhoDoesNotRead(t *testing.T) {
	s, client, _ := serve(t)
	var sent atomic.Int64
	begun := make(chan struct{})
	s.watch = func(_ context.Context, send func(*Event) error) error {
		close(begun)
		large := Event{Removed: []string{strings.Repeat("x", 1<<20)}}
		for {
			if err := send(&large); err != nil {
				return err
			}
			sent.Add(1)
		}
	}
	body, err := client.send(t.Context(), http.MethodGet, watchPath, nil)
	if err != nil {
		t.Fatal(err)
	}
	<-begun
	if _, err := client.Refresh(t.Context()); err != nil {
		t.Errorf("meanwhile: %v", err)
	}
	body.Close()
	if n := sent.Load(); n > 8 {
		t.Errorf("%d MB were sent to nobody", n)
	}
}

// A page that watches is known as one that answers; a command that just watches is not.
func TestWatchOfThePage(t *testing.T) {
	for _, test := range []struct {
		query url.Values
		want  int
	}{{nil, 0}, {url.Values{viaParameter: {"page"}}, 1}} {
		s, client, _ := serve(t)
		s.watch = func(ctx context.Context, send func(*Event) error) error {
			if err := send(&Event{}); err != nil {
				return err
			}
			<-ctx.Done()
			return ctx.Err()
		}
		body, err := client.send(t.Context(), http.MethodGet, watchPath, test.query)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := bufio.NewReader(body).ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		s.mu.Lock()
		if s.watchers != test.want {
			t.Errorf("%v: %d watchers", test.query, s.watchers)
		}
		s.mu.Unlock()
		_ = body.Close()
	}
}
