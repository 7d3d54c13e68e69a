package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/approval"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/approve"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/completion"
)

type approveFlags struct {
	workbenchFlag
	watch, asJSON bool
}

func newApprove() *cobra.Command {
	var flags approveFlags
	cmd := &cobra.Command{
		Use:   "approve [ID [once|same|session|no]]",
		Short: "Answer calls that wait for approval",
		Long: `Show the calls that a rule of the policy lets wait for approval, in all running workbenches,
and ask about each: approve it once, also with the same arguments or any arguments in this
session, refuse it, or decide later. With an ID, only that call is meant.

An approval is confirmed with a code that is shown on the controlling terminal and typed
there, so that a program without a terminal cannot approve. It does not stop a program
that runs as you and makes a terminal of its own.`,
		Example: `  mcp-workbench approve
  mcp-workbench approve --watch         ask about each call as it comes, with a bell
  mcp-workbench approve k3f9q session
  mcp-workbench approve --json          list what waits, without a terminal`,
		Args: flags.checkArguments, ValidArgsFunction: completion.Approvals,
		RunE: func(cmd *cobra.Command, args []string) error {
			if flags.asJSON {
				return flags.list(cmd)
			}
			return flags.run(cmd.Context(), args)
		},
	}
	cmd.Flags().IntVar(&flags.pid, "pid", 0, "process id of the workbench (default: all)")
	cmd.Flags().BoolVar(&flags.watch, "watch", false, "keep asking about further calls, with a bell for each")
	addJSONFlag(cmd, &flags.asJSON, "write what waits as JSON, and ask nothing")
	return cmd
}

func (f *approveFlags) checkArguments(_ *cobra.Command, args []string) error {
	var err error
	switch {
	case f.watch && f.asJSON:
		err = errors.New("--watch and --json exclude each other")
	case len(args) > 0 && (f.watch || f.asJSON):
		err = errors.New("an ID cannot be combined with --watch or --json")
	case len(args) > 2:
		err = errors.New("approve takes the ID of one call, and an answer")
	case len(args) == 2:
		if _, ok := approval.ParseAnswer(args[1]); !ok {
			err = fmt.Errorf("'%s' is not an answer: once, same, session or no", tty.CleanLine(args[1]))
		}
	}
	if err != nil {
		return &usageError{err: err}
	}
	return nil
}

// list writes what waits as JSON. Nothing running is an empty list.
func (f *approveFlags) list(cmd *cobra.Command) error {
	found, err := f.find(cmd.Context())
	if absent, ok := errors.AsType[*toolbox.Error](err); ok && absent.Code == toolbox.NotRunning && f.pid == 0 {
		err = nil
	}
	if err != nil {
		return err
	}
	waiting, err := approve.List(cmd.Context(), found)
	if err != nil {
		tty.Remark(os.Stderr, err.Error())
	}
	return writeJSON(cmd, struct {
		Calls []approve.Waiting `json:"calls"`
	}{waiting})
}

// run asks the person at the controlling terminal.
func (f *approveFlags) run(ctx context.Context, args []string) error {
	terminal, err := tty.OpenControlling(os.Getenv)
	if err != nil {
		return &toolbox.Error{
			Code: toolbox.NeedsTerminal, Message: "approve needs a terminal, so that a person answers",
			Hint: "Run it in a terminal of your own. To list what waits: mcp-workbench approve --json", Cause: err,
		}
	}
	defer terminal.Close()
	person := approve.NewPerson(terminal.Screen)
	if f.watch {
		return person.Watch(ctx, f.findQuietly)
	}
	found, err := f.find(ctx)
	if err != nil {
		return err
	}
	waiting, err := approve.List(ctx, found)
	if err != nil {
		tty.Remark(os.Stderr, err.Error())
	}
	if len(args) == 0 {
		return person.DecideAll(ctx, found, waiting)
	}
	one, err := approve.Find(waiting, args[0])
	if err != nil {
		return err
	}
	if len(args) == 1 {
		return person.Decide(ctx, one)
	}
	answer, _ := approval.ParseAnswer(args[1]) // checked before
	return person.Answer(ctx, one, answer)
}
