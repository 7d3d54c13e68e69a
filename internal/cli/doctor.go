package cli

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/app"
	"github.com/mcp-workbench/mcp-workbench/internal/app/service"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/oauth"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/clients"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/completion"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/doctor"
)

type doctorOptions struct {
	names   []string
	json    bool
	timeout time.Duration // for each server; 0: as configured
}

func newDoctor(g *globals) *cobra.Command {
	var options doctorOptions
	cmd := &cobra.Command{
		Use:   "doctor [SERVER|TOOLBOX...]",
		Short: "Check the configuration and servers; explain failures",
		Long: `Check the configuration and its environment, list the MCP clients that have the workbench,
and start every server: is its command found, does it start, answer the handshake and list
its tools? Failures are explained with the last lines of the server's stderr and a fix.
For a remote server that wants a login, each step to it is tried.

` + serverOrToolboxWords + `

The exit status is 0 if everything works and 1 if something failed; warnings do not count.`,
		Example: `  mcp-workbench doctor
  mcp-workbench doctor dev web/fetch
  mcp-workbench doctor --timeout 2m         for servers that download themselves first
  mcp-workbench doctor --json`,
		ValidArgsFunction: completion.Servers(&g.Loader),
		RunE: func(cmd *cobra.Command, args []string) error {
			if options.timeout < 0 || cmd.Flags().Changed("timeout") && options.timeout == 0 {
				return &usageError{err: errors.New("--timeout needs a time such as 30s or 2m")}
			}
			options.names = args
			return runDoctor(cmd.Context(), *g, options, cmd.OutOrStdout())
		},
	}
	addJSONFlag(cmd, &options.json, "write the report as JSON")
	cmd.Flags().DurationVar(&options.timeout, "timeout", 0, "time limit for each server (default: its timeouts.connect)")
	return cmd
}

func runDoctor(ctx context.Context, g globals, options doctorOptions, out io.Writer) error {
	screen := tty.New(out, os.Stdin, os.Getenv)
	loaded, err := g.Load(nil)
	if err != nil {
		return err
	}
	cfg, checks := doctor.Setup(loaded)
	var patients []doctor.Patient
	if cfg != nil {
		options.applyTimeout(cfg)
		if patients, err = doctor.Plan(cfg, options.names); err != nil {
			return err
		}
		checks = append(checks, doctor.OtherFaults(cfg, patients)...)
		checks = append(checks, doctor.NotPassedOn(patients, os.Environ())...)
	}
	checks = append(checks, doctor.StateFolder(config.StateDir()))
	checks = append(checks, doctor.AuditLog(cfg, config.StateDir())...)
	checks = append(checks, doctor.StoredFiles(storedFolders())...)
	checks = append(checks, doctor.Clients(clients.Survey(clients.ThisMachine())))
	if !options.json {
		doctor.ShowChecks(screen, checks)
	}
	var servers []doctor.Server
	if cfg != nil {
		if servers, err = g.examineServers(ctx, cfg, patients, doctor.NewTitles(screen, patients, options.json)); err != nil {
			return err
		}
	}
	report := doctor.NewReport(checks, servers)
	if options.json {
		if err := tty.WriteJSON(out, report); err != nil {
			return err
		}
	} else if cfg != nil {
		doctor.ShowTroubles(screen, servers)
		doctor.ShowSummary(screen, report)
	}
	if !report.OK {
		return &shownError{doctorFailed(report)}
	}
	return nil
}

// doctorFailed says for scripts that something is wrong.
func doctorFailed(report *doctor.Report) error {
	failed := report.Summary.Failed
	for _, check := range report.Checks {
		if check.Verdict == doctor.Failed {
			failed++
		}
	}
	return &toolbox.Error{Code: toolbox.ChecksFailed, Message: toolbox.Count(failed, "check failed", "checks failed"), Hint: "The report has the cause of each, and what to do."}
}

// applyTimeout sets the requested time limit of every server.
func (o *doctorOptions) applyTimeout(cfg *config.Config) {
	if o.timeout == 0 {
		return
	}
	for _, box := range cfg.Toolboxes {
		for i := range box.Servers {
			box.Servers[i].Timeouts.Connect = o.timeout
		}
	}
}

// examineServers starts the servers, shows the progress, and stops them.
func (g *globals) examineServers(ctx context.Context, cfg *config.Config, patients []doctor.Patient, titles *doctor.Titles) (_ []doctor.Server, err error) {
	log, err := service.NewLogger(cmp.Or(g.logLevel, "error"), cfg, os.Stderr)
	if err != nil {
		return nil, err
	}
	workbench, err := app.New(app.Options{Config: cfg, Version: Version, StateDir: config.StateDir(), Log: log})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, workbench.Stop(context.WithoutCancel(ctx))) }()
	examiner := doctor.NewExaminer(workbench, cfg, os.Environ())
	logins := openLogins(cfg, log)
	defer logins.Close()
	examiner.Logins = func(toolbox string, server *config.Server) *oauth.Credentials {
		return logins.of(remote{toolbox, server}, "")
	}
	found := examiner.Examine(ctx, patients, titles.Show)
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	titles.Finish(found)
	return found, nil
}
