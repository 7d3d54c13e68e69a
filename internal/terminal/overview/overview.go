// Package overview shows running workbenches, their servers and the requests of the last minutes, for ps and top.
package overview

import (
	"fmt"
	"slices"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
)

// Show writes the running workbenches and their servers; with tools, the requests by tool.
func Show(screen *tty.Screen, seen []control.Workbench, tools bool) {
	for i, workbench := range seen {
		if i > 0 {
			fmt.Fprintln(screen)
		}
		memory := ""
		if workbench.Memory > 0 {
			memory = ", " + megabytes(workbench.Memory)
		}
		fmt.Fprintf(screen, "%s  %s\n", screen.Paint(tty.Strong, fmt.Sprintf("mcp-workbench %s, pid %d", tty.CleanLine(workbench.Version), workbench.PID)),
			screen.Paint(tty.Faint, fmt.Sprintf("up %s%s", since(time.Since(workbench.Started)), memory)))
		fmt.Fprintf(screen, "%s\n", screen.Paint(tty.Faint, tty.CleanLine(workbench.Describe())))
		if workbench.Notice != "" {
			fmt.Fprintf(screen, "%s %s\n", screen.Paint(tty.Bad, "✗"), tty.Clean(workbench.Notice))
			if len(workbench.Servers) == 0 {
				continue
			}
		}
		reasons := reasonsOf(workbench.Servers)
		columns := []string{"SERVER", "STATE", "PID", "MEMORY", "UP", "USES", "STARTS", "LAST ERROR"}
		if reasons != nil {
			columns = slices.Insert(columns, 1, "COPY FOR")
		}
		rows := make([][]tty.Cell, len(workbench.Servers))
		for n, server := range workbench.Servers {
			if rows[n] = row(server); reasons != nil {
				rows[n] = slices.Insert(rows[n], 1, tty.Cell{Text: reasons[n]})
			}
		}
		screen.Table(columns, rows)
		showActivity(screen, workbench, tools)
	}
}

func row(server control.Server) []tty.Cell {
	state := tty.Cell{Text: server.State}
	switch {
	case server.LastError != "":
		state.Style = tty.Bad
	case server.PID != 0 || server.Uptime > 0:
		state.Style = tty.Good
	default:
		state.Style = tty.Faint
	}
	trouble := server.LastError
	if server.NextTry > 0 {
		trouble = fmt.Sprintf("next try in %s: %s", since(time.Duration(server.NextTry*float64(time.Second))), trouble)
	}
	starts := server.Restarts
	if server.Uptime > 0 || server.Restarts > 0 {
		starts++
	}
	return []tty.Cell{
		{Text: server.Ref(), Style: tty.Name},
		state,
		{Text: number(server.PID)},
		{Text: megabytes(server.Memory)},
		{Text: since(time.Duration(server.Uptime * float64(time.Second)))},
		{Text: fmt.Sprint(server.Calls)},
		{Text: fmt.Sprint(starts)},
		{Text: trouble},
	}
}

func number(n int) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprint(n)
}

func megabytes(bytes int64) string {
	if bytes == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f MB", float64(bytes)/1e6)
}

// since formats a duration for a table.
func since(d time.Duration) string {
	switch {
	case d <= 0:
		return "-"
	case d < time.Minute:
		return fmt.Sprintf("%.0fs", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}
