package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/app"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/completion"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/tokencost"
)

func newTokens(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "tokens [TOOLBOX]",
		Short: "Estimate how many tokens of context tools cost",
		Long: `Estimate how many tokens each tool and server costs, in full and in brief, what the whole
answer of open_toolbox costs for each toolbox, and what the workbench saves compared with
listing all tools. Servers that were never connected are started for it.`,
		Example: `  mcp-workbench tokens
  mcp-workbench tokens dev`,
		ValidArgsFunction: completion.One(completion.Toolboxes(&g.Loader)),
		Args:              atMostOne("one toolbox"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runTokens(cmd.Context(), *g, strings.Join(args, ""), cmd.OutOrStdout(), os.Stderr)
		},
	}
}

func runTokens(ctx context.Context, g globals, name string, out, stderr io.Writer) (err error) {
	loaded, log, err := g.loadForTerminal(ctx, out, stderr)
	if err != nil {
		return err
	}
	cfg := loaded.Config
	cfg.ToolMode = config.Proxy // the mode that the others are compared with
	workbench, err := app.New(app.Options{Config: cfg, Version: Version, StateDir: config.StateDir(), Log: log, Toolbox: name})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, workbench.Stop(context.WithoutCancel(ctx))) }()
	known := workbench.Known(ctx, app.KnownOptions{Capabilities: app.ByPerson, Caller: app.ClientCaller(cfg)})
	if err := context.Cause(ctx); err != nil {
		return err
	}
	tokencost.NewBill(known, cfg, workbench.Shown()).Print(tty.Cleaned(out))
	return nil
}
