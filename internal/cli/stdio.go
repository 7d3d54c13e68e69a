package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"

	"golang.org/x/term"

	"github.com/mcp-workbench/mcp-workbench/internal/app"
	"github.com/mcp-workbench/mcp-workbench/internal/app/loader"
	"github.com/mcp-workbench/mcp-workbench/internal/app/service"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/process"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// leaveProcessors leaves half of the processors to the client and the servers of a workbench with one client, unless
// GOMAXPROCS is set: they wait for one another. On two processors that gives a tenth more calls per second. A workbench
// with many clients uses all processors.
func leaveProcessors() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(max(1, runtime.GOMAXPROCS(0)/2))
	}
}

// runStdio serves MCP on stdin and stdout. In a terminal it prints an introduction instead of
// waiting for a client that never comes.
func runStdio(ctx context.Context, g globals, stdin, stdout *os.File, stderr io.Writer) error {
	leaveProcessors()
	s, err := service.New(g.service(stderr))
	if err != nil {
		return err
	}
	defer s.Close()
	if term.IsTerminal(int(stdin.Fd())) {
		if s.Untrusted != nil && s.IsEmpty() {
			// The steps for connecting a client would be misleading here.
			fmt.Fprintf(stdout, "mcp-workbench %s: %s\n", Version, tty.Clean(s.Untrusted.Notice()))
			return nil
		}
		if s.IsEmpty() {
			return s.Err()
		}
		s.WriteProblems(stderr)
		if err := app.CheckToolbox(s.Config, g.toolbox); err != nil {
			return err
		}
		introduce(tty.New(stdout, stdin, os.Getenv), s.Config)
		return nil
	}
	process.EnlargePipes(stdin, stdout)
	in, out := wire.Pollable(stdin), wire.Pollable(stdout)
	if s.IsShared() {
		return s.RunShared(ctx, in, out)
	}
	return s.Run(ctx, "stdio", func(ctx context.Context, workbench *app.App) error {
		return workbench.ServeStdio(ctx, in, out)
	})
}

// introduce prints what the program is, and the next steps, which depend on whether a configuration exists.
func introduce(screen *tty.Screen, cfg *config.Config) {
	fmt.Fprintf(screen, "%s %s: one MCP server in front of all your others.\n\n", screen.Paint(tty.Strong, "mcp-workbench"), Version)
	if cfg.Path == "" {
		fmt.Fprint(screen, `There is no configuration yet. The way to the first call:

`)
		nextSteps(screen, [][2]string{
			{"mcp-workbench init", "import the servers of your MCP clients"},
			{"mcp-workbench doctor", "check that each of them works"},
			{"mcp-workbench connect", "add the workbench to a client"},
		})
		fmt.Fprint(screen, `
No servers yet? 'mcp-workbench add --help' tells how to add one, and
'mcp-workbench try' shows the built-in ones.
`)
	} else {
		fmt.Fprintf(screen, "Configuration: %s\n", tty.CleanLine(loader.JoinFiles(cfg, ", on top of ")))
		for _, box := range cfg.Toolboxes {
			fmt.Fprintf(screen, "  %s (%s)  %s\n", screen.Paint(tty.Name, tty.CleanLine(box.Name)), introducedServers(box), tty.CleanLine(box.Description))
		}
		fmt.Fprintln(screen)
		nextSteps(screen, [][2]string{
			{"mcp-workbench doctor", "see whether each server works"},
			{"mcp-workbench connect", "add the workbench to a client"},
			{"mcp-workbench list", "see what is configured; add and remove change it"},
		})
	}
	fmt.Fprint(screen, `
An MCP client starts this program and talks to it over stdin and stdout; there is
nothing to type here. Everything else: mcp-workbench --help
`)
}

// introducedServers counts the servers of a toolbox that are enabled.
func introducedServers(box config.Toolbox) string {
	enabled := 0
	for i := range box.Servers {
		if !box.Servers[i].Disabled {
			enabled++
		}
	}
	if box.IsDisabled() {
		return "disabled"
	}
	return toolbox.Count(enabled, "server", "servers")
}

func nextSteps(screen *tty.Screen, steps [][2]string) {
	for _, step := range steps {
		fmt.Fprintf(screen, "  %s  %s\n", screen.Paint(tty.Strong, fmt.Sprintf("%-22s", step[0])), step[1])
	}
}
