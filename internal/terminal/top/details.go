package top

import (
	"context"
	"fmt"
	"strings"

	"github.com/mattn/go-runewidth"

	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/meter"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/overview"
)

// labelWidth is where the values of details begin. Nothing of a value is left of it.
const labelWidth = 12

// text is lines that are read: details, help or a question.
type text struct {
	id      string // of the row that it is about; "" for help
	title   string
	make    func(width int) []string // the lines are made again for each drawing
	offset  int
	total   int // lines when it was drawn
	rows    int // that fitted
	isAsked bool
	known   *control.ServerDetail // that was asked for
	problem string                // why it is not known
	pid     int
	key     string        // of the server; "" for what is complete without asking
	lead    func() string // what the hints below begin with; may be nil
}

func (t *text) move(by int) { t.offset = max(0, min(t.offset+by, t.total-t.rows)) }

// isAtEnd reports whether the last line can be seen.
func (t *text) isAtEnd() bool { return t.offset+t.rows >= t.total }

// draw returns the lines that are in front.
func (t *text) draw(width, height int, paint painter) []string {
	lines := t.make(width)
	t.total, t.rows = len(lines), max(height-1, 1)
	t.move(0)
	title := t.title
	if below := t.total - t.offset - t.rows; below > 0 {
		title += fmt.Sprintf("  (%d more lines below)", below)
	}
	return append([]string{paint(tty.Strong, title)}, lines[t.offset:min(t.offset+t.rows, t.total)]...)
}

// labelled lays out values beside their labels. Nothing is cut.
func labelled(rows [][2]string, width int, paint painter) []string {
	var lines []string
	for _, row := range rows {
		room := max(width-labelWidth-1, 1)
		label := row[0]
		for _, part := range wrap(oneLine(row[1]), room) {
			lines = append(lines, " "+paint(tty.Faint, label)+strings.Repeat(" ", max(0, labelWidth-runewidth.StringWidth(label)))+part)
			label = ""
		}
	}
	return lines
}

// wrap breaks a line between words, and a word that is too long where it does not fit.
func wrap(line string, width int) []string {
	if runewidth.StringWidth(line) <= width {
		return []string{line}
	}
	var lines []string
	for _, part := range tty.Wrap(line, width) {
		lines = append(lines, strings.Split(runewidth.Wrap(part, width), "\n")...)
	}
	return lines
}

// oneLine cleans a text that spaces at its beginning belong to.
func oneLine(value string) string {
	indent := len(value) - len(strings.TrimLeft(value, " "))
	return strings.Repeat(" ", indent) + tty.CleanLine(value)
}

// open shows the details of the selected row.
func (m *model) open() {
	one, ok := m.table().selected()
	if !ok {
		return
	}
	rows := func() [][2]string { return nil }
	m.page = &text{id: one.id, pid: one.bench.pid()}
	switch m.current {
	case serversPane:
		m.page.title, m.page.key = serverOf(one).Key, serverOf(one).Key
		last := *serverOf(one)
		rows = func() [][2]string { return m.serverPage(one.bench, &last) }
	case callsPane:
		m.page.title = callName(one)
		rows = func() [][2]string { return m.callDetails(one) }
	case toolsPane:
		m.page.title = toolName(one)
		rows = func() [][2]string { return countDetails(one.bench, requestsOf(one).Counts) }
	case clientsPane:
		m.page.title = clientName(one)
		client := *clientOf(one)
		one.of = &client
		rows = func() [][2]string { return m.clientDetails(one) }
	default:
		m.page = nil
		return
	}
	m.page.title = tty.CleanLine(m.page.title)
	m.page.make = func(width int) []string { return labelled(rows(), width, m.paint) }
	m.mode = reading
	m.refreshDetail()
}

// serverPage are the details of a server as they are now; of one that is gone, as they were.
func (m *model) serverPage(b *bench, last *server) [][2]string {
	var known *control.ServerDetail
	var problem string
	if m.page != nil {
		known, problem = m.page.known, m.page.problem
	}
	if now := m.shown.find(b.pid()); now != nil {
		if at, ok := now.at[last.Key]; ok {
			b, *last = now, now.servers[at]
		}
	}
	rows := m.serverDetails(b, last, known)
	if problem != "" {
		rows = append(rows, [2]string{"more", problem})
	}
	return append(rows, [2]string{"same as", m.command(b, "ps")},
		[2]string{"r restart", m.command(b, "restart "+quote(last.Ref()))}, [2]string{"l log", m.command(b, "logs "+quote(last.Ref())+" -f")})
}

// benchText names a workbench.
func benchText(b *bench) string { return fmt.Sprintf("pid %d: %s", b.pid(), b.Status.Describe()) }

func countDetails(b *bench, counts meter.Counts) [][2]string {
	return [][2]string{
		{"workbench", benchText(b)},
		{"calls", fmt.Sprintf("%d, %d errors", counts.Calls, counts.Errors)},
		{"p50", overview.Latency(counts.P50)},
		{"p95", overview.Latency(counts.P95)},
		{"since start", fmt.Sprintf("%d calls, %d errors, %s in all", counts.TotalCalls, counts.TotalErrors, overview.Latency(counts.TotalSeconds))},
	}
}

// detailMsg has what was asked for about a server.
type detailMsg struct {
	page   *text
	detail control.ServerDetail
	err    error
}

// refreshDetail asks for the details of the server that is in front, once at a time.
func (m *model) refreshDetail() {
	page := m.page
	if page == nil || page.key == "" || page.isAsked || m.isPaused && page.known != nil {
		return
	}
	b := m.live.find(page.pid)
	if b == nil || b.polled != "" {
		return
	}
	page.isAsked = true
	m.tasks.Go(func() {
		ctx, cancel := context.WithTimeout(m.ctx, actTime)
		defer cancel()
		detail, err := b.Detail(ctx, page.key)
		m.send(detailMsg{page, detail, err})
	})
}

func (m *model) takeDetail(message detailMsg) {
	message.page.isAsked = false
	if message.err != nil {
		message.page.problem = explain(message.err)
		return
	}
	message.page.known, message.page.problem = &message.detail, ""
}

// help shows all keys, and what the marks mean.
func (m *model) help() {
	m.mode = reading
	m.page = &text{title: "Keys", make: func(width int) []string {
		var rows [][2]string
		for _, one := range allKeys() {
			rows = append(rows, [2]string{one.Help().Key, one.Help().Desc})
		}
		rows = append(rows, [2]string{"", ""}, [2]string{"WHERE", fmt.Sprintf("where the time of a call went: %s the workbench, %s the start of the server, %s a person, %s the server",
			markWorkbench, markStart, markPerson, markServer)})
		return labelled(rows, width, m.paint)
	}}
}
