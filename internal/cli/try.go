package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/app"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/completion"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/console"
)

func newTry(g *globals) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "try [TOOLBOX]",
		Short: "Open a toolbox in the terminal and call a tool of it",
		Long: `Do what a client does: open a toolbox, list its tools, call one that needs no arguments
and changes nothing, and show how long each step took, and what the tools cost a client in
tokens. Without TOOLBOX, the first one is opened.

Only a tool of a built-in server is called without asking: that others change nothing is
what their servers say. Where nobody can be asked, --yes is needed.`,
		Example: `  mcp-workbench try
  mcp-workbench try dev --yes`,
		ValidArgsFunction: completion.One(completion.Toolboxes(&g.Loader)),
		Args:              atMostOne("one toolbox"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runTry(cmd.Context(), *g, strings.Join(args, ""), yes, cmd.OutOrStdout(), os.Stderr)
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "call a tool of any server without asking")
	return cmd
}

func runTry(ctx context.Context, g globals, name string, yes bool, out, stderr io.Writer) error {
	loaded, log, err := g.loadForTerminal(ctx, out, stderr)
	if err != nil {
		return err
	}
	cfg := loaded.Config
	c := console.New(console.Options{
		Config: cfg, Version: Version, StateDir: config.StateDir(), Log: log,
		Out: tty.New(out, os.Stdin, os.Getenv), Err: tty.New(stderr, nil, os.Getenv),
	})
	if err := c.Try(ctx, name, yes); err != nil {
		return err
	}
	c.Out.Instruct("\n" + clientSnippet(cfg))
	bill, err := makeBill(ctx, cfg, "", log, app.KnownOptions{Stored: true}) // nothing else is started for it
	if err == nil {
		fmt.Fprintf(out, "\n%s\n", tty.New(out, nil, os.Getenv).Wrap(bill.Sentence(), 0))
	}
	return err
}

// clientSnippet returns an entry to paste into a client's configuration.
func clientSnippet(cfg *config.Config) string {
	executable, err := os.Executable()
	if err != nil {
		executable = "mcp-workbench"
	}
	server := struct {
		Command string   `json:"command"`
		Args    []string `json:"args,omitempty"`
	}{Command: executable}
	if cfg.Path != "" && cfg.ProjectPath() == "" { // a named file is used alone
		server.Args = []string{"--config", cfg.Path}
	}
	snippet, err := json.MarshalIndent(map[string]any{"mcpServers": map[string]any{"workbench": server}}, "  ", "  ")
	if err != nil {
		return ""
	}
	return "To use it from an MCP client: mcp-workbench connect\nOr put this into the client's configuration:\n\n  " + string(snippet) + "\n"
}
