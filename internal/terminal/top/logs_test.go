package top

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
)

func TestLogs(t *testing.T) {
	r := newRig(t, 100, 12)
	r.press("6")
	r.see("No log is open")
	r.press("1")
	r.start(1, control.Event{Servers: servers(3)})
	r.press("down", "l")
	r.settle()
	r.see("[6 logs]", "dev/s0001", "The log ended", "mcp-workbench logs dev/s0001 -f", "s0001 line 42", "s0001 line 49")
	r.press("up", "up")
	r.see("s0001 line 47")
	r.dontSee("line 48")
	number := r.log.number
	r.log.ended = ""
	r.tell(logMsg{number: number, line: control.Line{Text: "late\x1b[2J\ttab"}})
	r.see("3 lines below, End follows")
	r.dontSee("late") // who scrolled back stays there
	r.press("end")
	r.see("follows", "late    tab")
	r.press("right")
	r.dontSee("late")
	r.press("left", "home")
	r.see("s0001 line 0")
	r.press("/", "line 3", "enter")
	r.see("s0001 line 3", "s0001 line 30")
	r.dontSee("line 4")
	r.press("esc", "end", "1", "home", "l")
	r.settle()
	r.tell(logMsg{number: number, line: control.Line{Text: "of the one before"}})
	r.see("dev/s0000", "s0000 line 49")
	r.dontSee("of the one before")
	r.press("L")
	r.settle()
	r.see("workbench 1", "mcp-workbench logs -f")
}

func TestLogIsLimited(t *testing.T) {
	l := &logView{}
	for i := range 3 * maxLogLines {
		l.add(logMsg{line: control.Line{Text: fmt.Sprint(i, strings.Repeat("x", 2*maxLogText))}})
	}
	if n := len(l.lines); n > maxLogLines+maxLogLines/10 || n < maxLogLines || len(l.lines[0].Text) > maxLogText {
		t.Errorf("%d lines of %d bytes", n, len(l.lines[0].Text))
	}
}

// The log of another server takes the place of the one before, which is not followed any more.
func TestOneLogIsFollowed(t *testing.T) {
	r := newRig(t, 80, 12)
	r.start(1, control.Event{Servers: servers(2)})
	following := make(chan string, 10)
	r.live.benches[0].Logs = func(ctx context.Context, server control.Server, _ int, _ bool, _ func(control.Line)) error {
		following <- "begin " + server.Name
		<-ctx.Done()
		following <- "end " + server.Name
		return ctx.Err()
	}
	r.press("l")
	if got := <-following; got != "begin s0000" {
		t.Error(got)
	}
	r.press("1", "down", "l")
	got := []string{<-following, <-following}
	if !strings.Contains(strings.Join(got, ","), "end s0000") {
		t.Errorf("%v", got)
	}
}
