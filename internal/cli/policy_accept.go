package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/app"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/policycheck"
)

func newPolicyAccept(g *globals) *cobra.Command {
	var all, asJSON bool
	cmd := &cobra.Command{
		Use:   "accept [TOOL…]",
		Short: "Accept changed hints of tools",
		Long: `List tools whose hints changed since they were first seen: whether they are read-only,
destructive, idempotent, or reach the outside world. Until a person accepts the change, the
policy counts such tools as destructive, and read_tool refuses them. With TOOL, or --all,
accept the hints as they were seen last.

` + toolWords + `

No server is started. Running workbenches use the change at once.`,
		Example: `  mcp-workbench policy accept
  mcp-workbench policy accept dev/files/read
  mcp-workbench policy accept --all`,
		Args: func(_ *cobra.Command, args []string) error {
			if all && len(args) > 0 {
				return &usageError{err: errors.New("accept takes names of tools or --all, not both")}
			}
			return nil
		},
		ValidArgsFunction: func(cmd *cobra.Command, _ []string, _ string) (names []cobra.Completion, _ cobra.ShellCompDirective) {
			if loaded, err := g.Load(nil); err == nil {
				doubted, _ := app.DoubtedTools(cmd.Context(), loaded.Config, config.StateDir()) // errors are for the command
				for _, one := range doubted {
					if name := one.Ref.Toolbox + "/" + one.Ref.Server + "/" + one.Ref.Name; tty.CleanLine(name) == name {
						names = append(names, name)
					}
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			loaded, _, err := g.loadForTerminal(cmd.Context(), cmd.OutOrStdout(), os.Stderr)
			if err != nil {
				return err
			}
			doubted, err := app.DoubtedTools(cmd.Context(), loaded.Config, config.StateDir())
			if err != nil {
				return err
			}
			screen := screenOf(cmd)
			switch {
			case asJSON && len(args) == 0 && !all:
				return policycheck.DoubtedJSON(cmd.OutOrStdout(), doubted)
			case len(args) == 0 && (!all || len(doubted) == 0) && !asJSON:
				policycheck.ShowDoubted(screen, doubted)
				return nil
			}
			return acceptHints(cmd, screen, loaded.Config, doubted, args)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "accept the hints of all listed tools")
	addJSONFlag(cmd, &asJSON, "write the list, or what was accepted, as JSON")
	return cmd
}

// acceptHints accepts the hints of the named tools; without names, of all.
func acceptHints(cmd *cobra.Command, screen *tty.Screen, cfg *config.Config, doubted []app.DoubtedTool, names []string) error {
	var refs []toolbox.Ref
	for _, one := range doubted {
		refs = append(refs, one.Ref)
	}
	if len(names) > 0 {
		var err error
		if refs, err = policycheck.SelectDoubted(doubted, names); err != nil {
			return err
		}
	}
	if err := app.AcceptHints(cmd.Context(), cfg, config.StateDir(), refs); err != nil {
		return &toolbox.Error{
			Code: toolbox.FileNotWritten, Message: fmt.Sprintf("The accepted hints cannot be kept: %v", err),
			Hint: "They are in the state folder, " + config.StateDir() + ", which must be writable.", Cause: err,
		}
	}
	fmt.Fprintf(screen, "The hints of %s accepted.\n", toolbox.Count(len(refs), "tool are", "tools are"))
	told := tellRunning(cmd.Context(), screen)
	if !isJSON(cmd) {
		return nil
	}
	done := acceptedHints{[]string{}, told}
	for _, ref := range refs {
		done.Accepted = append(done.Accepted, ref.Toolbox+"/"+ref.Server+"/"+ref.Name)
	}
	return writeJSON(cmd, done)
}

// acceptedHints is the JSON of accepted tools.
type acceptedHints struct {
	Accepted    []string `json:"accepted"`
	Workbenches int      `json:"workbenches"` // running ones that use it from now on
}

// tellRunning has running workbenches count what was accepted.
func tellRunning(ctx context.Context, screen *tty.Screen) (told int) {
	running, err := new(workbenchFlag).find(ctx)
	if err != nil { // none is running
		return 0
	}
	for _, workbench := range running {
		if err := workbench.ReviewHints(ctx); err != nil {
			tty.Remark(os.Stderr, fmt.Sprintf("The workbench with process id %d does not count them yet (%v). Send it SIGHUP, or restart its client.", workbench.Status.PID, err))
			continue
		}
		told++
	}
	if told > 0 {
		fmt.Fprintf(screen, "%s them from now on.\n", toolbox.Count(told, "running workbench counts", "running workbenches count"))
	}
	return told
}
