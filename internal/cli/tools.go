package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/terminal/completion"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/console"
)

func newTools(g *globals) *cobra.Command {
	var options console.ListOptions
	var how aloneFlag
	cmd := &cobra.Command{
		Use:   "tools [SERVER|TOOLBOX]",
		Short: "List the tools of all toolboxes, or of one toolbox or server",
		Long: `List the tools of all toolboxes, or of one toolbox or server. Tool lists are cached: only
servers that were never connected are started. --refresh asks all of them.

` + serverOrToolboxWords + `

The exit status is 0 if at least one server could be listed.`,
		Example: `  mcp-workbench tools
  mcp-workbench tools dev
  mcp-workbench tools dev/git --refresh
  mcp-workbench tools --json | jq -r '.tools[].ref'`,
		ValidArgsFunction: completion.One(completion.Servers(&g.Loader)),
		Args:              atMostOne("one toolbox or server"),
		RunE: func(cmd *cobra.Command, args []string) error {
			options.Of = strings.Join(args, "")
			c, err := g.newConsole(cmd, how)
			if err != nil {
				return err
			}
			return c.List(cmd.Context(), options)
		},
	}
	cmd.Flags().BoolVar(&options.Refresh, "refresh", false, "ask all servers instead of using the cache")
	addJSONFlag(cmd, &options.JSON, "write JSON")
	how.define(cmd)
	return cmd
}
