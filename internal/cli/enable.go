package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/setup/configwrite"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/completion"
)

func newEnable(g *globals) *cobra.Command {
	return newSwitch(g, "enable", "Enable a disabled server", "Enabled", func(e *edit, path []string) error { return e.Remove(path) })
}

// newSwitch makes 'enable' and 'disable', which set or remove one key.
func newSwitch(g *globals, name, short, done string, change func(*edit, []string) error) *cobra.Command {
	var flags editFlags
	cmd := &cobra.Command{
		Use:   name + " SERVER|TOOLBOX...",
		Short: short,
		Long: short + `. The rest of the file is kept, including comments, and a
running workbench reloads automatically.

` + serverOrToolboxWords,
		Example: fmt.Sprintf("  mcp-workbench %[1]s dev/github\n  mcp-workbench %[1]s dev", name),
		Args:    atLeastOne(name + " takes what to " + name + ", such as dev/github"),

		ValidArgsFunction: completion.Servers(&g.Loader),
		RunE: func(cmd *cobra.Command, args []string) error {
			edits, err := g.readEdits(cmd, flags)
			if err != nil {
				return err
			}
			return runSwitch(cmd.Context(), edits, args, done, change)
		},
	}
	flags.add(cmd)
	return cmd
}

func runSwitch(ctx context.Context, edits []*edit, refs []string, doneWord string, change func(*edit, []string) error) error {
	changed := make(map[*edit][]string)
	for _, ref := range refs {
		e, p, err := findEntry(edits, ref)
		if err != nil {
			return err
		}
		for _, server := range p.Servers(e.Outline) {
			at := configwrite.Entry{Toolbox: server.Toolbox, Server: server.Name}
			if err := change(e, append(at.Path(), "disabled")); err != nil {
				return err
			}
		}
		changed[e] = append(changed[e], p.Describe())
	}
	for _, e := range edits {
		if len(changed[e]) == 0 {
			continue
		}
		if err := e.finishSwitch(ctx, strings.Join(changed[e], ", "), doneWord); err != nil {
			return err
		}
	}
	return nil
}

// finishSwitch writes one file in which servers were enabled or disabled.
func (e *edit) finishSwitch(ctx context.Context, what, doneWord string) error {
	done, err := e.apply(ctx, "")
	switch {
	case err != nil:
		return err
	case done:
		e.reportDone("%s %s in %s.", doneWord, what, shortenHome(e.Path))
	case !e.flags.dryRun:
		fmt.Fprintf(e.screen, "Nothing to change: %s is %s already.\n", what, strings.ToLower(doneWord))
	}
	return nil
}
