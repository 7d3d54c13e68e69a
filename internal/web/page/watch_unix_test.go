//go:build unix

package page

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
)

const firstEvent = `{"state": {"pid": 7}, "servers": [{"key": "dev/git", "state": "ready"}, {"key": "dev/web"}], "questions": [], "changes": 2}`

func hasKeys(event *control.Event, keys ...string) bool {
	var got []string
	if event != nil {
		for _, one := range event.Servers {
			got = append(got, one.Key)
		}
	}
	return slices.Equal(got, keys)
}

// One watch of a workbench serves all tabs, a later tab gets all that is known, and with the last tab the watch ends.
func TestTabsShareAWatch(t *testing.T) {
	dir := runtime(t)
	b := startBench(t, dir, 7, false)
	s := startSite(t, dir)
	if b.watches.Load() != 0 {
		t.Fatal("it is watched, and nobody looks")
	}
	first := s.watch(t)
	b.events <- firstEvent
	l := first.until(func(l line) bool { return l.Event != nil })
	if l.PID != 7 || !l.Full || !hasKeys(l.Event, "dev/git", "dev/web") {
		t.Fatalf("the first event is %+v", l)
	}
	b.events <- `{}`
	b.events <- `{"servers": [{"key": "dev/new"}], "removed": ["dev/git"], "changes": 3}`
	if l = first.next(); l.Full || !hasKeys(l.Event, "dev/new") {
		t.Fatalf("the next event is %+v", l)
	}
	second := s.watch(t)
	if l = second.next(); l.PIDs == nil || !slices.Equal(*l.PIDs, []int{7}) {
		t.Fatalf("a later tab begins with %+v", l)
	}
	if l = second.next(); !l.Full || l.Event.State == nil || !hasKeys(l.Event, "dev/web", "dev/new") || *l.Event.Changes != 3 || l.Event.Questions == nil {
		t.Fatalf("a later tab gets %+v", l)
	}
	if got := b.watches.Load(); got != 1 {
		t.Errorf("it is watched %d times", got)
	}
	_ = first.response.Body.Close()
	b.events <- `{"changes": 4}`
	if l = second.next(); *l.Event.Changes != 4 {
		t.Errorf("without the first tab, the second gets %+v", l)
	}
	_ = second.response.Body.Close()
	<-b.left
}

func TestWorkbenchesComeAndGo(t *testing.T) {
	dir := runtime(t)
	s := startSite(t, dir)
	w := s.watch(t)
	if l := w.next(); l.PIDs == nil || len(*l.PIDs) != 0 {
		t.Fatalf("it begins with %+v", l)
	}
	b := startBench(t, dir, 7, false)
	b.events <- firstEvent
	if l := w.next(); l.PID != 7 || !l.Full {
		t.Errorf("a new workbench is %+v", l)
	}
	b.stop()
	if l := w.next(); l.PID != 7 || !l.Gone {
		t.Errorf("one that ended is %+v", l)
	}
	if code, text := s.text(t, http.MethodGet, "/ui/api/w/7/tools", ""); code != http.StatusBadGateway && code != http.StatusGone {
		t.Errorf("a request to it: %d %s", code, text)
	}
}

// A workbench of a version that cannot be watched is shown by its state.
func TestOldWorkbenchIsShown(t *testing.T) {
	dir := runtime(t)
	startBench(t, dir, 8, true)
	w := startSite(t, dir).watch(t)
	if l := w.until(func(l line) bool { return l.Event != nil }); l.PID != 8 || l.Event.State.Version != "x" || !hasKeys(l.Event, "dev/git") || len(l.Event.State.Servers) > 0 {
		t.Errorf("it is %+v", l)
	}
}

// A tab that does not read gets the whole state when it reads again. Nothing is kept for it meanwhile.
func TestSlowTab(t *testing.T) {
	h := newHub(&books{find: noWorkbenches}, nil)
	slow, fast := &tab{more: make(chan struct{}, 1)}, &tab{more: make(chan struct{}, 1)}
	h.tabs[slow], h.tabs[fast] = true, true
	h.states[7] = newState()
	read := 0
	for i := range 3 * maxQueued {
		event := &control.Event{Servers: []control.Server{{Key: fmt.Sprint("dev/", i%3)}}}
		if i == 0 {
			event.State = &control.Workbench{PID: 7}
		}
		h.states[7].apply(event)
		h.send(line{PID: 7, Event: event})
		read += len(h.take(fast))
	}
	if len(slow.queue) != 0 || !slow.behind {
		t.Errorf("%d lines wait for the slow tab", len(slow.queue))
	}
	lines := h.take(slow)
	if read != 3*maxQueued || len(lines) != 2 || !strings.Contains(string(lines[1]), `"full":true`) || strings.Count(string(lines[1]), `"key"`) != 3 {
		t.Errorf("the fast tab read %d lines, and the slow one gets %s", read, lines)
	}
	if lines = h.take(slow); len(lines) != 0 {
		t.Errorf("it gets %d lines more", len(lines))
	}
	large := line{PID: 7, Event: &control.Event{Removed: []string{strings.Repeat("x", maxQueuedBytes/2)}}}
	h.send(large)
	h.send(large)
	if slow.size != 0 || !slow.behind {
		t.Errorf("%d bytes wait", slow.size)
	}
}

func TestTabsAreBounded(t *testing.T) {
	s := startSite(t, runtime(t))
	var open []*watching
	for range maxTabs {
		open = append(open, s.watch(t))
	}
	if code, text := s.text(t, http.MethodGet, "/ui/api/watch", ""); code != http.StatusServiceUnavailable || !strings.Contains(text, "Too many tabs") {
		t.Errorf("%d %s", code, text)
	}
	for _, one := range open {
		one.next()
	}
}
