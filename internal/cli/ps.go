package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/overview"
)

func newPS() *cobra.Command {
	var which workbenchFlag
	var asJSON, tools bool
	ps := &cobra.Command{
		Use:   "ps",
		Short: "Show the running workbenches and the state of their servers",
		Long: `Show the running workbenches: their clients with name, version and folder, the state of the
configuration, and their servers with the calls of the last minutes (count, errors, median
and 95th percentile of the duration) and the failures, with the time of the next try.

CALLS are calls of tools; lists, resources and other requests are in --tools and --json.`,
		Example: `  mcp-workbench ps
  mcp-workbench ps --tools   the requests by tool
  mcp-workbench ps --json
  mcp-workbench top          the same, refreshed`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			found, err := which.find(cmd.Context())
			if absent, ok := errors.AsType[*toolbox.Error](err); ok && asJSON && absent.Code == toolbox.NotRunning && which.pid == 0 {
				err = nil // an empty list is a valid answer
			}
			if err != nil {
				return err
			}
			seen := make([]control.Workbench, len(found))
			for i, client := range found {
				seen[i] = client.Status
			}
			if asJSON {
				return writeJSON(cmd, struct {
					Workbenches []control.Workbench `json:"workbenches"`
				}{seen})
			}
			overview.Show(screenOf(cmd), seen, overview.Options{Version: Version, Tools: tools})
			return nil
		},
	}
	which.defineForAll(ps)
	addJSONFlag(ps, &asJSON, "write the state as JSON")
	ps.Flags().BoolVar(&tools, "tools", false, toolsUsage)
	return ps
}

const toolsUsage = "show the requests by tool"
