package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/configwrite"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/completion"
)

func newRename(g *globals) *cobra.Command {
	var flags editFlags
	cmd := &cobra.Command{
		Use:   "rename SERVER|TOOLBOX NEW",
		Short: "Rename a toolbox or a server",
		Long: `Rename a toolbox or a server in the file that has it, ./workbench-config.json or your own.
The rest of the file is kept, including comments. NEW is the new name alone.

` + serverWords + `

Pinned tools and rules of the policy in the same file that name it in full follow, and so
does what workbench.lock approves. Logins belong to the address of a server, and stay. What
cannot follow is shown: rules with a * in the name, clients and tokens for this toolbox.`,
		Example: `  mcp-workbench rename dev work
  mcp-workbench rename dev/github hub
  mcp-workbench rename dev work --dry-run`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 || args[1] == "" {
				return &usageError{err: errors.New("rename needs a toolbox or a server, and its new name, such as: rename dev/github hub")}
			}
			return refuseUnreadable("the new name", args[1])
		},
		ValidArgsFunction: completion.One(completion.Servers(&g.Loader)),
		RunE: func(cmd *cobra.Command, args []string) error {
			edits, err := g.readEdits(cmd, flags)
			if err != nil {
				return err
			}
			e, from, err := findEntry(edits, args[0])
			if err != nil {
				return err
			}
			to, err := e.renamed(from, args[1])
			if err != nil {
				return err
			}
			return e.relocate(cmd.Context(), edits, []configwrite.Relocation{{From: from, To: to}}, func() {
				e.reportDone("Renamed %s to '%s' in %s.", from.Describe(), tty.CleanLine(nameOf(to)), shortenHome(e.Path))
			})
		},
	}
	flags.add(cmd)
	return cmd
}

// nameOf returns the own name of an entry.
func nameOf(entry configwrite.Entry) string {
	if entry.Server == "" {
		return entry.Toolbox
	}
	return entry.Server
}

// renamed returns the entry under its new name, which must be free in the file.
func (e *edit) renamed(from configwrite.Entry, name string) (configwrite.Entry, error) {
	to := configwrite.Entry{Toolbox: name}
	if from.Server == "" {
		if err := refuseSlash("toolbox", name, "Name it without a slash, such as '"+strings.ReplaceAll(name, "/", "-")+"'"); name != from.Toolbox && err != nil {
			return to, err
		}
	} else {
		// Some write the whole reference again.
		to = configwrite.Entry{Toolbox: from.Toolbox, Server: strings.TrimPrefix(name, from.Toolbox+"/")}
		if box, rest, ok := e.otherToolbox(from, name); ok {
			return to, &toolbox.Error{
				Code:    toolbox.AmbiguousName,
				Message: fmt.Sprintf("'%s' is in toolbox '%s', and a new name does not move a server", tty.CleanLine(name), tty.CleanLine(box)),
				Hint:    tty.CleanLine(fmt.Sprintf("Rename it to '%s', or move it: %s", rest, commandOn(e.Path, "move", from.String(), box))),
			}
		}
		box, rest, _ := strings.Cut(to.Server, "/")
		hint := fmt.Sprintf("Rename it to '%s', or move it to a toolbox: %s", strings.ReplaceAll(rest, "/", "-"), commandOn(e.Path, "move", from.String(), box))
		if err := refuseSlash("server", to.Server, hint); to != from && err != nil {
			return to, err
		}
	}
	return to, e.refuseTaken(from, to)
}

// otherToolbox returns the other toolbox that a new name of a server starts with.
func (e *edit) otherToolbox(from configwrite.Entry, name string) (box, rest string, ok bool) {
	for _, other := range e.Outline.Toolboxes {
		if rest, ok := strings.CutPrefix(name, other.Name+"/"); ok && other.Name != from.Toolbox {
			return other.Name, rest, true
		}
	}
	return "", "", false
}

// refuseTaken refuses a name that another entry has.
func (e *edit) refuseTaken(from, to configwrite.Entry) error {
	if to == from || !e.Has(to) {
		return nil
	}
	code := toolbox.ServerExists
	message := fmt.Sprintf("Toolbox '%s' has a server '%s' already", tty.CleanLine(to.Toolbox), tty.CleanLine(to.Server))
	hint := "Choose another name."
	switch {
	case to.Server == "":
		code, message = toolbox.ToolboxExists, fmt.Sprintf("There is a toolbox '%s' already", tty.CleanLine(to.Toolbox))
		hint += " To put servers into it: " + commandOn(e.Path, "move", from.Toolbox+"/SERVER", to.Toolbox)
	case from.Toolbox != to.Toolbox:
		hint = "Rename one of them first: " + commandOn(e.Path, "rename", from.String(), "NAME")
	}
	return &toolbox.Error{Code: code, Message: message, Hint: tty.CleanLine(hint)}
}

// isNamed reports whether one of the relocations is about a whole toolbox of this name.
func isNamed(all []configwrite.Relocation, box string) bool {
	return slices.ContainsFunc(all, func(r configwrite.Relocation) bool {
		return r.From == configwrite.Entry{Toolbox: box} && r.To != r.From
	})
}
