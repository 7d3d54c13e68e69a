package top

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/history"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/overview"
)

// barWidth is the width of the bar that shows where the time of a call went.
const barWidth = 10

// The marks of a bar; no two are told apart by colour alone.
const (
	markWorkbench = "░"
	markStart     = "▒"
	markServer    = "█"
	markPerson    = "·"
)

// callItems returns the calls that run, and then those that ended, the newest first.
func (m *model) callItems() []item {
	var items []item
	benches := make(map[int]*bench)
	for _, b := range m.shown.benches {
		benches[b.pid()] = b
		for _, call := range b.running {
			items = append(items, item{fmt.Sprintf("%d running %s", b.pid(), call.ID), b, call})
		}
	}
	for i := len(m.shown.calls) - 1; i >= 0; i-- {
		call := &m.shown.calls[i]
		b := benches[call.PID]
		if b == nil {
			b = &bench{Workbench: Workbench{Status: control.Workbench{PID: call.PID}}} // it ended
		}
		items = append(items, item{fmt.Sprintf("%d %d", call.PID, call.Seq), b, call})
	}
	return items
}

// subject names what was asked of a server.
func subject(toolbox, server, method, tool, prompt string) string {
	return toolbox + "/" + server + "/" + cmp.Or(tool, prompt, method, "other request")
}

func callName(one item) string {
	switch call := one.of.(type) {
	case control.RunningCall:
		return subject(call.Toolbox, call.Server, call.Method, call.Tool, "")
	case *history.Record:
		return subject(call.Toolbox, call.Server, call.Method, call.Tool, call.Prompt)
	}
	return ""
}

func callClient(one item) string {
	switch call := one.of.(type) {
	case control.RunningCall:
		return cmp.Or(call.Client, call.Caller)
	case *history.Record:
		return cmp.Or(call.Client, call.Caller)
	}
	return ""
}

func callText(one item) string {
	return callName(one) + " " + callClient(one) + " " + callState(one).Text
}

// phases say what a running call waits for.
var phases = map[string]string{"start": "starting", "server": "running", "person": "asks", "": "running"}

func callState(one item) tty.Cell {
	switch call := one.of.(type) {
	case control.RunningCall:
		return tty.Cell{Text: cmp.Or(phases[call.Phase], call.Phase), Style: tty.Strong}
	case *history.Record:
		if call.IsError() {
			return tty.Cell{Text: call.Outcome, Style: tty.Bad}
		}
		return tty.Cell{Text: call.Outcome, Style: tty.Good}
	}
	return tty.Cell{}
}

// took returns how long a call took, or has taken so far.
func (m *model) took(one item) float64 {
	switch call := one.of.(type) {
	case control.RunningCall:
		return max(m.time().Sub(call.Since).Seconds(), 0)
	case *history.Record:
		return call.Took
	}
	return 0
}

func callBegan(one item) time.Time {
	switch call := one.of.(type) {
	case control.RunningCall:
		return call.Since
	case *history.Record:
		return call.Time
	}
	return time.Time{}
}

func (m *model) callColumns() []column {
	bytes := func(one item) int {
		if call, ended := one.of.(*history.Record); ended {
			return call.ResponseBytes
		}
		return 0
	}
	return m.withWorkbench([]column{
		{title: "CALL", cell: func(one item) tty.Cell { return tty.Cell{Text: callName(one), Style: tty.Name} }, compare: by(callName)},
		{title: "STATE", width: 10, rank: 1, cell: callState, compare: by(func(one item) string { return callState(one).Text })},
		number("TOOK", 6, 3, m.took, overview.Latency),
		{title: "WHERE", width: barWidth, rank: 4, cell: func(one item) tty.Cell { return tty.Cell{Text: whereOf(one)} }},
		plain("CLIENT", 14, 5, callClient),
		{
			title: "AT", width: 8, rank: 6, cell: func(one item) tty.Cell { return tty.Cell{Text: callBegan(one).Local().Format(time.TimeOnly)} },
			compare: most(func(one item) int64 { return callBegan(one).UnixNano() }),
		},
		number("BYTES", 7, 7, bytes, count),
	})
}

func whereOf(one item) string {
	switch call := one.of.(type) {
	case control.RunningCall:
		return map[string]string{"start": markStart, "server": markServer, "person": markPerson}[call.Phase] + "…"
	case *history.Record:
		return bar(call)
	}
	return ""
}

// bar draws the parts of the time of a call. A part that took any time has a mark, if there is room.
func bar(call *history.Record) string {
	if call.Took <= 0 {
		return ""
	}
	var out strings.Builder
	left := barWidth
	for _, part := range []struct {
		mark    string
		seconds float64
	}{{markWorkbench, call.InWorkbench}, {markStart, call.InStart}, {markPerson, call.Waited}, {markServer, call.AtServer}} {
		size := min(left, int(math.Round(barWidth*part.seconds/call.Took)))
		out.WriteString(strings.Repeat(part.mark, max(size, 0)))
		left -= max(size, 0)
	}
	return out.String()
}

// callDetails are the details of a call.
func (m *model) callDetails(one item) [][2]string {
	rows := [][2]string{
		{"state", callState(one).Text},
		{"workbench", fmt.Sprintf("pid %d", one.bench.pid())},
		{"client", callClient(one)},
		{"began", callBegan(one).Local().Format(time.DateTime)},
		{"took", overview.Latency(m.took(one))},
	}
	switch call := one.of.(type) {
	case control.RunningCall:
		rows = append(rows, [][2]string{{"caller", call.Caller}, {"method", call.Method}, {"id", call.ID}, {"same as", m.command(one.bench, "cancel "+call.ID)}}...)
	case *history.Record:
		rows = append(rows, [][2]string{
			{"workbench", markWorkbench + " " + overview.Latency(call.InWorkbench)},
			{"start", markStart + " " + overview.Latency(call.InStart)},
			{"person", markPerson + " " + overview.Latency(call.Waited)},
			{"server", markServer + " " + overview.Latency(call.AtServer)},
			{"caller", call.Caller},
			{"method", call.Method},
			{"error", call.ErrorType},
			{"bytes", fmt.Sprintf("%d sent, %d received", call.RequestBytes, call.ResponseBytes)},
			{"arguments", call.Arguments},
		}...)
	}
	return rows
}
