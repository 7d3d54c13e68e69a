package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/terminal/arguments"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/console"
)

// completeCall completes the name of a tool, and then its arguments by the schema that was
// seen before: nothing is started.
func completeCall(g *globals) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return completeTools(g)(cmd, args, typed)
		}
		if strings.HasPrefix(typed, "@") {
			return nil, cobra.ShellCompDirectiveDefault // files
		}
		tool, ok := console.Named(args[0], g.Cached(cmd.Context()))
		if !ok {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		directive := cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
		var found []cobra.Completion
		for _, s := range arguments.Complete(args[1:], typed, tool.Definition.Member("inputSchema")) {
			if s.Partial {
				directive |= cobra.ShellCompDirectiveNoSpace
			}
			found = offer(found, typed, s.Word, s.Description)
		}
		if len(found) == 0 && strings.Contains(typed, "=") {
			return nil, cobra.ShellCompDirectiveDefault // a value may be the name of a file
		}
		return found, directive
	}
}
