package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/app"
	"github.com/mcp-workbench/mcp-workbench/internal/app/loader"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

func newValidate(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "validate [FILE]",
		Short: "Check a configuration file and report every problem",
		Long: `Check a file and report every problem. Without FILE, check the files in use here:
./workbench-config.json and your own, or the one named by --config or $WORKBENCH_CONFIG.`,
		Example: `  mcp-workbench validate
  mcp-workbench validate team/workbench-config.json`,
		Args: atMostOne("one file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			with := *g
			if len(args) == 1 {
				with.ConfigPath = args[0]
			}
			return runValidate(with, cmd.OutOrStdout())
		},
	}
}

func runValidate(g globals, out io.Writer) error {
	files, err := g.ReadAll()
	if err != nil {
		return err
	}
	if len(files) == 0 {
		fmt.Fprintf(out, "No configuration was found, and the built-in default is valid: %s\n", loader.Summary(config.Default()))
		return nil
	}
	out = tty.Cleaned(out)
	var errs []error
	for _, file := range files {
		cfg, err := config.Strict(file.Config, file.Err)
		if err == nil {
			err = app.CheckLock(cfg)
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for _, warning := range cfg.Warnings {
			if len(files) > 1 && warning.Line > 0 {
				warning.File = file.Path
			}
			fmt.Fprintln(out, "warning: "+warning.String())
		}
		fmt.Fprintf(out, "%s is valid: %s\n", file.Path, loader.Summary(cfg))
		if file.Origin != config.Local {
			continue
		}
		doubted, err := loader.CheckTrustAt(file.Path)
		if err != nil {
			errs = append(errs, err)
		} else if doubted != nil {
			fmt.Fprintln(out, "It is not trusted, and nothing of it is used until it is. Review it, and then run: "+doubted.Command())
		}
	}
	return errors.Join(errs...)
}
