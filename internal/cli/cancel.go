package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/completion"
)

type cancelFlags struct {
	workbenchFlag
	asJSON bool
}

func newCancel() *cobra.Command {
	var flags cancelFlags
	cmd := &cobra.Command{
		Use:   "cancel [ID]",
		Short: "List the calls that run, or cancel one",
		Long: `Cancel a call that runs: its server is told to stop, and the client gets an error result that
says a person cancelled it. What the server did until then is not undone. Other requests to
servers, such as reading a resource, are cancelled in the same way.

Without an ID, list what runs, in all running workbenches.`,
		Example: `  mcp-workbench cancel
  mcp-workbench cancel k3f9qab`,
		Args: flags.checkArguments, ValidArgsFunction: completion.RunningCalls,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return flags.list(cmd)
			}
			return flags.cancel(cmd, args[0])
		},
	}
	flags.defineForAll(cmd)
	addJSONFlag(cmd, &flags.asJSON, "write what runs, or the result, as JSON")
	return cmd
}

func (f *cancelFlags) checkArguments(_ *cobra.Command, args []string) error {
	if len(args) > 1 {
		return &usageError{err: errors.New("cancel takes the ID of one call")}
	}
	return nil
}

// runningCall is a call that runs in a workbench.
type runningCall struct {
	PID int `json:"pid"` // of the workbench
	control.RunningCall

	workbench *control.Client
}

// runningCalls returns what runs, the oldest first, and how much more does. Workbenches that do not answer are named on stderr.
func runningCalls(ctx context.Context, found []*control.Client) (all []runningCall, more int) {
	all = []runningCall{}
	for _, workbench := range found {
		running, err := workbench.Running(ctx)
		if err != nil {
			tty.Remark(os.Stderr, fmt.Sprintf("the workbench with process id %d does not answer: %v", workbench.Status.PID, err))
		}
		for _, one := range running.Calls {
			all = append(all, runningCall{workbench.Status.PID, one, workbench})
		}
		more += running.More
	}
	slices.SortStableFunc(all, func(a, b runningCall) int { return a.Since.Compare(b.Since) })
	return all, more
}

// list shows what runs. Nothing running is an empty list in JSON.
func (f *cancelFlags) list(cmd *cobra.Command) error {
	found, err := f.find(cmd.Context())
	if absent, ok := errors.AsType[*toolbox.Error](err); ok && absent.Code == toolbox.NotRunning && f.pid == 0 && f.asJSON {
		err = nil
	}
	if err != nil {
		return err
	}
	all, more := runningCalls(cmd.Context(), found)
	if f.asJSON {
		return writeJSON(cmd, struct {
			Calls []runningCall `json:"calls"`
			More  int           `json:"more,omitempty"`
		}{all, more})
	}
	screen := screenOf(cmd)
	if len(all) == 0 {
		fmt.Fprintln(screen, "No call runs")
		return nil
	}
	screen.Table(runningTable(all))
	if more > 0 {
		fmt.Fprintf(screen, "%d more run\n", more)
	}
	return nil
}

// runningTable is what runs as a table, with whose clients they are where those are of people.
func runningTable(all []runningCall) (header []string, rows [][]tty.Cell) {
	header = []string{"ID", "CALL", "CLIENT", "FOR", "WAITS FOR"}
	const afterClient = 3
	hasCallers := slices.ContainsFunc(all, func(one runningCall) bool { return config.MayBeElsewhere(one.Caller) })
	if hasCallers {
		header = slices.Insert(header, afterClient, "CALLER")
	}
	for _, one := range all {
		row := []tty.Cell{
			{Text: one.ID, Style: tty.Name}, {Text: one.what()}, {Text: one.Client}, {Text: time.Since(one.Since).Round(time.Second).String()}, {Text: one.Phase},
		}
		if hasCallers {
			row = slices.Insert(row, afterClient, tty.Cell{Text: one.Caller})
		}
		rows = append(rows, row)
	}
	return header, rows
}

// what names the tool of a call, or the method of another request and its server.
func (c *runningCall) what() string {
	if c.Tool != "" {
		return c.Toolbox + "/" + c.Server + "/" + c.Tool
	}
	return strings.TrimSpace(c.Method + " " + c.Toolbox + "/" + c.Server)
}

// cancel cancels the call with an ID, in whatever case it is typed.
func (f *cancelFlags) cancel(cmd *cobra.Command, id string) error {
	found, err := f.find(cmd.Context())
	if err != nil {
		return err
	}
	all, _ := runningCalls(cmd.Context(), found)
	at := slices.IndexFunc(all, func(one runningCall) bool { return strings.EqualFold(one.ID, id) })
	if at < 0 {
		return control.NotInFlight(id)
	}
	meant := &all[at]
	if err := meant.workbench.Cancel(cmd.Context(), meant.ID); err != nil {
		return err
	}
	if f.asJSON {
		return writeJSON(cmd, meant)
	}
	fmt.Fprintf(tty.Cleaned(cmd.OutOrStdout()), "Cancelled %s\n", meant.what())
	return nil
}
