package overview

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/meter"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
)

// showTools writes the requests to each tool, and of each other method.
func showTools(screen *tty.Screen, workbench control.Workbench) {
	var rows [][]tty.Cell
	for _, server := range workbench.Activity {
		for _, requests := range server.Requests {
			name := tty.Cell{Text: server.Ref() + Subject(requests), Style: tty.Name}
			total := tty.Cell{Text: fmt.Sprint(requests.TotalCalls)}
			rows = append(rows, slices.Concat([]tty.Cell{name}, activityCells(requests.Counts), []tty.Cell{total}))
		}
	}
	if len(rows) == 0 {
		return
	}
	fmt.Fprintln(screen)
	minutes := fmt.Sprintf("LAST %.0f MINUTES", workbench.ActivityTime/60)
	screen.Table([]string{minutes, "P50", "P95", "CALLS", "ERRORS", "SINCE START"}, rows)
}

// Subject returns the subject of requests, without the name of their server.
func Subject(requests meter.Requests) string {
	switch {
	case requests.Tool != "":
		return "/" + requests.Tool
	case requests.Method == protocol.MethodToolsCall:
		return ": other tools"
	}
	return ": " + cmp.Or(requests.Method, "other requests")
}

// activityCells are the columns P50, P95, CALLS and ERRORS.
func activityCells(counts meter.Counts) []tty.Cell {
	errors := tty.Cell{Text: fmt.Sprint(counts.Errors)}
	if counts.Errors > 0 {
		errors.Style = tty.Bad
	}
	return []tty.Cell{{Text: Latency(counts.P50)}, {Text: Latency(counts.P95)}, {Text: fmt.Sprint(counts.Calls)}, errors}
}

// Latency writes a short duration with two digits.
func Latency(seconds float64) string {
	switch d := time.Duration(seconds * float64(time.Second)); {
	case d <= 0:
		return "-"
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.1fms", seconds*1e3)
	case d < time.Second:
		return fmt.Sprintf("%.0fms", seconds*1e3)
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fs", seconds)
	default:
		return Since(d)
	}
}
