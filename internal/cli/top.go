package cli

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/overview"
)

func newTop() *cobra.Command {
	var which workbenchFlag
	var every time.Duration
	var tools bool
	top := &cobra.Command{
		Use:   "top",
		Short: "Watch the servers of running workbenches",
		Long:  `Show the output of 'mcp-workbench ps' and keep it up to date. Press q or Ctrl-C to quit.`,
		Example: `  mcp-workbench top
  mcp-workbench top --interval 5s`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			screen := screenOf(cmd)
			if !screen.IsInteractive() {
				return &toolbox.Error{Code: toolbox.NeedsTerminal, Message: "top needs a terminal", Hint: "See: mcp-workbench ps --json"}
			}
			return overview.Watch(cmd.Context(), screen, which.find, max(every, 100*time.Millisecond), overview.Options{Version: Version, Tools: tools})
		},
	}
	which.defineForAll(top)
	top.Flags().DurationVar(&every, "interval", time.Second, "refresh interval")
	top.Flags().BoolVar(&tools, "tools", false, toolsUsage)
	return top
}
