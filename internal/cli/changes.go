package cli

import (
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/changes"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/completion"
)

type changesFlags struct {
	workbenchFlag
	accept []string
	asJSON bool
}

func newChanges() *cobra.Command {
	var flags changesFlags
	cmd := &cobra.Command{
		Use:   "changes [NAME…]",
		Short: "Show changed definitions of tools, and accept them",
		Long: `Show which definitions of tools, and instructions of servers, changed in running workbenches
since they were first seen or accepted, line by line. Invisible characters are drawn, as
⟨U+200B⟩, and secrets are masked. NAME is a TOOL, SERVER:instructions, a SERVER or a TOOLBOX.

With --accept, accept what is offered now: its mark and its warnings go, and its hints
count. With "locked": true it is written to workbench.lock, as 'lock --accept' does. What a
server has changed again meanwhile is refused.

It is confirmed with a code that is shown on the controlling terminal and typed there, so
that a program without a terminal cannot accept.`,
		Example: `  mcp-workbench changes
  mcp-workbench changes dev/files
  mcp-workbench changes --accept dev/files/read
  mcp-workbench changes --json`,
		ValidArgsFunction: completion.Changes,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(flags.accept) > 0 {
				return flags.run(cmd, args)
			}
			return flags.show(cmd, args)
		},
	}
	flags.defineForAll(cmd)
	cmd.Flags().StringArrayVar(&flags.accept, "accept", nil, "accept what NAME offers now; may be repeated")
	addJSONFlag(cmd, &flags.asJSON, "write the changes, or what was accepted, as JSON")
	completion.Register(cmd, "accept", completion.Changes)
	return cmd
}

// show writes the changes. Nothing running is an empty list in JSON.
func (f *changesFlags) show(cmd *cobra.Command, names []string) error {
	found, err := f.find(cmd.Context())
	if absent, ok := errors.AsType[*toolbox.Error](err); ok && f.asJSON && absent.Code == toolbox.NotRunning && f.pid == 0 {
		err = nil
	}
	if err != nil {
		return err
	}
	all, more, err := changes.List(cmd.Context(), found)
	if err != nil {
		tty.Remark(os.Stderr, err.Error())
	}
	selected, err := changes.Select(all, names)
	if err != nil {
		return err
	}
	if f.asJSON {
		return writeJSON(cmd, struct {
			Changes []changes.Change `json:"changes"`
			More    int              `json:"more,omitempty"` // that are left out
		}{selected, more})
	}
	changes.ShowAll(screenOf(cmd), selected, more)
	return nil
}

// run has the person at the controlling terminal accept changes.
func (f *changesFlags) run(cmd *cobra.Command, names []string) error {
	if len(names) > 0 {
		return &usageError{err: errors.New("changes takes names, or --accept with names, not both")}
	}
	terminal, err := tty.OpenControlling(os.Getenv)
	if err != nil {
		return &toolbox.Error{
			Code: toolbox.NeedsTerminal, Message: "changes --accept needs a terminal, so that a person accepts",
			Hint: "Run it in a terminal of your own. To list what changed: mcp-workbench changes", Cause: err,
		}
	}
	defer terminal.Close()
	found, err := f.find(cmd.Context())
	if err != nil {
		return err
	}
	all, _, err := changes.List(cmd.Context(), found)
	if err != nil {
		tty.Remark(os.Stderr, err.Error())
	}
	selected, err := changes.Select(all, f.accept)
	if err != nil {
		return err
	}
	accepted, err := changes.Accept(cmd.Context(), terminal.Screen, selected)
	if !f.asJSON {
		return err
	}
	done := acceptedChanges{[]acceptedChange{}}
	for _, one := range accepted {
		done.Accepted = append(done.Accepted, acceptedChange{one.PID, one.Ref(), one.Hash})
	}
	return errors.Join(writeJSON(cmd, done), err)
}

// acceptedChanges is the JSON of 'changes --accept'.
type acceptedChanges struct {
	Accepted []acceptedChange `json:"accepted"`
}

type acceptedChange struct {
	Workbench int    `json:"pid"`
	Ref       string `json:"ref"`
	Hash      string `json:"hash"`
}
