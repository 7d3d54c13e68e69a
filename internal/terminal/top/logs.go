package top

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"

	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
)

const (
	maxLogLines = 5000 // of a log that are kept
	maxLogText  = 4096 // bytes of a line that are kept
	logBefore   = 500  // lines from before it was opened
	logStep     = 20   // columns that an arrow key moves lines by
)

// logView is the log of one server, or of a workbench.
type logView struct {
	pid    int
	server control.Server // without a name: of the workbench itself
	title  string
	stop   context.CancelFunc // nil: none is open
	number int                // of this log, so that lines of the one before are not taken for its own
	lines  []control.Line
	ended  string // why there is no more

	back  int // lines below the ones in front; 0: it is followed
	shift int // columns to the left of the ones in front
	total int // lines that pass the filter
	rows  int
}

// logMsg is a line of a log, or its end.
type logMsg struct {
	number int
	line   control.Line
	ended  string
}

func (l *logView) isEmpty() bool { return l.stop == nil }

// add takes over a line. A person who scrolled back stays where they are.
func (l *logView) add(message logMsg) {
	if message.number != l.number {
		return
	}
	if message.ended != "" {
		l.ended = message.ended
		return
	}
	line := message.line
	line.Text = tty.Clean(line.Text[:min(len(line.Text), maxLogText)])
	line.Text = strings.NewReplacer("\n", " ", "\t", "    ").Replace(line.Text)
	l.lines = append(l.lines, line)
	if over := len(l.lines) - maxLogLines; over > maxLogLines/10 {
		l.lines = slices.Clone(l.lines[over:])
	}
	if l.back > 0 {
		l.back++ // draw corrects what is too much
	}
}

func (l *logView) move(by int) {
	l.back = max(0, min(l.back-by, l.total-l.rows))
}

func (l *logView) shiftBy(right bool) {
	if right {
		l.shift = min(l.shift+logStep, maxLogText)
	} else {
		l.shift = max(l.shift-logStep, 0)
	}
}

// openLog opens the log of the server that is selected.
func (m *model) openLog() {
	if m.current != serversPane && m.current != logsPane && m.current != callsPane {
		return
	}
	from := m.current
	if from == logsPane {
		from = serversPane
	}
	one, ok := m.tables[from].selected()
	if !ok {
		m.note = "Select a server first, and press l there"
		return
	}
	b, toolbox, name := one.bench, "", ""
	switch from {
	case serversPane:
		toolbox, name = serverOf(one).Toolbox, serverOf(one).Name
	default:
		parts := strings.SplitN(callName(one), "/", 3)
		toolbox, name = parts[0], parts[1]
	}
	m.watchLog(b, control.Server{Toolbox: toolbox, Name: name}, toolbox+"/"+name)
}

// openOwnLog opens the log of the workbench whose row is selected, or of the first one.
func (m *model) openOwnLog() {
	if len(m.live.benches) == 0 {
		return
	}
	b := m.live.benches[0]
	if one, ok := m.table().selected(); ok {
		b = one.bench
	}
	m.watchLog(b, control.Server{}, fmt.Sprintf("workbench %d", b.pid()))
}

func (m *model) watchLog(b *bench, of control.Server, title string) {
	if m.log.stop != nil {
		m.log.stop()
	}
	if b.Logs == nil {
		m.note = "That workbench ended"
		return
	}
	ctx, stop := context.WithCancel(m.ctx)
	number := m.log.number + 1
	m.log = &logView{pid: b.pid(), server: of, title: tty.CleanLine(title), stop: stop, number: number}
	m.current = logsPane
	m.tasks.Go(func() {
		defer stop()
		err := b.Logs(ctx, of, logBefore, true, func(line control.Line) { m.send(logMsg{number: number, line: line}) })
		switch {
		case errors.Is(err, context.Canceled):
		case err != nil:
			m.send(logMsg{number: number, ended: explain(err)})
		default:
			m.send(logMsg{number: number, ended: "The log ended"})
		}
	})
}

// logCommand is the command that shows the same log.
func (m *model) logCommand() string {
	words := "logs -f"
	if m.log.server.Name != "" {
		words = "logs " + quote(m.log.server.Ref()) + " -f"
	}
	if b := m.live.find(m.log.pid); b != nil {
		return m.command(b, words)
	}
	return "mcp-workbench " + words
}

// drawLog returns the lines of the log that are in front.
func (m *model) drawLog(height int) []string {
	l := m.log
	if l.isEmpty() {
		return []string{"", "  No log is open. Select a server in pane 1, and press l."}
	}
	lines := l.lines
	if filter := strings.ToLower(m.tables[logsPane].filter); filter != "" {
		lines = slices.DeleteFunc(slices.Clone(lines), func(line control.Line) bool { return !strings.Contains(strings.ToLower(line.Text), filter) })
	}
	l.total, l.rows = len(lines), max(height-1, 1)
	l.move(0)
	state := "follows"
	if l.back > 0 {
		state = fmt.Sprintf("%d lines below, End follows", l.back)
	}
	if l.ended != "" {
		state = tty.CleanLine(l.ended)
	}
	out := []string{m.paint(tty.Strong, l.title) + "  " + m.paint(tty.Faint, fmt.Sprintf("%s  %s", state, m.logCommand()))}
	end := len(lines) - l.back
	for _, line := range lines[max(0, end-l.rows):end] {
		text := line.Text
		if l.shift > 0 {
			text = runewidth.TruncateLeft(text, l.shift, "")
		}
		out = append(out, m.paint(tty.Faint, line.Time.Local().Format(time.TimeOnly))+" "+text)
	}
	if len(lines) == 0 {
		out = append(out, m.paint(tty.Faint, "  no line so far"))
	}
	return out
}
