package overview

import (
	"cmp"
	"fmt"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
)

// showActivity writes the requests to servers of the last minutes, and by tool if wanted.
func showActivity(screen *tty.Screen, workbench control.Workbench, tools bool) {
	if len(workbench.Activity) == 0 {
		return
	}
	var rows [][]tty.Cell
	for _, server := range workbench.Activity {
		rows = append(rows, activityRow(tty.Cell{Text: server.Ref(), Style: tty.Name}, server.Counts))
		if !tools {
			continue
		}
		for _, requests := range server.Requests {
			rows = append(rows, activityRow(tty.Cell{Text: server.Ref() + subject(requests)}, requests.Counts))
		}
	}
	fmt.Fprintln(screen)
	minutes := fmt.Sprintf("LAST %.0f MINUTES", workbench.ActivityTime/60)
	screen.Table([]string{minutes, "CALLS", "ERRORS", "P50", "P95", "SINCE START"}, rows)
}

// subject names what requests are about, behind the name of their server.
func subject(requests control.Requests) string {
	switch {
	case requests.Tool != "":
		return "/" + requests.Tool
	case requests.Method == protocol.MethodToolsCall:
		return ": unlisted tools"
	}
	return ": " + cmp.Or(requests.Method, "other requests")
}

func activityRow(name tty.Cell, counts control.Counts) []tty.Cell {
	errors := tty.Cell{Text: fmt.Sprint(counts.Errors)}
	if counts.Errors > 0 {
		errors.Style = tty.Bad
	}
	return []tty.Cell{
		name, {Text: fmt.Sprint(counts.Calls)}, errors,
		{Text: latency(counts.P50)}, {Text: latency(counts.P95)}, {Text: fmt.Sprint(counts.TotalCalls)},
	}
}

// latency writes a short duration with two digits.
func latency(seconds float64) string {
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
		return since(d)
	}
}
