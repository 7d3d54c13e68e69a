package top

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/meter"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/overview"
)

// columns returns the columns of the pane in front.
func (m *model) columns() []column {
	switch m.current {
	case serversPane:
		return m.serverColumns()
	case callsPane:
		return m.callColumns()
	case toolsPane:
		return m.toolColumns()
	case clientsPane:
		return m.clientColumns()
	case questionsPane:
		return m.questionColumns()
	}
	return nil
}

// items returns the rows of the pane in front, and the text by which they are filtered.
func (m *model) items() ([]item, func(item) string) {
	switch m.current {
	case serversPane:
		return m.serverItems(), func(one item) string {
			s := serverOf(one)
			return s.Key + " " + s.State + " " + s.LastError
		}
	case callsPane:
		return m.callItems(), callText
	case toolsPane:
		return m.toolItems(), toolName
	case clientsPane:
		return m.clientItems(), clientText
	case questionsPane:
		return m.questionItems(), questionText
	}
	return nil, nil
}

// withWorkbench adds the workbench as the second column where there are several.
func (m *model) withWorkbench(columns []column) []column {
	if len(m.shown.benches) < 2 {
		return columns
	}
	pid := column{
		title: "WORKBENCH", width: 9, rank: 2, right: true,
		cell: func(one item) tty.Cell { return tty.Cell{Text: strconv.Itoa(one.bench.pid()), Style: tty.Faint} }, compare: by(func(one item) int { return one.bench.pid() }),
	}
	return append([]column{columns[0], pid}, columns[1:]...)
}

func serverOf(one item) *server { return one.of.(*server) }

func (m *model) serverItems() []item {
	var items []item
	for _, b := range m.shown.benches {
		for i := range b.servers {
			items = append(items, item{fmt.Sprintf("%d %s", b.pid(), b.servers[i].Key), b, &b.servers[i]})
		}
	}
	return items
}

// text is a column of plain texts.
func plain(title string, width, rank int, text func(item) string) column {
	return column{title: title, width: width, rank: rank, cell: func(one item) tty.Cell { return tty.Cell{Text: text(one)} }, compare: by(text)}
}

// number is a column of numbers, which are written by a function.
func number[T cmp.Ordered](title string, width, rank int, value func(item) T, write func(T) string) column {
	return column{title: title, width: width, rank: rank, right: true, cell: func(one item) tty.Cell { return tty.Cell{Text: write(value(one))} }, compare: most(value)}
}

// count writes a number; "-" for none.
func count(n int) string {
	if n == 0 {
		return "-"
	}
	return strconv.Itoa(n)
}

func (m *model) serverColumns() []column {
	counts := func(one item) meter.Counts { return serverOf(one).counts }
	columns := []column{
		{
			title: "SERVER", cell: func(one item) tty.Cell { return tty.Cell{Text: serverOf(one).Key, Style: tty.Name} },
			compare: by(func(one item) string { return serverOf(one).Key }),
		},
		{
			title: "STATE", width: 11, rank: 1, cell: func(one item) tty.Cell { return stateCell(serverOf(one).Server) },
			compare: most(func(one item) string { return fmt.Sprint(serverOf(one).LastError != "", serverOf(one).State) }),
		},
	}
	columns = append(columns, countColumns(counts)...)
	return m.withWorkbench(append(columns,
		number("MEMORY", 7, 7, func(one item) int64 { return serverOf(one).Memory }, overview.Megabytes),
		column{
			title: "CPU", width: 4, rank: 8, right: true, cell: func(one item) tty.Cell { return tty.Cell{Text: overview.Processor(serverOf(one).Server)} },
			compare: most(func(one item) float64 { return serverOf(one).CPU }),
		},
		number("UP", 6, 9, func(one item) float64 { return m.uptime(serverOf(one)).Seconds() }, func(seconds float64) string { return overview.Since(seconds2(seconds)) }),
		number("PID", 7, 10, func(one item) int { return serverOf(one).PID }, count),
		number("STARTS", 6, 11, func(one item) int { return serverOf(one).Starts }, strconv.Itoa),
		column{title: "LAST ERROR", rank: 12, cell: func(one item) tty.Cell { return tty.Cell{Text: m.trouble(serverOf(one))} }},
	))
}

