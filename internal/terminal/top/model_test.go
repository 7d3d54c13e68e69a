package top

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/mattn/go-runewidth"

	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/history"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/meter"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
)

var activity = []meter.Server{{Toolbox: "dev", Server: "s0000", Requests: []meter.Requests{
	{Method: "tools/call", Tool: "search", Counts: meter.Counts{Calls: 4, Errors: 1, P50: 0.0012, P95: 0.25, TotalCalls: 40}},
	{Method: "resources/read", Counts: meter.Counts{Calls: 1, TotalCalls: 2}},
}}}

func TestKeysThatDoNotEnd(t *testing.T) {
	r := newRig(t, 80, 24)
	r.start(1, control.Event{Servers: servers(5)})
	for range panes {
		r.press("up", "down", "left", "right", "pgup", "pgdown", "home", "end", "esc", "esc", "tab")
	}
	if r.quit || r.current != serversPane {
		t.Errorf("ended: %v, in pane %d", r.quit, r.current)
	}
	for _, key := range []string{"q", "ctrl+c"} {
		r.quit = false
		r.press(key)
		if !r.quit {
			t.Errorf("%s did not end it", key)
		}
	}
	r.quit = false
	r.press("/", "x")
	r.take(tea.KeyPressMsg{Code: '4', Mod: tea.ModAlt}) // Esc and 4, fast
	if r.current != clientsPane || r.tables[serversPane].filter != "" {
		t.Errorf("pane %d, filter %q", r.current, r.tables[serversPane].filter)
	}
	r.press("/", "q", "esc")
	if r.quit {
		t.Error("a letter of a filter ended it")
	}
	if _, command := r.Update(named["ctrl+z"]); command == nil || fmt.Sprintf("%T", command()) != "tea.SuspendMsg" {
		t.Error("Ctrl-Z does not suspend it")
	}
}

func TestManyServers(t *testing.T) {
	r := newRig(t, 100, 24)
	r.start(1, control.Event{Servers: servers(1000)})
	r.see("[1 servers 1000]", "> dev/s0000", "dev/s0001")
	r.press("pgdown")
	r.see("> dev/s0019")
	r.press("end")
	r.see("dev/s0998", "> dev/s0999")
	r.press("k", "up")
	r.see("> dev/s0997")
	r.press("home")
	r.see("> dev/s0000")
	for i := range 999 { // the cursor is always to be seen
		r.press("down")
		r.see(fmt.Sprintf("> dev/s%04d", i+1))
	}
	drawn := 0
	columns := []column{{title: "X", cell: func(item) tty.Cell { drawn++; return tty.Cell{} }}}
	r.tables[serversPane].draw(columns, 80, 20, r.paint)
	if drawn != 19 {
		t.Errorf("%d rows were drawn to show 19", drawn)
	}
}

func TestSelectionStaysWithItsRow(t *testing.T) {
	r := newRig(t, 120, 24)
	r.start(1, control.Event{Servers: servers(5)})
	r.press("down", "down", "s", "S") // by name, backwards
	r.see("dev/s0004", "dev/s0003", "> dev/s0002", "dev/s0001")
	r.tell(eventMsg{1, control.Event{Removed: []string{"dev/s0004"}, Servers: []control.Server{{Key: "dev/zz", State: "ready"}}}})
	r.see("dev/zz", "dev/s0003", "> dev/s0002")
	r.tell(eventMsg{1, control.Event{Removed: []string{"dev/s0002"}}})
	r.see("dev/s0003", "> dev/s0001")
	r.press("end", "home")
	r.tell(eventMsg{1, control.Event{Servers: []control.Server{{Key: "dev/zzz"}}}})
	r.see("> dev/zzz") // whoever is at the first row stays there
}

