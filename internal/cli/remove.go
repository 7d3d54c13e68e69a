package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/completion"
)

func newRemove(g *globals) *cobra.Command {
	var flags editFlags
	cmd := &cobra.Command{
		Use:     "remove SERVER|TOOLBOX...",
		Aliases: []string{"rm"},
		Short:   "Remove a server or a toolbox from the configuration",
		Long: `Remove servers or whole toolboxes from the file that has them, ./workbench-config.json or
your own. The rest of the file is kept, including comments.

` + serverOrToolboxWords,
		Example: `  mcp-workbench remove dev/github
  mcp-workbench remove github           if only one toolbox has it
  mcp-workbench remove dev --dry-run    see the diff`,
		Args:              atLeastOne("remove needs a server or a toolbox, such as dev/github"),
		ValidArgsFunction: completion.Servers(&g.Loader),
		RunE: func(cmd *cobra.Command, args []string) error {
			edits, err := g.readEdits(cmd, flags)
			if err != nil {
				return err
			}
			return runRemove(cmd.Context(), edits, args)
		},
	}
	flags.add(cmd)
	return cmd
}

// atLeastOne refuses a command line without arguments.
func atLeastOne(problem string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return &usageError{err: errors.New(problem)}
		}
		return nil
	}
}

func runRemove(ctx context.Context, edits []*edit, refs []string) error {
	removed := make(map[*edit][]string)
	for _, ref := range refs {
		e, p, err := findEntry(edits, ref)
		if err != nil {
			return err
		}
		if err := e.Remove(p.Path()); err != nil {
			return err
		}
		removed[e] = append(removed[e], p.Describe())
	}
	for _, e := range edits {
		if len(removed[e]) == 0 {
			continue
		}
		if err := e.finishRemoval(ctx, strings.Join(removed[e], ", ")); err != nil {
			return err
		}
	}
	return nil
}

// finishRemoval writes one file after removals.
func (e *edit) finishRemoval(ctx context.Context, what string) error {
	done, err := e.apply(ctx, "Remove "+what+"?")
	if err != nil || !done {
		return err
	}
	e.reportDone("Removed %s from %s.", what, shortenHome(e.Path))
	if left := e.Orphans(); len(left) > 0 {
		fmt.Fprintf(e.screen, "%s is no longer used, but still in %s.\n", tty.CleanLine(strings.Join(left, ", ")), shortenHome(config.EnvPath(e.Path)))
	}
	return nil
}
