package top

import (
	"fmt"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"

	tea "charm.land/bubbletea/v2"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/overview"
)

const (
	lowHeight   = 14 // rows below which only what is most important is above the panes
	headBenches = 3  // workbenches that have a line of their own
)

// joinLines makes one text of lines.
func joinLines(lines []string) string { return strings.Join(lines, "\n") }

// draw draws everything. Every line fits, whatever it says.
func (m *model) draw() {
	m.drawnAt = m.now()
	m.cursor = nil
	width, height := max(m.width-1, 1), max(m.height, 1) // terminals keep what was in the last column when they change their size
	lines := append([]string{m.tabs(width)}, m.head(height)...)
	if limit := max(height-3, 1); len(lines) > limit {
		lines = lines[:limit]
	}
	foot := m.foot(width)
	lines = append(lines, m.body(width, max(height-len(lines)-len(foot), 1))...)
	room := max(height-len(foot), 0)
	lines = lines[:min(len(lines), room)]
	for len(lines) < room {
		lines = append(lines, "")
	}
	lines = append(lines, foot...)
	lines = lines[len(lines)-min(len(lines), height):]
	for i, line := range lines {
		lines[i] = tty.CutPainted(line, width)
	}
	m.drawn = lines
}

// body draws the pane in front, or what is read.
func (m *model) body(width, height int) []string {
	switch {
	case m.mode == answering:
		return m.dialog.text.draw(width, height, m.paint)
	case m.mode == reading:
		return m.page.draw(width, height, m.paint)
	case m.current == logsPane:
		return m.drawLog(height)
	}
	columns := m.columns()
	items, text := m.items()
	m.table().set(items, columns, text)
	var below []string
	if one, ok := m.table().selected(); ok && m.current == serversPane && height > 6 {
		if trouble := m.trouble(serverOf(one)); trouble != "" {
			below = m.troubleLines(serverOf(one).Key+": "+trouble, width)
		}
	}
	lines := m.table().draw(columns, width, height-len(below), m.paint)
	if len(m.table().items) == 0 {
		lines = append(lines, "", "  "+m.paint(tty.Faint, m.nothing()))
	}
	return append(lines, below...)
}

const troubleLines = 3 // of the last error below the servers; all of it is in the details

// troubleLines draws the trouble of the selected server.
func (m *model) troubleLines(trouble string, width int) []string {
	lines := wrap(tty.CleanLine(trouble), max(width-3, 1))
	if len(lines) > troubleLines {
		lines = append(lines[:troubleLines-1], lines[troubleLines-1]+"…")
	}
	for i, line := range lines {
		lines[i] = "   " + line
	}
	lines[0] = m.paint(tty.Bad, "✗") + lines[0][1:]
	return lines
}

// nothing says why a pane is empty.
func (m *model) nothing() string {
	switch {
	case m.table().filter != "":
		return "nothing fits the filter; Esc leaves it out"
	case len(m.live.benches) == 0 && m.why != "":
		return tty.CleanLine(m.why)
	case len(m.live.benches) == 0:
		return "looking for workbenches"
	}
	return []string{"no server", "no call since top began", "no request so far", "no client is connected", "no question waits", ""}[m.current]
}

// tabs draws the names of the panes, as far as there is room.
func (m *model) tabs(width int) string {
	servers, failing, running, clients, questions := 0, 0, 0, 0, 0
	for _, b := range m.shown.benches {
		servers += len(b.servers)
		for i := range b.servers {
			if b.servers[i].LastError != "" {
				failing++
			}
		}
		running += len(b.running) + b.more
		clients += len(b.clients)
	}
	for _, b := range m.live.benches {
		questions += len(m.waiting(b))
	}
	names := [panes]string{"servers", "calls", "tools", "clients", "questions", "logs"}
	counts := [panes]string{some(servers), some(running), "", some(clients), some(questions), ""}
	if failing > 0 {
		counts[serversPane] += fmt.Sprintf(" ✗%d", failing)
	}
	right := m.time().Format(time.TimeOnly)
	if m.isPaused {
		right = "paused " + right
	}
	for _, isShort := range []bool{false, true} {
		plainWidth, parts := 0, []string{}
		for id := range panes {
			label := fmt.Sprintf("%d %s", id+1, names[id]+counts[id])
			if isShort && id != m.current {
				label = strings.TrimSpace(fmt.Sprintf("%d%s", id+1, map[bool]string{true: "!"}[id == questionsPane && questions > 0]))
			}
			style := tty.Faint
			switch {
			case id == m.current:
				style, label = reverse, "["+label+"]"
			case id == questionsPane && questions > 0:
				style = tty.Caution
			}
			parts = append(parts, m.paint(style, label))
			plainWidth += runewidth.StringWidth(label) + 1
		}
		line := strings.Join(parts, " ")
		if space := width - plainWidth - len(right); space >= 0 {
			return line + strings.Repeat(" ", space+1) + m.paint(tty.Faint, right)
		}
		if isShort || plainWidth <= width {
			return line
		}
	}
	return ""
}

