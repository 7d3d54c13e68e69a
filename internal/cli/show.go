package cli

import (
	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/terminal/completion"
)

func newShow(g *globals) *cobra.Command {
	var asJSON bool
	var how aloneFlag
	cmd := &cobra.Command{
		Use:   "show TOOL|SERVER|TOOLBOX",
		Short: "Show a tool, a server or a toolbox in detail",
		Long: `Show a tool: what it does, its parameters, and its server's hints about its behaviour. For a
server or a toolbox, show the instructions and tools, and the sandbox and limits in force.

` + toolWords + " " + serverWords,
		Example: `  mcp-workbench show dev/files/read
  mcp-workbench show read
  mcp-workbench show dev
  mcp-workbench show read --json | jq .definition.inputSchema`,
		ValidArgsFunction: completion.One(completion.Tools(&g.Loader)),
		Args:              exactly("the name of one tool, server or toolbox"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := g.newConsole(cmd, how)
			if err != nil {
				return err
			}
			return c.Show(cmd.Context(), args[0], asJSON)
		},
	}
	addJSONFlag(cmd, &asJSON, "write JSON")
	how.define(cmd)
	return cmd
}
