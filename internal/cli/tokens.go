package cli

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/app"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/tokencost"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/completion"
)

func newTokens(g *globals) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "tokens [TOOLBOX]",
		Short: "Estimate how many tokens of context tools cost",
		Long: `Estimate how many tokens each tool and server costs, in full and in brief, what the whole
answer of open_toolbox costs for each toolbox, and what the workbench saves compared with
listing all tools. Servers that were never connected are started for it.`,
		Example: `  mcp-workbench tokens
  mcp-workbench tokens dev
  mcp-workbench tokens --json | jq .saved`,
		ValidArgsFunction: completion.One(completion.Toolboxes(&g.Loader)),
		Args:              atMostOne("one toolbox"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runTokens(cmd, *g, strings.Join(args, ""), asJSON)
		},
	}
	addJSONFlag(cmd, &asJSON, "write JSON")
	return cmd
}

func runTokens(cmd *cobra.Command, g globals, name string, asJSON bool) error {
	ctx := cmd.Context()
	loaded, log, err := g.loadForTerminal(ctx, cmd.OutOrStdout(), os.Stderr)
	if err != nil {
		return err
	}
	bill, err := makeBill(ctx, loaded.Config, name, log, app.KnownOptions{})
	if err != nil {
		return err
	}
	if asJSON {
		return writeJSON(cmd, bill.Document())
	}
	bill.Print(screenOf(cmd))
	return nil
}

// makeBill estimates what the tools of a configuration cost, or those of one toolbox.
func makeBill(ctx context.Context, cfg *config.Config, name string, log *slog.Logger, options app.KnownOptions) (_ *tokencost.Bill, err error) {
	proxied := *cfg
	proxied.ToolMode = config.Proxy // the mode that the others are compared with
	workbench, err := app.New(app.Options{Config: &proxied, Version: Version, StateDir: config.StateDir(), Log: log, Toolbox: name})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, workbench.Stop(context.WithoutCancel(ctx))) }()
	options.Capabilities, options.Caller = app.ByPerson, app.ClientCaller(&proxied)
	known := workbench.Known(ctx, options)
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	servers := make([]tokencost.Server, len(known))
	for i, one := range known {
		servers[i] = tokencost.Server{Toolbox: one.Toolbox, Server: one.Server, Tools: one.Tools, Instructions: one.Instructions, Err: one.Err}
	}
	return tokencost.NewBill(servers, &proxied, workbench.Shown()), nil
}
