package cli

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/terminal/completion"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/console"
)

// The same limits as in find_tools.
const (
	usualFound = 5
	mostFound  = 50 // tools that one search returns; a larger --limit is refused
)

func newFind(g *globals) *cobra.Command {
	var options console.FindOptions
	var how aloneFlag
	cmd := &cobra.Command{
		Use:   "find QUERY",
		Short: "Find tools by what they do",
		Long: `Find tools by what they do, with the same ranking as find_tools. Servers that were never
connected are started for it.`,
		Example: `  mcp-workbench find read a file
  mcp-workbench find 'commits of a branch' --toolbox dev
  mcp-workbench find weather --limit 20 --json`,
		ValidArgsFunction: cobra.NoFileCompletions,
		Args: func(_ *cobra.Command, args []string) error {
			if strings.TrimSpace(strings.Join(args, "")) == "" {
				return &usageError{err: errors.New("find needs a few words about what the tool should do")}
			}
			if options.Limit < 1 || options.Limit > mostFound {
				return &usageError{err: errors.New("--limit takes a number from 1 to 50")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := g.newConsole(cmd, how)
			if err != nil {
				return err
			}
			options.Query = strings.Join(args, " ")
			return c.Find(cmd.Context(), options)
		},
	}
	cmd.Flags().StringVar(&options.Toolbox, "toolbox", "", "search this toolbox only")
	completion.Register(cmd, "toolbox", completion.Toolboxes(&g.Loader))
	cmd.Flags().IntVar(&options.Limit, "limit", usualFound, "number of tools to show, up to 50")
	addJSONFlag(cmd, &options.JSON, "write JSON")
	how.define(cmd)
	return cmd
}
