// Package overview shows running workbenches, their servers and the requests of the last minutes, for ps.
package overview

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/meter"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
)

// Options say what is shown.
type Options struct {
	Version string // of this program; workbenches of others are marked
	Tools   bool   // show the requests by tool
}

// Show writes the running workbenches and their servers.
func Show(screen *tty.Screen, seen []control.Workbench, options Options) {
	for i, workbench := range seen {
		if i > 0 {
			fmt.Fprintln(screen)
		}
		memory := ""
		if workbench.Memory > 0 {
			memory = ", " + Megabytes(workbench.Memory)
		}
		fmt.Fprintf(screen, "%s  %s\n", screen.Paint(tty.Strong, fmt.Sprintf("mcp-workbench %s, pid %d", tty.CleanLine(workbench.Version), workbench.PID)),
			screen.Paint(tty.Faint, fmt.Sprintf("up %s%s", Since(time.Since(workbench.Started)), memory)))
		fmt.Fprintf(screen, "%s\n", screen.Paint(tty.Faint, tty.CleanLine(workbench.Describe())))
		if workbench.Version != options.Version {
			fmt.Fprintf(screen, "%s %s\n", screen.Paint(tty.Caution, "!"),
				screen.Wrap("It is of another version than this program, which is "+tty.CleanLine(options.Version)+": restart its clients after an upgrade", 2))
		}
		showFiles(screen, workbench)
		showClients(screen, workbench)
		pending := Pending{Terminal: workbench.Waiting - workbench.WaitingPage, Page: workbench.WaitingPage, Asked: workbench.Asked}
		for _, line := range pending.Lines("mcp-workbench approve") {
			fmt.Fprintf(screen, "%s %s\n", screen.Paint(tty.Caution, "!"), line)
		}
		if workbench.Notice != "" {
			fmt.Fprintf(screen, "%s %s\n", screen.Paint(tty.Bad, "✗"), tty.Clean(workbench.Notice))
			if len(workbench.Servers) == 0 {
				continue
			}
		}
		showServers(screen, workbench)
		if options.Tools {
			showTools(screen, workbench)
		}
	}
}

// showFiles writes whether the files of the configuration are in use as they are.
func showFiles(screen *tty.Screen, workbench control.Workbench) {
	switch {
	case workbench.Problem != "":
		fmt.Fprintf(screen, "%s %s\n", screen.Paint(tty.Bad, "✗"),
			screen.Wrap("The configuration has mistakes and was not reloaded; what was read "+ago(workbench.Loaded)+" stays in use: "+tty.CleanLine(workbench.Problem), 2))
	case workbench.Config != "" && !workbench.Loaded.IsZero():
		fmt.Fprintln(screen, screen.Paint(tty.Faint, "configuration read "+ago(workbench.Loaded)))
	}
}

func ago(at time.Time) string { return Since(max(time.Since(at), time.Second)) + " ago" }

const (
	shownClients = 8  // clients that are listed; others are counted
	clientWidth  = 40 // of the name and of the version that a client gives itself
)

func showClients(screen *tty.Screen, workbench control.Workbench) {
	if len(workbench.Clients) == 0 {
		fmt.Fprintln(screen, screen.Paint(tty.Faint, "no client is connected"))
	}
	for i, client := range workbench.Clients {
		if i == shownClients {
			fmt.Fprintln(screen, screen.Paint(tty.Faint, fmt.Sprintf("and %d more clients", len(workbench.Clients)-i)))
			break
		}
		name := cmp.Or(strings.TrimSpace(tty.CleanLine(client.Name)), "unnamed")
		text := strings.TrimSpace(tty.Cut(name, clientWidth) + " " + tty.Cut(tty.CleanLine(client.Version), clientWidth))
		if kind, who := client.Who(); kind != "" {
			text += ", " + kind + " " + who
		}
		if client.Folder != "" && client.Folder != workbench.Folder {
			text += ", in " + client.Folder
		}
		text += ", for " + Since(max(time.Since(client.Since), time.Second))
		fmt.Fprintf(screen, "client %s\n", screen.Wrap(tty.CleanLine(text), 7))
	}
}

