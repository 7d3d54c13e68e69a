package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/configwrite"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/completion"
)

func newDescribe(g *globals) *cobra.Command {
	var flags editFlags
	cmd := &cobra.Command{
		Use:   "describe TOOLBOX TEXT",
		Short: "Say what a toolbox is for",
		Long: `Set the description of a toolbox. Models read it to decide whether to open the toolbox. The
rest of the file is kept, including comments, and a running workbench reloads automatically.

Descriptions that init and add write name the servers of the toolbox, and follow when these
change. One that you write yourself stays as it is.`,
		Example: `  mcp-workbench describe dev 'Repositories and issues of the web shop'
  mcp-workbench describe dev 'Repositories and issues' --dry-run`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 || strings.TrimSpace(strings.Join(args[1:], " ")) == "" {
				return &usageError{err: errors.New("describe needs a toolbox and a text, such as: describe dev 'Repositories and issues'")}
			}
			return nil
		},
		ValidArgsFunction: completion.One(completion.Toolboxes(&g.Loader)),
		RunE: func(cmd *cobra.Command, args []string) error {
			edits, err := g.readEdits(cmd, flags)
			if err != nil {
				return err
			}
			return runDescribe(cmd, edits, args[0], strings.TrimSpace(strings.Join(args[1:], " ")))
		},
	}
	flags.add(cmd)
	return cmd
}

func runDescribe(cmd *cobra.Command, edits []*edit, ref, text string) error {
	e, box, err := findToolbox(edits, ref)
	if err != nil {
		return err
	}
	if err := e.describe(box.Toolbox, text); err != nil {
		return err
	}
	done, err := e.apply(cmd.Context(), "")
	switch {
	case err != nil:
		return err
	case done:
		e.reportDone("Described %s in %s.", box.Describe(), shortenHome(e.Path))
	case !e.flags.dryRun:
		fmt.Fprintf(e.screen, "Nothing to change: this is the description of %s already.\n", box.Describe())
	}
	return nil
}

// findToolbox finds the toolbox that a reference names, and its file. A server of the same name is not meant.
func findToolbox(edits []*edit, ref string) (*edit, configwrite.Entry, error) {
	if box := strings.TrimSuffix(ref, "/"); box != "" {
		for _, name := range []string{ref, box} {
			for _, e := range edits {
				if found := (configwrite.Entry{Toolbox: name}); e.Has(found) {
					e.entries = append(e.entries, found.Ref())
					return e, found, nil
				}
			}
		}
	}
	all := &config.Preview{}
	for _, e := range edits {
		all.Add(e.Outline)
	}
	_, err := all.Places().Find(ref, toolbox.ToolboxOnly)
	if found, isServer := configwrite.Locate(all, ref); isServer == nil {
		err = &toolbox.Error{
			Code:    toolbox.ReferenceNotFound,
			Message: fmt.Sprintf("'%s' is a server, not a toolbox", tty.CleanLine(ref)),
			Hint:    tty.CleanLine("Its toolbox is '" + found.Toolbox + "'."),
		}
	}
	return nil, configwrite.Entry{}, err
}
