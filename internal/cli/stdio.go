package cli

import (
	"context"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"

	"github.com/mcp-workbench/mcp-workbench/internal/app"
	"github.com/mcp-workbench/mcp-workbench/internal/config"
	"github.com/mcp-workbench/mcp-workbench/internal/wire"
)

// runStdio serves MCP on stdin and stdout. A person who starts the program by hand is
// told what it is instead: it would wait silently for a client that never comes.
func runStdio(ctx context.Context, g globals, stdin, stdout *os.File, stderr io.Writer) error {
	s, err := g.newService(stderr)
	if err != nil {
		return err
	}
	defer s.close()
	if term.IsTerminal(int(stdin.Fd())) {
		if s.untrusted != nil {
			// How to hand the file to a client would be the wrong next step.
			fmt.Fprintf(stdout, "mcp-workbench %s: %s\n", Version, s.untrusted.notice())
			return nil
		}
		introduce(stdout, s.config)
		return nil
	}
	return s.run(ctx, "stdio", func(ctx context.Context, workbench *app.App) error {
		return workbench.ServeStdio(ctx, wire.Pollable(stdin), wire.Pollable(stdout))
	})
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