func TestSortingKeepsTheRow(t *testing.T) {
	for _, pane := range []string{"1", "2", "3", "4", "5"} {
		for _, moves := range [][]string{{"home"}, {"down", "home"}, {"down"}} {
			r := newRig(t, 140, 24)
			r.start(1, control.Event{
				Servers: servers(3),
				Running: &control.RunningCalls{Calls: []control.RunningCall{{ID: "1", Toolbox: "dev", Server: "s0000", Tool: "b"}, {ID: "2", Toolbox: "dev", Server: "s0000", Tool: "a"}}},
				Clients: &[]control.ConnectedClient{{ID: "1", Name: "b"}, {ID: "2", Name: "a"}},
				Questions: &[]control.Question{
					{ID: "1", Tool: "dev/s0000/b", Deadline: r.at.Add(time.Hour)}, {ID: "2", Tool: "dev/s0000/a", Deadline: r.at.Add(time.Hour)},
				},
			})
			r.press(pane)
			r.settle()
			r.press(moves...)
			selected, _ := r.table().selected()
			for i, key := range strings.Split("sSsSSssss", "") {
				r.press(key)
				if now, _ := r.table().selected(); now.id != selected.id || now.id == "" {
					t.Fatalf("pane %s, %q, key %d: %q was selected, now it is %q\n%s", pane, moves, i+1, selected.id, now.id, r.shows())
				}
			}
		}
	}
	r := newRig(t, 80, 24)
	r.start(1, control.Event{Servers: servers(100)})
	r.press("S")
	r.see("dev/s0001", "> dev/s0000") // which is the last one now, and can be seen
}

func TestCountersAndSorting(t *testing.T) {
	r := newRig(t, 140, 24)
	r.start(1, control.Event{Servers: servers(3)})
	r.tell(eventMsg{1, control.Event{Counters: &control.Counters{Memory: 50e6, Servers: []control.ServerCounters{
		{Key: "dev/s0002", Memory: 10e6, Counts: meter.Counts{Calls: 77, Errors: 5, P95: 0.1}}, {Key: "dev/none"},
	}}}})
	r.see("pid 1", "50 MB", "dev/s0002", "100ms", "77", "5", "10 MB")
	r.press("s", "s", "s", "s", "s")
	r.see("CALLS↓", "dev/s0002", "dev/s0000")
	r.press("S")
	r.see("CALLS↑", "dev/s0001", "dev/s0002")
	r.at = r.at.Add(30 * time.Second)
	r.tell(clockMsg{})
	r.see("1m30s") // times pass by themselves
}

func TestFilter(t *testing.T) {
	r := newRig(t, 80, 24)
	r.start(1, control.Event{Servers: servers(100)})
	r.press("/", "S009", "7")
	r.see("> dev/s0097", "filter: S0097")
	r.dontSee("dev/s0098")
	r.press("backspace", "down", "enter")
	r.see("dev/s0090", "> dev/s0091", "filter: S009")
	r.press("/", "x", "enter")
	r.see("nothing fits the filter")
	r.press("enter", "r", "l", "down", "end") // nothing is selected
	r.press("esc", "esc")
	r.see("dev/s0000")
	r.press("/")
	r.tell(tea.PasteMsg{Content: "s0042\nx\x1b[2J"})
	r.see("filter: s0042 x")
}

func TestCalls(t *testing.T) {
	r := newRig(t, 120, 24)
	r.start(1, control.Event{Servers: servers(2)})
	r.tell(eventMsg{1, control.Event{
		Calls: &control.CallBatch{Calls: []history.Record{
			{Seq: 1, Time: r.at, Toolbox: "dev", Server: "s0000", Method: "tools/call", Tool: "old", Outcome: "ok", Took: 1, InStart: 0.5, AtServer: 0.5},
			{Seq: 2, Time: r.at, Toolbox: "dev", Server: "s0000", Method: "tools/call", Tool: "new", Outcome: "tool_error", Took: 0.01, InWorkbench: 0.002, AtServer: 0.008, Client: "claude", Arguments: "path: string 12 B"},
		}},
		Running: &control.RunningCalls{Calls: []control.RunningCall{{ID: "r1", Since: r.at.Add(-5 * time.Second), Toolbox: "dev", Server: "s0001", Method: "tools/call", Tool: "slow", Phase: "server"}}},
	}})
	r.press("2")
	r.see("[2 calls 1]", "> dev/s0001/slow", "running", "5.0s", "█…", "dev/s0000/new", "tool_error", "10ms", "░░████████", "claude", "dev/s0000/old", "ok", "▒▒▒▒▒█████")
	r.press("x")
	r.see("same as: mcp-workbench cancel r1", "Cancel dev/s0001/slow? y/n")
	r.press("y")
	if asked := r.asked(); asked != "cancel r1" {
		t.Errorf("asked %s", asked)
	}
	r.see("dev/s0001/slow was cancelled")
	r.press("down", "x")
	r.see("Select a running call")
	r.press("enter")
	r.see("dev/s0000/new", "client", "claude", "arguments", "path: string 12 B")
	r.press("esc", "l")
	r.see("[6 logs]", "dev/s0000")
	for range 30 {
		batch := make([]history.Record, 200)
		r.tell(eventMsg{1, control.Event{Calls: &control.CallBatch{Calls: batch, Skipped: 3}}})
	}
	if n := len(r.live.calls); n > maxCalls+maxCalls/10 || r.live.skipped != 90 {
		t.Errorf("%d calls are kept, %d skipped", n, r.live.skipped)
	}
}

