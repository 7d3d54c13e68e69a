package cli

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/adopt"
	"github.com/mcp-workbench/mcp-workbench/internal/app"
	"github.com/mcp-workbench/mcp-workbench/internal/clients"
	"github.com/mcp-workbench/mcp-workbench/internal/config"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal"
	"github.com/mcp-workbench/mcp-workbench/internal/trust"
)

// overlap is what a client and the workbench both have.
type overlap struct {
	both    []adopt.Known // that both start
	removed []adopt.Known // of these, the ones to take out of the client's file
	stays   []stay        // what is not taken out, though it was asked for
}

// stay is a server that stays in a client's file, and why.
type stay struct{ name, reason string }

// findOverlap compares a client's servers with those of the configuration. With remove, it says
// which of them can be taken out: those that the workbench was seen to run.
func (g *globals) findOverlap(ctx context.Context, configuration string, sources []clients.Source, remove bool) (*overlap, error) {
	o := &overlap{}
	plan := &adopt.Plan{}
	if configuration != "" {
		files, err := readTarget(configuration, true)
		if err != nil {
			return nil, err
		}
		if plan, err = adopt.New(adopt.Given{Sources: sources, Config: files.before.Data, Env: files.variables, Lookup: os.LookupEnv}); err != nil {
			return nil, err
		}
	}
	for _, known := range plan.Already {
		if !known.Disabled {
			o.both = append(o.both, known)
		} else if remove {
			o.stays = append(o.stays, stay{known.Name, "it is disabled in the workbench; to enable it: " + g.command("enable", placeOf(known).String())})
		}
	}
	if !remove {
		return o, nil
	}
	works, err := seenWorking(ctx, configuration)
	if err != nil {
		return nil, err
	}
	for _, known := range o.both {
		if works[placeOf(known)] {
			o.removed = append(o.removed, known)
			continue
		}
		o.stays = append(o.stays, stay{known.Name, "the workbench has not been seen to run it yet; to try it: " + g.command("doctor", placeOf(known).String())})
	}
	for _, server := range plan.Servers {
		o.stays = append(o.stays, stay{server.Name, "the workbench does not have it; to import it: " + g.command("init")})
	}
	for _, skipped := range plan.Skipped {
		if slices.ContainsFunc(sources, func(s clients.Source) bool { return slices.Contains(s.Self, skipped.Name) }) {
			continue // it is what is to be there
		}
		o.stays = append(o.stays, stay{skipped.Name, "the workbench does not have it: " + skipped.Reason})
	}
	return o, nil
}

func placeOf(known adopt.Known) place { return place{known.Toolbox, known.Server} }

// command is a command line for the same configuration that a person can paste.
func (g *globals) command(words ...string) string {
	if g.configPath != "" {
		words = append([]string{"--config", g.configPath}, words...)
	}
	return trust.Quote(append([]string{"mcp-workbench"}, words...)...)
}

// seenWorking returns the servers of a file whose tools are known as they are configured now:
// they were started, by doctor or for a call, and answered.
func seenWorking(ctx context.Context, configuration string) (map[place]bool, error) {
	if configuration == "" {
		return nil, nil
	}
	cfg, err := config.Load(configuration, os.Environ())
	if err != nil {
		return nil, err
	}
	seen, err := app.Remembered(ctx, cfg, stateDir())
	works := make(map[place]bool)
	for _, server := range seen {
		works[place{server.Toolbox, server.Server}] = true
	}
	return works, err
}

// tell says which servers stay in the client's file, and how to take out what both start.
func (o *overlap) tell(screen *terminal.Screen, client *clients.Client) {
	for _, s := range o.stays {
		fmt.Fprintf(screen, "%s %s\n", screen.Paint(terminal.Caution, "!"),
			screen.Wrap(fmt.Sprintf("'%s' stays in %s: %s", terminal.CleanLine(s.name), client.Title, terminal.CleanLine(s.reason)), 2))
	}
	if len(o.both) == 0 || len(o.removed)+len(o.stays) > 0 {
		return
	}
	names := make([]string, len(o.both))
	for i, known := range o.both {
		names[i] = terminal.CleanLine(known.Name)
	}
	fmt.Fprintf(screen, "  %s\n  To take that out there: mcp-workbench connect %s --remove-imported\n",
		screen.Wrap(fmt.Sprintf("%s still starts %s itself as well, which the workbench has.", client.Title, strings.Join(names, ", ")), 2), client.ID)
}
