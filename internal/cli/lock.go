package cli

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/app"
	"github.com/mcp-workbench/mcp-workbench/internal/app/service"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/completion"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/lockdiff"
)

func newLock(g *globals) *cobra.Command {
	var accepted []string
	cmd := &cobra.Command{
		Use:   "lock",
		Short: "Write down which tools and instructions are approved",
		Long: `Starts every server and writes the definitions of its tools and its instructions into workbench.lock,
beside the file that has the server. Commit that file: a change is then seen in a review.
With "locked": true in the configuration, only tools and instructions that are as the file has
them can be seen and used.

A server that is not in the file yet is approved with all that it offers. Tools of other
servers that are new or changed, and changed instructions, are approved only when --accept names
them, or their server or toolbox; until then this command lists them and ends with 1.`,
		Example: `  mcp-workbench lock
  mcp-workbench lock --accept dev/shell/run
  mcp-workbench lock --accept dev/shell`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runLock(cmd.Context(), *g, accepted, cmd.OutOrStdout(), os.Stderr)
		},
	}
	cmd.Flags().StringArrayVar(&accepted, "accept", nil, "TOOLBOX/SERVER/TOOL, TOOLBOX/SERVER:instructions, TOOLBOX/SERVER or TOOLBOX to approve as they are now; may be repeated")
	completion.Register(cmd, "accept", completion.Tools(&g.Loader))
	return cmd
}

func runLock(ctx context.Context, g globals, accepted []string, out, stderr io.Writer) (err error) {
	g.IgnoreLock = true
	s, err := g.Load(nil)
	if err == nil && s.Untrusted != nil {
		if err = s.Untrusted.Ask(ctx, out); err == nil {
			s, err = g.Load(nil)
		}
	}
	if err != nil {
		return err
	}
	if len(s.Broken) > 0 {
		return errors.Join(s.Broken...)
	}
	cfg := s.Config
	if len(cfg.Files) == 0 {
		return &toolbox.Error{
			Code:    toolbox.ConfigNotFound,
			Message: "There is no configuration to write a lock for",
			Hint:    "Write workbench-config.json, or name another file with --config.",
		}
	}
	return lockdiff.Update(cfg, accepted, func() ([]app.Offer, error) { return askAll(ctx, g, cfg, stderr) }, out)
}

// askAll starts all servers and returns what they offer, approved or not.
func askAll(ctx context.Context, g globals, cfg *config.Config, stderr io.Writer) (_ []app.Offer, err error) {
	log, err := service.NewLogger(cmp.Or(g.logLevel, "error"), cfg, stderr)
	if err != nil {
		return nil, err
	}
	whole := *cfg
	whole.Files, whole.Policy = nil, config.Policy{} // which say what is withheld
	workbench, err := app.New(app.Options{Config: &whole, Version: Version, StateDir: config.StateDir(), Log: log})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, workbench.Stop(context.WithoutCancel(ctx))) }()
	return workbench.Offers(ctx), ctx.Err()
}