func TestToolsAndClients(t *testing.T) {
	r := newRig(t, 100, 24)
	r.start(1, control.Event{Servers: servers(1), Clients: &[]control.ConnectedClient{{ID: "c", Name: "Claude\x1b[2J Code", Version: "2", Since: r.at.Add(-time.Minute), Folder: "/there", Opened: []string{"dev"}}}})
	r.press("3")
	r.settle()
	r.see("LAST 5 MINUTES", "P50", "P95", "CALLS", "ERRORS", "SINCE START", "dev/s0000/search", "1.2ms", "250ms", "4", "1", "40", "dev/s0000: resources/read")
	r.press("enter")
	r.see("since start", "40 calls")
	r.press("esc", "4")
	r.see("Claude Code 2", "1m00s", "/there")
	r.press("enter")
	r.see("opened", "dev")
	r = newRig(t, 100, 24)
	r.current = serversPane
	if m := newModel(r.screen, Options{Tools: true}); m.current != toolsPane {
		t.Error("--tools does not begin with the tools")
	}
}

func TestRestart(t *testing.T) {
	r := newRig(t, 80, 24)
	r.start(1, control.Event{Servers: servers(3)})
	r.press("down", "r")
	r.see("same as: mcp-workbench restart dev/s0001", "Restart dev/s0001? y/n")
	r.press("down", "enter", "j", "x", "n")
	r.see("Nothing was done")
	if asked := r.asked(); asked != "" {
		t.Errorf("without a yes: %s", asked)
	}
	r.press("r", "y")
	if asked := r.asked(); asked != "restart dev/s0001" {
		t.Errorf("asked %s", asked)
	}
	r.see("dev/s0001 was restarted")
	r.live.benches[0].Restart = func(context.Context, control.Server) error { return errors.New("no\x1b[2J such thing") }
	r.press("r", "y")
	r.settle()
	r.see("Restart dev/s0001: no such thing")
	r.start(2, control.Event{Servers: servers(1)})
	r.press("r")
	r.see("restart dev/s0001 --pid 1")
}

func TestDetailsOfAServer(t *testing.T) {
	r := newRig(t, 80, 30)
	broken := servers(1)
	broken[0].LastError, broken[0].Failures, broken[0].NextTry = strings.Repeat("a long error ", 40), 3, 20
	r.start(1, control.Event{Servers: broken})
	r.see("✗1", "✗  dev/s0000: failed 3 times, next try in 20s: a long error", "…")
	r.press("enter")
	r.settle()
	r.see("last error", "failed 3 times", "software", "soft 1", "start", "✗ initialize, 1.5s: no answer", "processes", "7 npx", "  8 node", "mcp-workbench restart dev/s0000")
	if strings.Count(r.shows(), "a long") < 39 {
		t.Errorf("the error is cut:\n%s", r.shows())
	}
	r.tell(eventMsg{1, control.Event{Removed: []string{"dev/s0000"}}}) // as it was
	r.see("last error")
	r.press("l")
	r.see("[6 logs]", "dev/s0000")
}

func TestPause(t *testing.T) {
	r := newRig(t, 80, 24)
	r.start(1, control.Event{Servers: servers(2)})
	r.press("p")
	r.see("paused")
	r.tell(eventMsg{1, control.Event{Removed: []string{"dev/s0000"}, Questions: &[]control.Question{{ID: "q"}}}}, clockMsg{})
	r.see("dev/s0000")
	r.see("5 questions 1") // they have a deadline
	r.press("p")
	r.dontSee("paused", "dev/s0000")
}

func TestSeveralWorkbenches(t *testing.T) {
	r := newRig(t, 120, 24)
	r.tell(nobodyMsg{"No workbench of yours is running"})
	r.see("No workbench of yours is running")
	r.start(1, control.Event{Servers: servers(1)})
	r.dontSee("No workbench", "WORKBENCH")
	r.start(2, control.Event{Servers: servers(2)})
	r.see("[1 servers 3]", "pid 1", "pid 2", "WORKBENCH")
	old := r.workbench(3)
	old.Status.Version = "0.9"
	r.tell(foundMsg{old}, statusMsg{3, control.Workbench{PID: 3, Version: "0.9", Servers: servers(1), Started: r.at}, []control.Question{{ID: "q"}}, "an older version"})
	r.see("pid 3", "polled: an older version", "! pid 3 is of another version than this program, which is 1.0")
	r.tell(goneMsg{3}, goneMsg{1}, goneMsg{7})
	r.see("[1 servers 2]", "pid 2")
	r.dontSee("pid 1", "WORKBENCH")
}