func some(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" %d", n)
}

// head draws what is to be known of the workbenches, the most important first.
func (m *model) head(height int) []string {
	var lines, notices []string
	for i, b := range m.shown.benches {
		switch {
		case i < headBenches && (i == 0 || height >= lowHeight):
			lines = append(lines, m.headOf(b))
		case i == len(m.shown.benches)-1 && height >= lowHeight:
			lines = append(lines, m.paint(tty.Faint, fmt.Sprintf("and %d more workbenches", i+1-headBenches)))
		}
		for _, notice := range m.notices(b) {
			notices = append(notices, m.paint(tty.Caution, "!")+" "+tty.CleanLine(notice))
		}
	}
	if height < lowHeight {
		return lines
	}
	return append(lines, notices[:min(len(notices), headBenches)]...)
}

// headOf describes a workbench in one line.
func (m *model) headOf(b *bench) string {
	text := "up " + overview.Since(m.time().Sub(b.Status.Started))
	if b.memory > 0 {
		text += ", " + overview.Megabytes(b.memory)
	}
	if b.changes > 0 {
		text += ", " + toolbox.Count(b.changes, "changed definition", "changed definitions")
	}
	if b.records > 0 {
		text += ", records"
	}
	if b.polled != "" {
		text += ", polled: " + b.polled
	}
	return m.paint(tty.Strong, tty.CleanLine(fmt.Sprintf("mcp-workbench %s, pid %d", b.Status.Version, b.pid()))) + "  " +
		m.paint(tty.Faint, tty.CleanLine(text+", "+b.Status.Describe()))
}

// notices are what a person should know of a workbench.
func (m *model) notices(b *bench) []string {
	var all []string
	if b.Status.Version != m.options.Version {
		all = append(all, fmt.Sprintf("pid %d is of another version than this program, which is %s: restart its clients after an upgrade", b.pid(), m.options.Version))
	}
	if b.Status.Problem != "" {
		all = append(all, "The configuration has mistakes and was not reloaded: "+b.Status.Problem)
	}
	if b.Status.Notice != "" {
		all = append(all, b.Status.Notice)
	}
	if m.current != questionsPane {
		all = append(all, m.pending(b).Lines(m.command(b, "approve")+", or press 5")...)
	}
	return all
}

// foot draws what is asked or was done, and otherwise the keys.
func (m *model) foot(width int) []string {
	switch {
	case m.mode == answering:
		lines := []string{m.paint(tty.Caution, tty.CleanLine(m.dialog.said)), strings.TrimLeft(tty.Clean(m.dialog.prompt()), " ")}
		m.cursor = cursorAt(lines[1], width, m.height-1)
		return lines
	case m.mode == filtering:
		line := "filter: " + tty.Clean(m.table().filter)
		m.cursor = cursorAt(line, width, m.height-1)
		return []string{line}
	case m.mode == confirming:
		return []string{"same as: " + tty.CleanLine(m.confirm.command), m.paint(tty.Caution, tty.CleanLine(m.confirm.question)+" y/n")}
	case m.note != "":
		return []string{m.paint(tty.Strong, tty.CleanLine(m.note))}
	}
	return []string{m.paint(tty.Faint, m.hints())}
}

// hints are the keys for what is in front, the most important first.
func (m *model) hints() string {
	if m.mode == reading {
		hint := "Esc back  ↑↓ scroll  q quit"
		if m.page.lead != nil {
			hint = m.page.lead() + hint
		}
		return hint
	}
	var hints []string
	if t := m.table(); t.filter != "" {
		hints = append(hints, "filter: "+tty.CleanLine(t.filter)+"  Esc leaves it out")
	}
	hints = append(hints, "q quit", "? help", "Tab pane")
	switch m.current {
	case serversPane:
		hints = append(hints, "Enter details", "l log", "r restart")
	case callsPane:
		hints = append(hints, "Enter details", "x cancel")
	case questionsPane:
		hints = append(hints, "Enter answer")
	case logsPane:
		return strings.Join(append(hints, "↑↓←→ scroll", "End follow", "/ filter"), "  ")
	}
	return strings.Join(append(hints, "/ filter", "s sort", "p pause"), "  ")
}

// cursorAt is the cursor after a line that is typed.
func cursorAt(line string, width, row int) *tea.Cursor {
	return tea.NewCursor(min(runewidth.StringWidth(line), width-1), max(row, 0))
}
