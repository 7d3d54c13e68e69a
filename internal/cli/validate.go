package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/app"
	"github.com/mcp-workbench/mcp-workbench/internal/config"
)

func newValidate(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "validate [FILE]",
		Short: "Check a configuration file and report all that is wrong with it",
		Example: `  mcp-workbench validate
  mcp-workbench validate team/workbench-config.json`,
		Args: atMostOne("one file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			with := *g
			if len(args) == 1 {
				with.configPath = args[0]
			}
			return runValidate(with, cmd.OutOrStdout())
		},
	}
}

func runValidate(g globals, out io.Writer) error {
	cfg, err := g.loadConfig()
	if err != nil {
		return err
	}
	if err := app.CheckLock(cfg); err != nil {
		return err
	}
	for _, warning := range cfg.Warnings {
		fmt.Fprintln(out, "warning: "+warning.String())
	}
	fmt.Fprintf(out, "%s is valid: %s\n", name(cfg), summary(cfg))
	return nil
}

func name(cfg *config.Config) string {
	if cfg.Path == "" {
		return "No configuration was found, and the built-in default"
	}
	return cfg.Path
}

func summary(cfg *config.Config) string {
	servers := 0
	for _, box := range cfg.Toolboxes {
		servers += len(box.Servers)
	}
	return fmt.Sprintf("%s, %s, %s", count(len(cfg.Toolboxes), "toolbox", "toolboxes"),
		count(servers, "server", "servers"), count(len(cfg.Warnings), "warning", "warnings"))
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
