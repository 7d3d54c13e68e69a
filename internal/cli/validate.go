package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/app"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

func newValidate(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "validate [FILE]",
		Short: "Check a configuration file and report all that is wrong with it",
		Long: `Check a file and report all that is wrong with it. Without FILE, those that count here are
checked: ./workbench-config.json and your own, or the one that --config or
$WORKBENCH_CONFIG names.`,
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
	files, err := g.readAll()
	if err != nil {
		return err
	}
	if len(files) == 0 {
		fmt.Fprintf(out, "No configuration was found, and the built-in default is valid: %s\n", summary(config.Default()))
		return nil
	}
	out = tty.Cleaned(out)
	var errs []error
	for _, file := range files {
		cfg, err := config.Strict(file.config, file.err)
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
		fmt.Fprintf(out, "%s is valid: %s\n", file.Path, summary(cfg))
		if file.Origin != config.Local {
			continue
		}
		doubted, err := doubtedAt(file.Path)
		if err != nil {
			errs = append(errs, err)
		} else if doubted != nil {
			fmt.Fprintln(out, "It is not trusted, and nothing of it is used until it is. Look at it, and then run: "+doubted.command())
		}
	}
	return errors.Join(errs...)
}

// readFile is a file of the configuration, and what it says by itself.
type readFile struct {
	config.Place
	config *config.Config // servers may have faults
	err    error
}

// readAll reads every file, whoever wrote it, for those who run nothing of it.
func (g *globals) readAll() ([]readFile, error) {
	places, err := g.find()
	if err != nil {
		return nil, err
	}
	files := make([]readFile, len(places))
	var user *config.Config // whose keys at the top count for the project's file, too
	for i, place := range slices.Backward(places) {
		source, err := config.ReadAt(place)
		if err == nil {
			user, err = source.LoadUnder(os.Environ(), user)
		}
		files[i] = readFile{place, user, err}
		if err != nil {
			user = config.Withheld(place.Path, source)
		}
	}
	return files, nil
}

func summary(cfg *config.Config) string {
	servers := 0
	for _, box := range cfg.Toolboxes {
		servers += len(box.Servers)
	}
	return fmt.Sprintf("%s, %s, %s", toolbox.Count(len(cfg.Toolboxes), "toolbox", "toolboxes"),
		toolbox.Count(servers, "server", "servers"), toolbox.Count(len(cfg.Warnings), "warning", "warnings"))
}
