package cli

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/app"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/clients"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/importer"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/trust"
)

// command returns a command line for the same configuration, to paste.
func (g *globals) command(words ...string) string {
	if g.ConfigPath != "" {
		words = append([]string{"--config", g.ConfigPath}, words...)
	}
	return trust.Quote(append([]string{"mcp-workbench"}, words...)...)
}

// seenWorking returns the servers of a file whose cached tool lists match the current configuration: doctor or a call
// started them, and they answered.
func seenWorking(ctx context.Context, configuration string) (map[toolbox.Ref]bool, error) {
	cfg, err := config.Load(configuration, os.Environ())
	if err != nil {
		return nil, err
	}
	seen, err := app.Remembered(ctx, cfg, config.StateDir())
	works := make(map[toolbox.Ref]bool)
	for _, server := range seen {
		works[toolbox.Ref{Toolbox: server.Toolbox, Server: server.Server}] = true
	}
	return works, err
}

// showStays names the servers that stay in the client's file although their removal was requested.
func showStays(screen *tty.Screen, o *importer.Overlap, client *clients.Client) {
	caution := screen.Paint(tty.Caution, "!")
	for _, s := range o.Stays {
		fmt.Fprintf(screen, "%s %s\n", caution,
			screen.Wrap(fmt.Sprintf("'%s' stays in %s: %s", tty.CleanLine(s.Name), client.Title, tty.CleanLine(s.Reason)), 2))
	}
	if o.NoConfig {
		fmt.Fprintf(screen, "%s %s\n", caution,
			screen.Wrap(fmt.Sprintf("--remove-imported removes nothing from %s: without a configuration, the workbench has none of its servers. To import them: mcp-workbench init", client.Title), 2))
	}
	if len(o.Stays) > 0 || o.NoConfig {
		fmt.Fprintln(screen)
	}
}

// showDoubled names the servers that both start, and how to remove them from the client's file.
func showDoubled(screen *tty.Screen, o *importer.Overlap, client *clients.Client) {
	if len(o.Both) == 0 || len(o.Removed)+len(o.Stays) > 0 {
		return
	}
	names := make([]string, len(o.Both))
	for i, known := range o.Both {
		names[i] = tty.CleanLine(known.Name)
	}
	fmt.Fprintf(screen, "  %s\n  To remove them there: mcp-workbench connect %s --remove-imported\n",
		screen.Wrap(fmt.Sprintf("%s also starts %s itself, which the workbench has.", client.Title, strings.Join(names, ", ")), 2), client.ID)
}
