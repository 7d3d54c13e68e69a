package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/configwrite"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/importer"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/completion"
)

func newMove(g *globals) *cobra.Command {
	var flags editFlags
	cmd := &cobra.Command{
		Use:     "move SERVER... TOOLBOX",
		Aliases: []string{"mv"},
		Short:   "Move servers to another toolbox",
		Long: `Move servers to another toolbox of the same file, which is created if it does not exist. The
rest of the file is kept, including comments.

` + serverWords + `

What refers to a server follows as in 'rename', and what cannot follow is shown.`,
		Example: `  mcp-workbench move github code
  mcp-workbench move dev/github dev/gitlab code --dry-run`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 || strings.TrimSuffix(args[len(args)-1], "/") == "" {
				return &usageError{err: errors.New("move needs a server and a toolbox, such as: move dev/github code")}
			}
			return nil
		},
		ValidArgsFunction: completion.Servers(&g.Loader),
		RunE: func(cmd *cobra.Command, args []string) error {
			edits, err := g.readEdits(cmd, flags)
			if err != nil {
				return err
			}
			return runMove(cmd, edits, args[:len(args)-1], args[len(args)-1])
		},
	}
	flags.add(cmd)
	return cmd
}

func runMove(cmd *cobra.Command, edits []*edit, refs []string, ref string) error {
	var e *edit
	var all []configwrite.Relocation
	target, box, err := findToolbox(edits, ref)
	if err != nil { // a new one
		box = configwrite.Entry{Toolbox: strings.TrimSuffix(ref, "/")}
		if err := refuseSlash("toolbox", box.Toolbox, "Name a toolbox alone"); err != nil {
			return err
		}
	}
	var names []string
	for _, ref := range refs {
		in, from, err := findServer(edits, ref)
		if err != nil {
			return err
		}
		if e == nil {
			e = in
		}
		if e != in || target != nil && target != e {
			return otherFile(from, in, box, target)
		}
		to := configwrite.Entry{Toolbox: box.Toolbox, Server: from.Server}
		if err := e.refuseTaken(from, to); err != nil {
			return err
		}
		all = append(all, configwrite.Relocation{From: from, To: to})
		names = append(names, from.Describe())
	}
	if target == nil {
		if err := refuseUnreadable("the name of the new toolbox", box.Toolbox); err != nil {
			return err
		}
		if err := e.makeToolboxFor(box.Toolbox, all); err != nil {
			return err
		}
	}
	return e.relocate(cmd.Context(), edits, all, func() {
		e.reportDone("Moved %s to toolbox '%s' in %s.", strings.Join(names, ", "), tty.CleanLine(box.Toolbox), shortenHome(e.Path))
		e.reportEmpty(all)
	})
}

// findServer finds the server that a reference names, and its file.
func findServer(edits []*edit, ref string) (*edit, configwrite.Entry, error) {
	e, found, err := findEntry(edits, ref)
	if err == nil && found.Server == "" {
		err = &toolbox.Error{
			Code:    toolbox.ReferenceNotFound,
			Message: fmt.Sprintf("'%s' is a toolbox, and servers are moved", tty.CleanLine(ref)),
			Hint:    tty.CleanLine("Name its servers, or give it another name: " + commandOn(e.Path, "rename", found.Toolbox, "NAME")),
		}
	}
	return e, found, err
}

// otherFile refuses a move from one file to another: variables and approvals belong to a file.
func otherFile(from configwrite.Entry, in *edit, box configwrite.Entry, target *edit) error {
	where := "other servers to move are in another file"
	if target != nil {
		where = fmt.Sprintf("%s is in %s", box.Describe(), shortenHome(target.Path))
	}
	return &toolbox.Error{
		Code:    toolbox.ConfigNotEditable,
		Message: fmt.Sprintf("Servers are moved within one file: %s is in %s, and %s", from.Describe(), shortenHome(in.Path), where),
		Hint:    "Remove it from the one and add it to the other, or edit the files by hand.",
	}
}

// makeToolboxFor adds a toolbox for servers that move to it.
func (e *edit) makeToolboxFor(name string, all []configwrite.Relocation) error {
	var served, disabled []string
	for _, r := range all {
		for _, server := range r.From.Servers(e.Outline) {
			if server.Disabled {
				disabled = append(disabled, server.Name)
			} else {
				served = append(served, server.Name)
			}
		}
	}
	if len(served) == 0 {
		served = disabled
	}
	if err := e.describe(name, importer.Describe(served)); err != nil {
		return err
	}
	return e.Set([]string{"toolboxes", name, "mcpServers"}, []byte("{}"))
}

// reportEmpty names toolboxes that have lost their last server.
func (e *edit) reportEmpty(all []configwrite.Relocation) {
	moved := make(map[string]int)
	for _, r := range all {
		if r.From.Toolbox != r.To.Toolbox {
			moved[r.From.Toolbox]++
		}
	}
	for _, box := range e.Outline.Toolboxes {
		entry := configwrite.Entry{Toolbox: box.Name}
		if n := moved[box.Name]; n > 0 && n == len(entry.Servers(e.Outline)) {
			fmt.Fprintf(e.screen, "%s has no servers now. To remove it: %s\n", upperFirst(entry.Describe()), tty.CleanLine(commandOn(e.Path, "remove", box.Name)))
		}
	}
}

func upperFirst(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
