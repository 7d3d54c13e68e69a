package top

import (
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
)

// confirmation is something that is done once the person said yes.
type confirmation struct {
	question string
	command  string // that does the same
	do       func()
}

// command returns a command that a person may copy, for a workbench.
func (m *model) command(b *bench, words string) string {
	text := "mcp-workbench " + words
	if len(m.live.benches) > 1 {
		text += fmt.Sprintf(" --pid %d", b.pid())
	}
	return text
}

// quote writes a word for a shell, if it needs that.
func quote(word string) string {
	word = tty.CleanLine(word)
	isPlain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./:@", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !isPlain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// target returns the workbench and the server that the selected row is about.
func (m *model) target() (*bench, control.Server, bool) {
	one, ok := m.table().selected()
	if !ok || m.current != serversPane {
		return nil, control.Server{}, false
	}
	b := m.live.find(one.bench.pid())
	return b, serverOf(one).Server, b != nil
}

func (m *model) askRestart() {
	b, server, ok := m.target()
	if !ok {
		m.note = "Select a server in pane 1 to restart it"
		return
	}
	name := tty.CleanLine(server.Ref())
	m.ask(&confirmation{fmt.Sprintf("Restart %s?", name), m.command(b, "restart "+quote(server.Ref())), func() {
		m.do("Restart "+name, func(ctx context.Context) (string, error) {
			return name + " was restarted", b.Restart(ctx, server)
		})
	}})
}

func (m *model) askCancel() {
	one, ok := m.table().selected()
	call, isRunning := one.of.(control.RunningCall)
	if !ok || !isRunning {
		m.note = "Select a running call in pane 2 to cancel it"
		return
	}
	b := m.live.find(one.bench.pid())
	if b == nil {
		return
	}
	name := tty.CleanLine(callName(one))
	m.ask(&confirmation{fmt.Sprintf("Cancel %s?", name), m.command(b, "cancel "+quote(call.ID)), func() {
		m.do("Cancel "+name, func(ctx context.Context) (string, error) {
			return name + " was cancelled", b.Cancel(ctx, call.ID)
		})
	}})
}

func (m *model) ask(about *confirmation) { m.mode, m.confirm = confirming, about }

// decide does what is asked about with y, and nothing with any other key that is typed by mistake.
func (m *model) decide(pressed tea.KeyPressMsg) {
	switch pressed.String() {
	case "y", "Y":
		about := m.confirm
		m.mode, m.confirm = moving, nil
		about.do()
	case "n", "N", "esc", "q":
		m.mode, m.confirm, m.note = moving, nil, "Nothing was done"
	}
}
