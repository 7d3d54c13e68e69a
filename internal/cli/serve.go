package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/term"

	"github.com/mcp-workbench/mcp-workbench/internal/app"
	"github.com/mcp-workbench/mcp-workbench/internal/config"
	"github.com/mcp-workbench/mcp-workbench/internal/wire"
)

// runServe serves MCP on stdin and stdout. A person who starts the program by hand is
// told what it is instead: it would wait silently for a client that never comes.
func runServe(ctx context.Context, g globals, stdin, stdout *os.File, stderr io.Writer) error {
	hangUps, stopHangUps := watchHangUps() // first of all: until then a hang-up ends the program
	defer stopHangUps()
	cfg, untrusted, err := g.loadTrusted()
	if err != nil {
		return err
	}
	log, err := g.logger(cfg, stderr)
	if err != nil {
		return err
	}
	if term.IsTerminal(int(stdin.Fd())) {
		if untrusted != nil {
			// How to hand the file to a client would be the wrong next step.
			fmt.Fprintf(stdout, "mcp-workbench %s: %s\n", Version, untrusted.notice())
			return nil
		}
		introduce(stdout, cfg)
		return nil
	}
	withheld := ""
	if untrusted != nil {
		withheld = untrusted.notice()
		// Not through the log, which has a level, and would escape the command.
		fmt.Fprintln(stderr, "mcp-workbench: "+withheld)
	}
	logWarnings(log, cfg)
	workbench, err := app.New(app.Options{
		Config: cfg, Version: Version, StateDir: stateDir(), Log: log, Toolbox: g.toolbox, Withheld: withheld,
	})
	if err != nil {
		return err
	}
	serving, done := context.WithCancel(ctx)
	var reloading sync.WaitGroup
	reloading.Go(func() {
		r := reloader{
			globals: g, workbench: workbench, current: cfg, untrusted: untrusted,
			hangUps: hangUps, log: log, stderr: stderr,
		}
		r.run(serving)
	})
	err = workbench.ServeStdio(ctx, wire.Pollable(stdin), wire.Pollable(stdout))
	done()
	reloading.Wait()
	if stopErr := workbench.Stop(context.WithoutCancel(ctx)); stopErr != nil {
		// The client is gone and all that is left was killed: that is no failure of ours.
		log.Warn("the end was not clean", "reason", stopErr)
	}
	return err
}

func introduce(out io.Writer, cfg *config.Config) {
	fmt.Fprintf(out, "mcp-workbench %s: one MCP server in front of all your others.\n\n", Version)
	if cfg.Path == "" {
		fmt.Fprintln(out, "No configuration was found, so the built-in 'starter' toolbox is used.")
	} else {
		fmt.Fprintf(out, "Configuration: %s\n", cfg.Path)
	}
	for _, box := range cfg.Toolboxes {
		fmt.Fprintf(out, "  %s (%d servers)  %s\n", box.Name, len(box.Servers), box.Description)
	}
	fmt.Fprintf(out, `
An MCP client starts this program and talks to it over stdin and stdout; there is
nothing to type here. To go on:

  mcp-workbench try         see a toolbox being opened and a tool being called
  mcp-workbench validate    check the configuration
  mcp-workbench --help      everything else

%s`, clientSnippet(cfg))
}
