package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/app"
	"github.com/mcp-workbench/mcp-workbench/internal/app/service"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/clients"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/doctor"
)

type doctorOptions struct {
	names   []string
	json    bool
	timeout time.Duration // that each server may take; 0: as configured
}

func newDoctor(g *globals) *cobra.Command {
	var options doctorOptions
	cmd := &cobra.Command{
		Use:   "doctor [TOOLBOX[/SERVER]...]",
		Short: "Check the configuration and servers, and say what to do",
		Long: `Check the configuration and its surroundings, tell which MCP clients have the workbench, and
start every server to see how far it gets:
whether its command is found, it starts, answers the handshake, and lists its tools. What
fails is explained with the last lines of the server's stderr and what to do about it.

It ends with 0 if everything works, and with 1 if something failed; warnings do not count.`,
		Example: `  mcp-workbench doctor
  mcp-workbench doctor dev web/fetch
  mcp-workbench doctor --timeout 2m         for servers that download themselves first
  mcp-workbench doctor --json`,
		ValidArgsFunction: completeServers(g),
		RunE: func(cmd *cobra.Command, args []string) error {
			if options.timeout < 0 || cmd.Flags().Changed("timeout") && options.timeout == 0 {
				return &usageError{err: errors.New("--timeout needs a time such as 30s or 2m")}
			}
			options.names = args
			return runDoctor(cmd.Context(), *g, options, cmd.OutOrStdout())
		},
	}
	cmd.Flags().BoolVar(&options.json, "json", false, "print everything as JSON")
	cmd.Flags().DurationVar(&options.timeout, "timeout", 0, "how long each server may take (default: its timeouts.connect)")
	return cmd
}

func runDoctor(ctx context.Context, g globals, options doctorOptions, out io.Writer) error {
	screen := tty.New(out, os.Stdin, os.Getenv)
	cfg, checks, err := g.checkSetup()
	if err != nil {
		return err
	}
	var patients []doctor.Patient
	if cfg != nil {
		options.apply(cfg)
		if patients, err = doctor.Plan(cfg, options.names); err != nil {
			return err
		}
		checks = append(checks, doctor.OtherFaults(cfg, patients)...)
	}
	checks = append(checks, doctor.StateFolder(config.StateDir()), doctor.Clients(clients.Survey(clients.ThisMachine())))
	if !options.json {
		doctor.ShowChecks(screen, checks)
	}
	var servers []doctor.Server
	if cfg != nil {
		if servers, err = g.examineServers(ctx, cfg, patients, newTitles(screen, patients, options.json)); err != nil {
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
		return errShown
	}
	return nil
}

// checkSetup reads the configuration as serving would; nil if it cannot be used, which a
// check says then.
func (g *globals) checkSetup() (*config.Config, []doctor.Check, error) {
	s, err := g.Load(nil)
	if err != nil {
		return nil, nil, err
	}
	var checks []doctor.Check
	if s.Untrusted != nil {
		checks = append(checks, doctor.Untrusted(s.Untrusted.Refusal())...)
	}
	for _, err := range s.Broken {
		checks = append(checks, doctor.Unusable(err)...)
	}
	if s.IsEmpty() {
		return nil, checks, nil
	}
	own := doctor.Configuration(s.Config, s.Places)
	checks = append(checks, own...)
	if !doctor.NewReport(own, nil).OK { // serving would refuse it as well
		return nil, checks, nil
	}
	return s.Config, checks, nil
}

// apply gives every server the time that was asked for.
func (o *doctorOptions) apply(cfg *config.Config) {
	if o.timeout == 0 {
		return
	}
	for _, box := range cfg.Toolboxes {
		for i := range box.Servers {
			box.Servers[i].Timeouts.Connect = o.timeout
		}
	}
}

// examineServers starts the servers, shows how that goes, and ends them.
func (g *globals) examineServers(ctx context.Context, cfg *config.Config, patients []doctor.Patient, titles *titles) (_ []doctor.Server, err error) {
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
	examiner.Named = g.ConfigPath
	found := examiner.Examine(ctx, patients, titles.show)
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	titles.end(found)
	return found, nil
}

// titles are the lines of the servers. Where lines cannot change they are written when all
// are known, in the order of the configuration.
type titles struct {
	screen *tty.Screen
	live   *tty.Live // nil where lines cannot change
	names  int
	quiet  bool
}

// newTitles begins the lines; quiet shows nothing.
func newTitles(screen *tty.Screen, patients []doctor.Patient, quiet bool) *titles {
	t := &titles{screen: screen, quiet: quiet}
	for i := range patients {
		t.names = max(t.names, len(tty.CleanLine(patients[i].Name())))
	}
	if quiet {
		return t
	}
	fmt.Fprintln(screen)
	if screen.IsTerminal() {
		t.live = screen.Live(len(patients))
	}
	return t
}

func (t *titles) show(i int, server doctor.Server, done bool) {
	if t.live == nil {
		return
	}
	title := doctor.Title(t.screen, server, done, t.names)
	if done {
		t.live.Line(i).Done(title)
	} else {
		t.live.Line(i).Show(title)
	}
}

func (t *titles) end(servers []doctor.Server) {
	if t.live != nil || t.quiet {
		return
	}
	for _, server := range servers {
		fmt.Fprintln(t.screen, doctor.Title(t.screen, server, true, t.names))
	}
}
