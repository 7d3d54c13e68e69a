package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/completion"
)

func newLogs() *cobra.Command {
	var which workbenchFlag
	var follow, asJSON bool
	var last int
	logs := &cobra.Command{
		Use:   "logs SERVER",
		Short: "Show the stderr of a server of a running workbench",
		Long: `Show the last lines that a server wrote to stderr, across restarts, with secrets masked. A
remote server has none. With --follow, keep printing new lines.

` + serverWords,
		Example: `  mcp-workbench logs dev/github
  mcp-workbench logs github -f`,
		Args: exactly("the name of one server"), ValidArgsFunction: completion.Running,
		RunE: func(cmd *cobra.Command, args []string) error {
			client, server, err := which.server(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			screen := screenOf(cmd)
			ctx, stop := tty.WhileWritable(cmd.Context(), cmd.Root().OutOrStdout())
			defer stop()
			err = client.Logs(ctx, server, last, follow, func(line control.Line) {
				if asJSON {
					_ = writeJSONLine(cmd.OutOrStdout(), line) // who does not read gets nothing
					return
				}
				fmt.Fprintf(screen, "%s %s\n", screen.Paint(tty.Faint, line.Time.Local().Format(time.TimeOnly)), tty.Clean(line.Text))
			})
			if follow && errors.Is(err, context.Canceled) {
				return nil // the usual end of following
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
