package completion

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/app/loader"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/arguments"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/console"
)

// Call completes the name of a tool, and then its arguments from the cached input schema.
func Call(l *loader.Loader) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return Tools(l)(cmd, args, typed)
		}
		if strings.HasPrefix(typed, "@") {
			return nil, cobra.ShellCompDirectiveDefault // files
		}
		tool, ok := console.Named(args[0], l.Cached(cmd.Context()))
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
			return nil, cobra.ShellCompDirectiveDefault // a value may be a file name
		}
		return found, directive
	}
}
