package top

import (
	"cmp"
	"strings"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/approve"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/overview"
)

// This file shows what a person can answer on the page only: it can be read here, and nothing is asked.

// showPageOnly shows the question of a row.
func (m *model) showPageOnly(row item) {
	one := approve.In(row.bench.Status, *questionOf(row))
	m.mode = reading
	m.page = &text{id: row.id, pid: one.PID, title: "This call waits for approval"}
	m.page.make = func(width int) []string {
		lines := approve.Describe(screenOf(width), one)
		return append(lines, labelled(m.endOf(one), width, m.paint)...)
	}
	if one.Kind == control.Elicitation {
		m.page.title = "A server asks a person"
		m.page.make = func(width int) []string {
			return labelled(append(m.elicitationRows(row.bench, one), m.endOf(one)...), width, m.paint)
		}
	}
	m.page.lead = func() string {
		if !m.live.waits(one, m.now()) {
			return ""
		}
		return "answer it at: " + overview.AnsweredAtPage + "  "
	}
}

// endOf says where a question is answered, or that it is not open any more.
func (m *model) endOf(one approve.Waiting) [][2]string {
	switch {
	case m.live.waits(one, m.now()):
		return [][2]string{{"", ""}, {"same as", overview.AnsweredAtPage}}
	case !m.now().Before(one.Deadline):
		return [][2]string{{"", ""}, {"ended", "Its time is over."}}
	}
	return [][2]string{{"", ""}, {"ended", "It was answered elsewhere, or its caller gave up."}}
}

// elicitationRows are what is known of a question of a server.
func (m *model) elicitationRows(b *bench, one approve.Waiting) [][2]string {
	rows := [][2]string{{"server", one.Server}}
	if one.Tool != "" {
		rows = append(rows, [2]string{"call", one.Tool})
	}
	client := one.Caller
	if one.Client != "" {
		client = strings.TrimPrefix(client+", "+one.Client, ", ")
	}
	rows = append(rows, [2]string{"client", cmp.Or(client, "-")}, [2]string{"workbench", benchText(b)})
	rows = append(rows, lined("message", strings.Split(one.Message, "\n"))...)
	rows = append(rows, lined("fields", fieldNames(one.Schema))...)
	if one.URL != "" {
		rows = append(rows, [2]string{"address", one.URL})
	}
	left := max(one.Deadline.Sub(m.now()), 0)
	return append(rows, [2]string{"deadline", one.Deadline.Local().Format(time.TimeOnly) + ", " + overview.Since(left) + " left"})
}

// lined has a row for each value, the first with the label.
func lined(label string, values []string) [][2]string {
	rows := make([][2]string, len(values))
	for i, value := range values {
		rows[i] = [2]string{first(i, label), value}
	}
	return rows
}

// fieldNames returns the names of the fields of a form, in its order.
func fieldNames(schema []byte) []string {
	form, err := wire.ParseValue(schema)
	if err != nil {
		return nil // there is no form
	}
	var names []string
	for name := range form.Member("properties").Members() {
		names = append(names, string(name))
	}
	return names
}

// pending counts what waits in a workbench.
func (m *model) pending(b *bench) overview.Pending {
	var pending overview.Pending
	for _, question := range m.waiting(b) {
		switch {
		case question.Kind == control.Elicitation:
			pending.Asked++
		case question.AnswersVia(config.AskTerminal):
			pending.Terminal++
		default:
			pending.Page++
		}
	}
	return pending
}