// countColumns are what is counted of the last minutes.
func countColumns(counts func(item) meter.Counts) []column {
	latency := func(counted func(meter.Counts) float64) func(item) float64 {
		return func(one item) float64 { return counted(counts(one)) }
	}
	return []column{
		number("P50", 6, 6, latency(func(c meter.Counts) float64 { return c.P50 }), overview.Latency),
		number("P95", 6, 5, latency(func(c meter.Counts) float64 { return c.P95 }), overview.Latency),
		number("CALLS", 6, 3, func(one item) int { return counts(one).Calls }, strconv.Itoa),
		{
			title: "ERRORS", width: 6, rank: 4, right: true, compare: most(func(one item) int { return counts(one).Errors }),
			cell: func(one item) tty.Cell {
				errors := counts(one).Errors
				return tty.Cell{Text: strconv.Itoa(errors), Style: map[bool]tty.Style{true: tty.Bad}[errors > 0]}
			},
		},
	}
}

func stateCell(s control.Server) tty.Cell {
	switch {
	case s.LastError != "":
		return tty.Cell{Text: s.State, Style: tty.Bad}
	case s.PID != 0 || s.Uptime > 0:
		return tty.Cell{Text: s.State, Style: tty.Good}
	}
	return tty.Cell{Text: s.State, Style: tty.Faint}
}

func seconds2(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }

// passed is the time since a server was told.
func (m *model) passed(s *server) time.Duration {
	if s.seen.IsZero() {
		return 0
	}
	return max(m.time().Sub(s.seen), 0)
}

func (m *model) uptime(s *server) time.Duration {
	if s.Uptime == 0 {
		return 0
	}
	return seconds2(s.Uptime) + m.passed(s)
}

// trouble returns what is wrong with a server; "" if nothing is.
func (m *model) trouble(s *server) string {
	now := s.Server
	if now.NextTry > 0 {
		now.NextTry = max(now.NextTry-m.passed(s).Seconds(), 1)
	}
	return overview.TroubleOf(now)
}

// serverDetails are the details of a server. Those that have to be asked for follow.
func (m *model) serverDetails(b *bench, s *server, known *control.ServerDetail) [][2]string {
	rows := [][2]string{
		{"state", s.State},
		{"workbench", benchText(b)},
		{"process", processText(m, s)},
		{"calls", fmt.Sprintf("%d, %d errors, p50 %s, p95 %s", s.counts.Calls, s.counts.Errors, overview.Latency(s.counts.P50), overview.Latency(s.counts.P95))},
		{"starts", fmt.Sprintf("%d, %d restarts", s.Starts, s.Restarts)},
		{"tools", strconv.Itoa(s.Tools)},
		{"clients", strconv.Itoa(s.Clients)},
	}
	if reason := reasonOf(b, s); reason != "" {
		rows = append(rows, [2]string{"copy for", reason})
	}
	if trouble := m.trouble(s); trouble != "" {
		rows = append(rows, [2]string{"last error", trouble})
	}
	if known == nil {
		return rows
	}
	for _, row := range [][2]string{{"software", known.Software}, {"command", known.Command}, {"file", known.Config}} {
		if row[1] != "" {
			rows = append(rows, row)
		}
	}
	for i, step := range known.Steps {
		mark := map[string]string{"done": "✓", "failed": "✗"}[step.State]
		text := fmt.Sprintf("%s %s, %s", cmp.Or(mark, "…"), step.Name, overview.Latency(step.Took))
		if step.Detail != "" {
			text += ": " + step.Detail
		}
		rows = append(rows, [2]string{first(i, "start"), text})
	}
	for i, process := range known.Processes {
		rows = append(rows, [2]string{first(i, "processes"), strings.Repeat("  ", depth(known.Processes, process)) +
			fmt.Sprintf("%d %s, %s", process.PID, process.Name, overview.Megabytes(process.Memory))})
	}
	return rows
}

// reasonOf returns why a server is a separate copy; "" if there is no other.
func reasonOf(b *bench, s *server) string {
	var copies []control.Server
	at := -1
	for i := range b.servers {
		if one := b.servers[i].Server; one.Ref() == s.Ref() {
			if one.Key == s.Key {
				at = len(copies)
			}
			copies = append(copies, one)
		}
	}
	if reasons := overview.ReasonsOf(copies); at >= 0 && reasons != nil {
		return reasons[at]
	}
	return ""
}

func processText(m *model, s *server) string {
	if s.Remote {
		return "none: a remote server"
	}
	return fmt.Sprintf("%s, %s, %s CPU, up %s", count(s.PID), overview.Megabytes(s.Memory), overview.Processor(s.Server), overview.Since(m.uptime(s)))
}

// first returns a label for the first of several lines.
func first(i int, label string) string {
	if i > 0 {
		return ""
	}
	return label
}

const deepest = 8 // level of a process tree that is drawn

func depth(all []control.Process, one control.Process) int {
	for level := range deepest {
		at := -1
		for i, other := range all {
			if other.PID == one.Parent && other.PID != one.PID {
				at = i
			}
		}
		if at < 0 {
			return level
		}
		one = all[at]
	}
	return deepest
}
