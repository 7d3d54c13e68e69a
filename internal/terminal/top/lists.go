package top

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/meter"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/overview"
)

// requests are the requests of one tool or method to a server.
type requests struct {
	server string
	meter.Requests
}

func requestsOf(one item) *requests { return one.of.(*requests) }

func toolName(one item) string {
	return requestsOf(one).server + overview.Subject(requestsOf(one).Requests)
}

func (m *model) toolItems() []item {
	var items []item
	for _, b := range m.shown.benches {
		for _, activity := range b.Status.Activity {
			for _, one := range activity.Requests {
				counted := &requests{activity.Ref(), one}
				items = append(items, item{fmt.Sprintf("%d %s%s", b.pid(), counted.server, overview.Subject(one)), b, counted})
			}
		}
	}
	return items
}

func (m *model) toolColumns() []column {
	title := "LAST MINUTES"
	for _, b := range m.shown.benches {
		if b.Status.ActivityTime > 0 {
			title = fmt.Sprintf("LAST %.0f MINUTES", b.Status.ActivityTime/60)
		}
	}
	name := column{title: title, cell: func(one item) tty.Cell { return tty.Cell{Text: toolName(one), Style: tty.Name} }, compare: by(toolName)}
	columns := append([]column{name}, countColumns(func(one item) meter.Counts { return requestsOf(one).Counts })...)
	return m.withWorkbench(append(columns, number("SINCE START", 11, 7, func(one item) int { return requestsOf(one).TotalCalls }, strconv.Itoa)))
}

// activityMsg has the requests by tool, of which a watch does not tell.
type activityMsg struct {
	pid    int
	status control.Workbench
}

// askActivity asks for the requests by tool while they are in front.
func (m *model) askActivity() {
	if m.current != toolsPane || m.isPaused {
		return
	}
	for _, b := range m.live.benches {
		if b.polled != "" || b.isAsked {
			continue
		}
		b.isAsked = true
		m.tasks.Go(func() {
			ctx, cancel := context.WithTimeout(m.ctx, actTime)
			defer cancel()
			status, err := b.Refresh(ctx)
			if err != nil {
				status = control.Workbench{} // it ended, which the feed tells
			}
			m.send(activityMsg{b.pid(), status})
		})
	}
}

func clientOf(one item) *control.ConnectedClient { return one.of.(*control.ConnectedClient) }

func (m *model) clientItems() []item {
	var items []item
	for _, b := range m.shown.benches {
		for i := range b.clients {
			items = append(items, item{fmt.Sprintf("%d %s %d", b.pid(), b.clients[i].ID, b.clients[i].Since.UnixNano()), b, &b.clients[i]})
		}
	}
	return items
}

// clientName is the name that a client gave itself, and its version.
func clientName(one item) string {
	client := clientOf(one)
	return strings.TrimSpace(cmp.Or(strings.TrimSpace(tty.CleanLine(client.Name)), "unnamed") + " " + tty.CleanLine(client.Version))
}

// whose is the name of the client's token, person or certificate; "" if there is none.
func whose(one item) string {
	_, who := clientOf(one).Who()
	return tty.CleanLine(who)
}

func clientText(one item) string {
	return clientName(one) + " " + clientOf(one).Folder + " " + whose(one)
}

func (m *model) clientColumns() []column {
	return m.withWorkbench([]column{
		{title: "CLIENT", cell: func(one item) tty.Cell { return tty.Cell{Text: clientName(one), Style: tty.Name} }, compare: by(clientName)},
		number("FOR", 6, 1, func(one item) float64 { return max(m.time().Sub(clientOf(one).Since).Seconds(), 1) }, func(s float64) string { return overview.Since(seconds2(s)) }),
		number("OPENED", 6, 4, func(one item) int { return len(clientOf(one).Opened) }, count),
		plain("WHOSE", 10, 5, func(one item) string { return cmp.Or(whose(one), "-") }),
		plain("ERA", 7, 6, func(one item) string { return cmp.Or(clientOf(one).Era, "session") }),
		plain("FOLDER", 0, 3, func(one item) string { return cmp.Or(clientOf(one).Folder, one.bench.Status.Folder, "-") }),
	})
}

func (m *model) clientDetails(one item) [][2]string {
	client := clientOf(one)
	kind, who := client.Who()
	return [][2]string{
		{"workbench", benchText(one.bench)},
		{"folder", cmp.Or(client.Folder, "-")},
		{cmp.Or(kind, "token"), cmp.Or(who, "-")},
		{"era", cmp.Or(client.Era, "session")},
		{"connected", overview.Since(m.time().Sub(client.Since)) + " ago"},
		{"opened", cmp.Or(strings.Join(client.Opened, ", "), "no toolbox")},
	}
}

func questionOf(one item) *control.Question { return one.of.(*control.Question) }

// questionItems are the questions as they are now, even on a paused screen: they have a deadline.
func (m *model) questionItems() []item {
	var items []item
	for _, b := range m.live.benches {
		for _, question := range m.waiting(b) {
			items = append(items, item{questionID(b.pid(), question.ID), b, question})
		}
	}
	return items
}

func questionText(one item) string {
	q := questionOf(one)
	return strings.Join([]string{q.Tool, q.Server, q.Client, q.Caller, q.ID, q.Message}, " ")
}

// questionName is the call that a question is about; without one, the server that asks.
func questionName(one item) string { return cmp.Or(questionOf(one).Tool, questionOf(one).Server) }

// reason is why a rule asks, or what a server asks.
func reason(one item) string { return cmp.Or(questionOf(one).Because, questionOf(one).Message) }

func (m *model) questionColumns() []column {
	left := func(one item) float64 { return max(questionOf(one).Deadline.Sub(m.now()).Seconds(), 0) }
	return m.withWorkbench([]column{
		{title: "CALL", cell: func(one item) tty.Cell { return tty.Cell{Text: questionName(one), Style: tty.Name} }, compare: by(questionName)},
		number("LEFT", 6, 1, left, func(s float64) string { return overview.Since(seconds2(s)) }),
		plain("ID", 6, 3, func(one item) string { return questionOf(one).ID }),
		plain("CALLER", 14, 4, func(one item) string { return questionOf(one).Caller }),
		plain("CLIENT", 14, 5, func(one item) string { return questionOf(one).Client }),
		plain("REASON", 0, 6, reason),
	})
}
