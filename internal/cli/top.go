package cli

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/top"
)

func newTop() *cobra.Command {
	var which workbenchFlag
	var every time.Duration
	var tools bool
	cmd := &cobra.Command{
		Use:   "top",
		Short: "Watch running workbenches: servers, calls, questions, logs",
		Long: `Watch the running workbenches: panes with their servers, the calls as they run and end, the
requests by tool, the clients, the questions that wait, and the log of a server.

Tab and 1 to 6 change the pane, arrows, j and k move, / filters, s sorts, Enter shows details.
r restarts a server, x cancels a running call, l opens a log, Enter answers a question, after
a confirmation. ? lists all keys. q or Ctrl-C quits.`,
		Example: `  mcp-workbench top
  mcp-workbench top --tools          begin with the requests by tool
  mcp-workbench top --interval 5s    draw at most every 5 seconds`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			screen := screenOf(cmd)
			if !screen.IsInteractive() {
				return &toolbox.Error{Code: toolbox.NeedsTerminal, Message: "top needs a terminal", Hint: "See: mcp-workbench ps --json"}
			}
			if !screen.CanUpdate() {
				return &toolbox.Error{Code: toolbox.NeedsTerminal, Message: "top needs a terminal that can move the cursor, which TERM=dumb cannot", Hint: "See: mcp-workbench ps"}
			}
			return top.Run(cmd.Context(), screen, top.Running(which.findQuietly), top.Options{Version: Version, Tools: tools, Every: max(every, 50*time.Millisecond)})
		},
	}
	which.defineForAll(cmd)
	cmd.Flags().DurationVar(&every, "interval", 200*time.Millisecond, "draw what changed at most this often")
	cmd.Flags().BoolVar(&tools, "tools", false, "begin with the requests by tool")
	return cmd
}
