package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/trust"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/completion"
)

func newLogs(g *globals) *cobra.Command {
	var which workbenchFlag
	var follow, asJSON bool
	var last int
	logs := &cobra.Command{
		Use:   "logs [SERVER]",
		Short: "Show the stderr of a server, or the log of a workbench",
		Long: `Show the last lines that a server wrote to stderr, across restarts, with secrets masked. A
remote server has none. Without SERVER, show the last lines of the workbench's own log, from
level info on. With --follow, keep printing new lines.

` + serverWords,
		Example: `  mcp-workbench logs dev/github
  mcp-workbench logs github -f
  mcp-workbench logs --pid 4711   of that workbench itself`,
		Args: atMostOne("the name of one server"), ValidArgsFunction: completion.Running,
		RunE: func(cmd *cobra.Command, args []string) error {
			if last < 0 {
				return &usageError{err: errors.New("--lines must not be below 0")}
			}
			client, server, err := which.log(cmd.Context(), g, args)
			if err != nil {
				return err
			}
			if follow {
				if err := announceWait(cmd.Context(), client, server); err != nil {
					return err
				}
			}
			written := 0
			screen := screenOf(cmd)
			ctx, stop := tty.WhileWritable(cmd.Context(), cmd.Root().OutOrStdout())
			defer stop()
			err = client.Logs(ctx, server, last, follow, func(line control.Line) {
				written++
				if asJSON {
					_ = writeJSONLine(cmd.OutOrStdout(), line) // who does not read gets nothing
					return
				}
				fmt.Fprintf(screen.Writer, "%s %s\n", screen.Paint(tty.Faint, line.Time.Local().Format(time.TimeOnly)), tty.Clean(line.Text))
			})
			if follow && errors.Is(err, context.Canceled) {
				return nil // the usual end of following
			}
			if err == nil && written == 0 && last != 0 && !follow {
				tty.Remark(os.Stderr, explainSilence(client.Status, server))
			}
			return err
		},
	}
	which.define(logs)
	logs.Flags().BoolVarP(&follow, "follow", "f", false, "keep printing new lines")
	logs.Flags().IntVarP(&last, "lines", "n", 100, "number of last lines to show")
	addJSONFormFlag(logs, &asJSON, jsonLines, "write each line as a JSON object")
	return logs
}

// log returns the workbench whose log is meant, and the server; one without a name for the workbench itself.
func (r *workbenchFlag) log(ctx context.Context, g *globals, args []string) (*control.Client, control.Server, error) {
	if len(args) == 1 {
		return r.server(ctx, g, args[0])
	}
	found, err := r.find(ctx)
	if err == nil && len(found) > 1 {
		err = control.SeveralRunning(found, "Several workbenches are running", "Say whose log is meant")
	}
	if err != nil {
		return nil, control.Server{}, err
	}
	return found[0], control.Server{}, nil
}

// announceWait tells a person who follows an empty log what it waits for: otherwise nothing would be seen.
func announceWait(ctx context.Context, client *control.Client, server control.Server) error {
	isEmpty := true
	if err := client.Logs(ctx, server, 1, false, func(control.Line) { isEmpty = false }); err != nil {
		return err
	}
	if isEmpty {
		tty.Remark(os.Stderr, explainSilence(client.Status, server)+". Waiting for its first line; Ctrl-C ends this")
	}
	return nil
}

// explainSilence says why a log is empty.
func explainSilence(workbench control.Workbench, server control.Server) string {
	switch {
	case server.Name == "":
		return fmt.Sprintf("The workbench with process id %d has logged nothing since it started", workbench.PID)
	case server.Remote && server.LastError != "":
		return fmt.Sprintf("%s is a remote server: its log is where it runs. It cannot be used: %s", server.Ref(), server.LastError)
	case server.Remote:
		return fmt.Sprintf("%s is a remote server: its log is where it runs", server.Ref())
	case server.LastError != "":
		return fmt.Sprintf("%s wrote nothing to stderr. It does not run: %s", server.Ref(), server.LastError)
	case server.Starts == 0:
		return fmt.Sprintf("%s has not started in this workbench: a server starts when it is needed. To start it now: %s",
			server.Ref(), trust.Quote("mcp-workbench", "restart", server.Ref()))
	}
	return server.Ref() + " has written nothing to stderr"
}
