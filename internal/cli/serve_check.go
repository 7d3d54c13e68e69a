package cli

import (
	"cmp"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/access/httpauth"
	"github.com/mcp-workbench/mcp-workbench/internal/app"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/doctor"
)

// serveReport is the output of 'serve --check --json'.
type serveReport struct {
	OK     bool           `json:"ok"`
	Checks []doctor.Check `json:"checks"`
}

// runServeCheck checks what serving needs. Nothing is started, and nothing is changed.
func runServeCheck(cmd *cobra.Command, g globals, options serveOptions) error {
	loaded, err := g.Load(nil)
	if err != nil {
		return err
	}
	cfg, checks := doctor.Setup(loaded)
	checks = append(checks, doctor.StateFolder(config.StateDir()))
	checks = append(checks, doctor.AuditLog(cfg, config.StateDir())...)
	if cfg != nil {
		checks = append(checks, doctor.Faults(cfg)...)
		if err := app.CheckToolbox(cfg, g.toolbox); err != nil {
			checks = append(checks, doctor.Failure("toolbox", err))
		}
		address, err := options.address(cfg)
		if err != nil {
			return err
		}
		serving := doctor.Serving{
			Config: cfg, Address: address, Environ: os.Environ(), Version: Version,
			Tokens: func() (*httpauth.Store, error) { return tokensFor(cfg, address, options.noAuth) },
		}
		checks = append(checks, serving.Check(cmd.Context())...)
	}
	report, failed := serveReport{OK: true, Checks: checks}, 0
	for i, check := range checks {
		if check.Verdict == doctor.Failed {
			checks[i].Fix = cmp.Or(check.Fix, "Correct it, and check the configuration alone with: mcp-workbench validate")
			report.OK = false
			failed++
		}
	}
	if options.json {
		err = writeJSON(cmd, report)
	} else {
		doctor.ShowChecks(screenOf(cmd), checks)
	}
	if err != nil || report.OK {
		return err
	}
	return &shownError{&toolbox.Error{
		Code: toolbox.ChecksFailed, Message: fmt.Sprintf("%s, so the workbench cannot serve", toolbox.Count(failed, "check failed", "checks failed")),
		Hint: "The report has the cause of each, and what to do.",
	}}
}
