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
	var asJSON bool
	cmd := &cobra.Command{
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
			return runValidate(cmd, with, asJSON)
		},
	}
	addJSONFlag(cmd, &asJSON, "write JSON")
	return cmd
}

// validation is the JSON of 'validate'.
type validation struct {
	Valid bool            `json:"valid"`
	Files []validatedFile `json:"files"` // empty if the built-in default is used
}

type validatedFile struct {
	File     string    `json:"file"`
	Valid    bool      `json:"valid"`
	Trusted  bool      `json:"trusted"` // otherwise nothing of it is used
	Summary  string    `json:"summary,omitempty"`
	Problems []problem `json:"problems"`
	Warnings []problem `json:"warnings"`

	PlainToolbox string `json:"plainToolbox,omitempty"` // of the file of an MCP client: the toolbox that has all of its servers
}

func runValidate(cmd *cobra.Command, g globals, asJSON bool) error {
	files, err := g.ReadAll()
	if err != nil {
		return err
	}
	out := tty.Cleaned(textOf(cmd))
	if len(files) == 0 {
		fmt.Fprintf(out, "No configuration was found, and the built-in default is valid: %s\n", loader.Summary(config.Default()))
	}
	var errs []error
	result := validation{Files: []validatedFile{}}
	for _, file := range files {
		one, err := validateFile(out, file, len(files) > 1)
		if err != nil {
			errs = append(errs, err)
		}
		result.Files = append(result.Files, one)
	}
	result.Valid = len(errs) == 0
	if asJSON {
		errs = append(errs, writeJSON(cmd, result))
	}
	return errors.Join(errs...)
}

// validateFile checks one file. Of several files, warnings name theirs.
func validateFile(out io.Writer, file loader.ReadFile, isOneOfMany bool) (validatedFile, error) {
	result := validatedFile{File: file.Path, Trusted: true, Problems: []problem{}, Warnings: []problem{}}
	cfg, err := config.Strict(file.Config, file.Err)
	if err == nil {
		err = app.CheckLock(cfg)
	}
	if err != nil {
		if wrong, ok := errors.AsType[*config.Error](err); ok {
			result.Problems = describeProblems(wrong.File, wrong.Problems)
			result.Warnings = describeProblems(wrong.File, wrong.Warnings)
		} else {
			result.Problems = append(result.Problems, problem{File: file.Path, Message: describeFailure(err).Message})
		}
		return result, err
	}
	result.Warnings = describeProblems(file.Path, cfg.Warnings)
	for _, warning := range cfg.Warnings {
		if isOneOfMany && warning.Line > 0 {
			warning.File = file.Path
		}
		fmt.Fprintln(out, "warning: "+warning.String())
	}
	result.Valid, result.Summary = true, loader.Summary(cfg)
	fmt.Fprintf(out, "%s is valid: %s\n", file.Path, result.Summary)
	if cfg.Plain != nil {
		result.PlainToolbox = cfg.Plain.Name
		fmt.Fprintf(out, "It is the file of an MCP client: its servers, under '%s', are the toolbox '%s'.\n", cfg.Plain.Key, cfg.Plain.Name)
	}
	if file.Origin != config.Local {
		return result, nil
	}
	doubted, err := loader.CheckTrustAt(file.Path)
	if doubted != nil {
		result.Trusted = false
		fmt.Fprintln(out, "It is not trusted, and nothing of it is used until it is. Review it, and then run: "+doubted.Command())
	}
	return result, err
}