// showServers writes the table of servers. Errors that do not fit beside it are below it, since they must not be cut.
func showServers(screen *tty.Screen, workbench control.Workbench) {
	columns := []string{"SERVER", "STATE", "PID", "MEMORY", "UP", "P50", "P95", "CALLS", "ERRORS", "STARTS", "CPU"}
	reasons := ReasonsOf(workbench.Servers)
	if reasons != nil {
		columns = slices.Insert(columns, 1, "COPY FOR")
	}
	activity := make(map[string]meter.Counts)
	for _, server := range workbench.Activity {
		activity[server.Ref()] = server.Counts
	}
	var rows, beside, troubles [][]tty.Cell // beside are rows with the error in the last column
	for n, server := range workbench.Servers {
		isFirst := n == 0 || workbench.Servers[n-1].Ref() != server.Ref()
		cells := row(server, activity[server.Ref()], isFirst)
		if reasons != nil {
			cells = slices.Insert(cells, 1, tty.Cell{Text: reasons[n]})
		}
		trouble := TroubleOf(server)
		if trouble != "" {
			troubles = append(troubles, []tty.Cell{{Text: "✗", Style: tty.Bad}, {Text: server.Ref() + ": " + trouble}})
		}
		rows = append(rows, cells)
		beside = append(beside, append(slices.Clone(cells), tty.Cell{Text: trouble}))
	}
	if header := append(slices.Clone(columns), "LAST ERROR"); screen.Fits(header, beside) {
		screen.Table(header, beside)
		return
	}
	screen.Table(columns, rows)
	if len(troubles) > 0 {
		screen.WrappedTable(nil, troubles)
	}
}

// row shows the requests of all copies of a server together in the row of the first.
func row(server control.Server, counts meter.Counts, isFirst bool) []tty.Cell {
	state := tty.Cell{Text: server.State}
	switch {
	case server.LastError != "":
		state.Style = tty.Bad
	case server.PID != 0 || server.Uptime > 0:
		state.Style = tty.Good
	default:
		state.Style = tty.Faint
	}
	cells := []tty.Cell{
		{Text: server.Ref(), Style: tty.Name},
		state,
		{Text: number(server.PID)},
		{Text: Megabytes(server.Memory)},
		{Text: Since(time.Duration(server.Uptime * float64(time.Second)))},
	}
	switch {
	case !isFirst:
		cells = append(cells, tty.Cells("", "", "", "")...)
	case counts.Calls == 0:
		cells = append(cells, tty.Cells("", "", "0", "")...)
	default:
		cells = append(cells, activityCells(counts)...)
	}
	return append(cells, tty.Cell{Text: fmt.Sprint(server.Starts)}, tty.Cell{Text: Processor(server)})
}

// TroubleOf returns how often a server failed, the time of the next attempt, and the last error.
func TroubleOf(server control.Server) string {
	var parts []string
	switch server.Failures {
	case 0:
	case 1:
		parts = append(parts, "failed once")
	default:
		parts = append(parts, fmt.Sprintf("failed %d times", server.Failures))
	}
	if server.NextTry > 0 {
		parts = append(parts, "next try in "+Since(max(time.Duration(server.NextTry*float64(time.Second)), time.Second)))
	}
	if len(parts) == 0 {
		return server.LastError
	}
	return strings.Join(parts, ", ") + ": " + server.LastError
}

func number(n int) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprint(n)
}

// Megabytes formats a size of memory for a table.
func Megabytes(bytes int64) string {
	if bytes == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f MB", float64(bytes)/1e6)
}

// Processor formats how much of one processor a server uses.
func Processor(server control.Server) string {
	switch {
	case server.Memory == 0:
		return "-"
	case server.CPU > 0 && server.CPU < 1:
		return "<1%"
	}
	return fmt.Sprintf("%.0f%%", server.CPU)
}

// Since formats a duration for a table.
func Since(d time.Duration) string {
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
