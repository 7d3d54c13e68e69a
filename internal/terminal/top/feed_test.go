package top

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
)

func TestFeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var told []string
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		watched := func(ctx context.Context, handle func(control.Event) error) error {
			_ = handle(control.Event{})
			mu.Lock()
			end := ended
			mu.Unlock()
			select {
			case <-end:
			case <-ctx.Done():
			}
			return errors.New("broken off")
		}
		polls := 0
		running := []Workbench{
			{Status: control.Workbench{PID: 1}, Watch: watched},
			{Status: control.Workbench{PID: 2}, Watch: func(context.Context, func(control.Event) error) error { return errors.New("unknown") }, Refresh: func(context.Context) (control.Workbench, error) {
				if polls++; polls > 2 {
					return control.Workbench{}, errors.New("gone")
				}
				return control.Workbench{PID: 2}, nil
			}, Waiting: func(context.Context) ([]control.Question, error) { return nil, nil }},
		}
		f := &feed{watched: make(map[int]bool), find: func(context.Context) ([]Workbench, error) {
			mu.Lock()
			defer mu.Unlock()
			if len(running) == 0 {
				return nil, &toolbox.Error{Code: toolbox.NotRunning, Message: "nothing runs"}
			}
			return running, nil
		}, send: func(message tea.Msg) {
			mu.Lock()
			defer mu.Unlock()
			switch message := message.(type) {
			case foundMsg:
				told = append(told, fmt.Sprintf("found %d", message.Status.PID))
			case goneMsg:
				told = append(told, fmt.Sprintf("gone %d", message.pid))
			case eventMsg:
				told = append(told, fmt.Sprintf("event %d", message.pid))
			case statusMsg:
				told = append(told, fmt.Sprintf("status %d", message.pid))
			case nobodyMsg:
				told = append(told, message.why)
			}
		}}
		step := func(wait time.Duration, want string) {
			t.Helper()
			time.Sleep(wait) // in the bubble
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			have := make(map[string]int)
			for _, one := range told {
				have[one]++
			}
			for _, one := range strings.Split(want, ",") {
				if have[one]--; have[one] < 0 {
					t.Errorf("not told %s: %v", one, told)
				}
			}
			if len(told) != len(strings.Split(want, ",")) {
				t.Errorf("told %v, want %s", told, want)
			}
			told = nil
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			f.run(ctx)
		}()
		step(0, "found 1,event 1,found 2,status 2")
		step(pollTime, "status 2")
		set := func(now []Workbench) {
			mu.Lock()
			defer mu.Unlock()
			running = now
		}
		set(running[:1])
		step(pollTime, "gone 2") // and 1 is not watched twice
		set(nil)
		close(ended)
		step(findTime, "gone 1,nothing runs")
		mu.Lock()
		ended = make(chan struct{})
		mu.Unlock()
		set([]Workbench{{Status: control.Workbench{PID: 3}, Watch: watched}})
		step(findTime, "found 3,event 3") // that started meanwhile
		cancel()
		<-done
	})
}

func TestFeedTellsOfPanics(t *testing.T) {
	told := make(chan tea.Msg, 10)
	f := &feed{watched: make(map[int]bool), send: func(message tea.Msg) { told <- message }, find: func(context.Context) ([]Workbench, error) { panic("x") }}
	f.run(t.Context())
	if _, ok := (<-told).(panicMsg); !ok {
		t.Error("the terminal would not be restored")
	}
}