// What changes by itself is drawn no more often than the interval, and keys at once.
func TestInterval(t *testing.T) {
	r := newRig(t, 80, 24)
	r.options.Every = time.Second
	r.start(1, control.Event{Servers: servers(2)})
	r.tell(redrawMsg{})
	r.tell(eventMsg{1, control.Event{Removed: []string{"dev/s0001"}}})
	r.see("dev/s0001")
	r.tell(redrawMsg{})
	r.dontSee("dev/s0001")
	r.tell(eventMsg{1, control.Event{Servers: servers(3)}})
	r.dontSee("dev/s0002")
	r.press("down")
	r.see("dev/s0002")
}

// Whatever is shown, no line is wider than the screen, and no text of others moves the cursor.
func TestEverythingFits(t *testing.T) {
	const hostile = "\x1b[2J\x1b]0;t\x07\u202e\r\n\u200b日本語👩‍👩‍👧"
	r := newRig(t, 80, 24)
	all := servers(30)
	for i := range all {
		all[i].Key, all[i].Toolbox, all[i].Name = hostile+all[i].Key, hostile, all[i].Name+hostile
		all[i].State, all[i].LastError, all[i].Failures = hostile, strings.Repeat(hostile, 100), 2
	}
	calls := []history.Record{{Seq: 1, Toolbox: hostile, Server: hostile, Tool: hostile, Client: hostile, Outcome: hostile, Took: 1, AtServer: 1, Arguments: hostile}}
	running := &control.RunningCalls{Calls: []control.RunningCall{{ID: hostile, Toolbox: hostile, Server: hostile, Tool: hostile, Client: hostile, Phase: hostile}}}
	r.start(1, control.Event{
		Servers: all, Calls: &control.CallBatch{Calls: calls}, Running: running,
		Clients:   &[]control.ConnectedClient{{Name: hostile, Version: strings.Repeat("v", 500), Folder: hostile, Token: hostile}},
		Questions: &[]control.Question{{ID: hostile, Tool: hostile, Caller: hostile, Because: hostile, Arguments: strings.Repeat(hostile+"\n", 50), Deadline: r.at.Add(time.Hour)}},
	})
	r.live.benches[0].Status.Problem, r.live.benches[0].Status.Config = hostile, hostile
	r.live.benches[0].Logs = func(_ context.Context, _ control.Server, _ int, _ bool, handle func(control.Line)) error {
		handle(control.Line{Text: strings.Repeat(hostile, 1000)})
		return errors.New(hostile)
	}
	scenes := [][]string{{"1"}, {"2"}, {"3"}, {"4"}, {"5"}, {"1", "l"}, {"right"}, {"left", "1", "enter"}, {"esc", "2", "enter"}, {"esc", "4", "enter"}, {"esc", "?"}, {"esc", "1", "r"}, {"n"}, {"2", "x"}, {"n", "5", "enter"}, {"once", "enter"}, {"esc", "/"}, {"esc"}}
	for _, keys := range scenes {
		r.press(keys...)
		r.settle()
		for _, width := range []int{1, 2, 7, 20, 39, 40, 80, 140, 300} {
			for _, height := range []int{1, 2, 3, 5, 10, 24} {
				r.tell(tea.WindowSizeMsg{Width: width, Height: height})
				if len(r.drawn) != height {
					t.Fatalf("%v, %dx%d: %d lines", keys, width, height, len(r.drawn))
				}
				for _, line := range r.drawn {
					if runewidth.StringWidth(line) > width && width > 1 || strings.ContainsAny(line, "\x1b\x07\r\n\t\u202e\u200b") {
						t.Fatalf("%v, %dx%d: %q", keys, width, height, line)
					}
				}
			}
		}
	}
	r.tell(tea.WindowSizeMsg{Width: 40, Height: 10})
	r.press("1")
	r.see("[1 servers 30", "pid 1", "SERVER", "> ", "q quit")
}

func TestAPanicElsewhereHappensHere(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("the terminal would not be restored")
		}
	}()
	newRig(t, 80, 24).tell(panicMsg{"x"})
}
