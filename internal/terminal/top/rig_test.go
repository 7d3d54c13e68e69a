package top

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"go.uber.org/goleak"

	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/approval"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is a screen without a terminal, over workbenches that are made up.
type rig struct {
	*testing.T
	*model
	sent chan tea.Msg
	at   time.Time
	done []string // what workbenches were asked to do
	quit bool
}

func newRig(t *testing.T, width, height int) *rig {
	r := &rig{T: t, model: newModel(tty.New(&bytes.Buffer{}, nil, func(string) string { return "" }), Options{Version: "1.0"}), sent: make(chan tea.Msg, 100), at: time.Unix(1_000_000, 0)}
	r.now = func() time.Time { return r.at }
	r.send = func(message tea.Msg) { r.sent <- message }
	var stop context.CancelFunc
	r.ctx, stop = context.WithCancel(t.Context())
	r.isPerson = true
	t.Cleanup(func() {
		stop()
		r.tasks.Wait()
	})
	r.tell(tea.WindowSizeMsg{Width: width, Height: height})
	return r
}

// tell passes on messages as the program would.
func (r *rig) tell(messages ...tea.Msg) {
	for _, message := range messages {
		r.Update(message)
	}
}

// settle waits for what keys have begun, and passes on what came of it.
func (r *rig) settle() {
	r.tasks.Wait()
	for len(r.sent) > 0 {
		r.tell(<-r.sent)
	}
}

var named = map[string]tea.KeyPressMsg{
	"up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown}, "left": {Code: tea.KeyLeft}, "right": {Code: tea.KeyRight},
	"pgup": {Code: tea.KeyPgUp}, "pgdown": {Code: tea.KeyPgDown}, "home": {Code: tea.KeyHome}, "end": {Code: tea.KeyEnd},
	"tab": {Code: tea.KeyTab}, "shift+tab": {Code: tea.KeyTab, Mod: tea.ModShift}, "enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape},
	"backspace": {Code: tea.KeyBackspace}, "ctrl+c": {Code: 'c', Mod: tea.ModCtrl}, "ctrl+z": {Code: 'z', Mod: tea.ModCtrl},
}

// press presses keys by their names, or types a text.
func (r *rig) press(keys ...string) {
	r.Helper()
	for _, one := range keys {
		if key, ok := named[one]; ok {
			r.take(key)
			continue
		}
		for _, letter := range one {
			r.take(tea.KeyPressMsg{Code: letter, Text: string(letter)})
		}
	}
}

func (r *rig) take(key tea.KeyPressMsg) {
	_, command := r.Update(key)
	if command == nil {
		return
	}
	if _, ok := command().(tea.QuitMsg); ok {
		r.quit = true
	}
}

func (r *rig) shows() string { return strings.Join(r.drawn, "\n") }

// see checks that the texts are on the screen, in that order.
func (r *rig) see(texts ...string) {
	r.Helper()
	rest := r.shows()
	for _, text := range texts {
		_, after, ok := strings.Cut(rest, text)
		if !ok {
			r.Errorf("there is no %q in\n%s", text, r.shows())
			return
		}
		rest = after
	}
}

func (r *rig) dontSee(texts ...string) {
	r.Helper()
	for _, text := range texts {
		if strings.Contains(r.shows(), text) {
			r.Errorf("there is %q in\n%s", text, r.shows())
		}
	}
}

// asked returns what workbenches were asked since the last time.
func (r *rig) asked() string {
	r.settle()
	asked := strings.Join(r.done, ",")
	r.done = nil
	return asked
}

// workbench is a workbench that notes what it is asked.
func (r *rig) workbench(pid int) Workbench {
	note := func(format string, values ...any) error {
		r.done = append(r.done, fmt.Sprintf(format, values...))
		return nil
	}
	return Workbench{
		Status:  control.Workbench{PID: pid, Version: "1.0", Serving: "stdio", Config: "/c.json", Started: r.at.Add(-time.Minute + time.Duration(pid))},
		Restart: func(_ context.Context, server control.Server) error { return note("restart %s", server.Ref()) },
		Cancel:  func(_ context.Context, id string) error { return note("cancel %s", id) },
		Answer: func(_ context.Context, id string, answer approval.Answer) error {
			return note("answer %s %s", id, answer)
		},
		Refresh: func(context.Context) (control.Workbench, error) {
			return control.Workbench{PID: pid, ActivityTime: 300, Activity: activity}, nil
		},
		Detail: func(context.Context, string) (control.ServerDetail, error) {
			return control.ServerDetail{
				Software: "soft 1", Steps: []control.Step{{Name: "initialize", State: "failed", Detail: "no answer", Took: 1.5}},
				Processes: []control.Process{{PID: 7, Name: "npx"}, {PID: 8, Parent: 7, Name: "node"}},
			}, nil
		},
		Logs: func(_ context.Context, server control.Server, _ int, _ bool, handle func(control.Line)) error {
			for i := range 50 {
				handle(control.Line{Time: r.at, Text: fmt.Sprintf("%s line %d", server.Name, i)})
			}
			return nil
		},
	}
}

// servers makes so many servers.
func servers(count int) []control.Server {
	all := make([]control.Server, count)
	for i := range all {
		name := fmt.Sprintf("s%04d", i)
		all[i] = control.Server{Key: "dev/" + name, Toolbox: "dev", Name: name, State: "ready", PID: 1000 + i, Uptime: 60, Starts: 1}
	}
	return all
}

// start begins with a workbench and what it tells first.
func (r *rig) start(pid int, event control.Event) {
	w := r.workbench(pid)
	status := w.Status
	event.State = &status
	r.tell(foundMsg{w}, eventMsg{pid, event})
}
