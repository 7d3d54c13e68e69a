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
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "lock",
		Short: "Approve tools and instructions in workbench.lock",
		Long: `Start every server and write the definitions of its tools and its instructions to
workbench.lock, beside the configuration file that has the server. Commit that file, so that
reviews show changes. With "locked": true in the configuration, only tools and instructions
that match the file can be seen and used.

A server that is not in the file yet is approved with everything it offers. New or changed
tools of other servers, and changed instructions, are approved only if --accept names them,
their server or their toolbox; until then they are listed and the exit status is 1.

` + toolWords + " " + serverWords,
		Example: `  mcp-workbench lock
  mcp-workbench lock --accept dev/shell/run
  mcp-workbench lock --accept dev/shell`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			report, err := runLock(cmd.Context(), *g, accepted, textOf(cmd), os.Stderr)
			if report != nil && asJSON {
				err = errors.Join(writeJSON(cmd, report), err)
			}
			return err
		},
	}
	cmd.Flags().StringArrayVar(&accepted, "accept", nil, "approve the current TOOL, SERVER:instructions, SERVER or TOOLBOX; may be repeated")
	addJSONFlag(cmd, &asJSON, "write what changed as JSON")
	completion.Register(cmd, "accept", completion.Tools(&g.Loader))
	return cmd
}

func runLock(ctx context.Context, g globals, accepted []string, out, stderr io.Writer) (*lockdiff.Report, error) {
	g.IgnoreLock = true
	s, err := g.Load(nil)
	if err == nil && s.Untrusted != nil {
		if err = s.Untrusted.Ask(ctx, out); err == nil {
			s, err = g.Load(nil)
		}
	}
	if err != nil {
		return nil, err
	}
	if len(s.Broken) > 0 {
		return nil, errors.Join(s.Broken...)
	}
	cfg := s.Config
	if len(cfg.Files) == 0 {
		return nil, &toolbox.Error{
			Code:    toolbox.ConfigNotFound,
			Message: "There is no configuration to lock",
			Hint:    "Write workbench-config.json, or name another file with --config.",
		}
	}
	return lockdiff.Update(cfg, accepted, func() ([]app.Offer, error) { return askAll(ctx, g, cfg, stderr) }, out)
}

// askAll starts all servers and returns their offers, approved or not.
func askAll(ctx context.Context, g globals, cfg *config.Config, stderr io.Writer) (_ []app.Offer, err error) {
	log, err := service.NewLogger(cmp.Or(g.logLevel, "error"), cfg, stderr)
	if err != nil {
		return nil, err
	}
	whole := *cfg
	whole.Files, whole.Policy = nil, config.Policy{} // they would hide tools
	workbench, err := app.New(app.Options{Config: &whole, Version: Version, StateDir: config.StateDir(), Log: log})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, workbench.Stop(context.WithoutCancel(ctx))) }()
	return workbench.Offers(ctx), ctx.Err()
}
