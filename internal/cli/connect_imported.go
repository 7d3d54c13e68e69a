package cli

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/app"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/clients"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/importer"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/trust"
)

// overlap is what a client and the workbench both have.
type overlap struct {
	both    []importer.Known // that both start
	removed []importer.Known // of these, the ones to take out of the client's file
	stays   []stay           // what is not taken out, though it was asked for
	none    bool             // nothing is taken out, though it was asked for: there is no configuration
}

// stay is a server that stays in a client's file, and why.
type stay struct{ name, reason string }

// findOverlap compares a client's servers with those of the configuration. With remove, it says
// which of them can be taken out: those that the workbench was seen to run.
func (g *globals) findOverlap(ctx context.Context, configuration string, sources []clients.Source, remove bool) (*overlap, error) {
	if configuration == "" {
		return &overlap{none: remove}, nil
	}
	o := &overlap{}
	files, err := readTarget(configuration, false)
	if err != nil {
		return nil, err
	}
	plan, err := importer.NewPlan(importer.Given{Sources: sources, Config: files.kept, Env: files.variables, Lookup: os.LookupEnv})
	if err != nil {
		return nil, err
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

func placeOf(known importer.Known) place { return place{known.Toolbox, known.Server} }

// command is a command line for the same configuration that a person can paste.
func (g *globals) command(words ...string) string {
	if g.ConfigPath != "" {
		words = append([]string{"--config", g.ConfigPath}, words...)
	}
	return trust.Quote(append([]string{"mcp-workbench"}, words...)...)
}

// seenWorking returns the servers of a file whose tools are known as they are configured now:
// they were started, by doctor or for a call, and answered.
func seenWorking(ctx context.Context, configuration string) (map[place]bool, error) {
	cfg, err := config.Load(configuration, os.Environ())
	if err != nil {
		return nil, err
	}
	seen, err := app.Remembered(ctx, cfg, config.StateDir())
	works := make(map[place]bool)
	for _, server := range seen {
		works[place{server.Toolbox, server.Server}] = true
	}
	return works, err
}

// sayWhatStays says which servers stay in the client's file though they were to be taken out.
func (o *overlap) sayWhatStays(screen *tty.Screen, client *clients.Client) {
	caution := screen.Paint(tty.Caution, "!")
	for _, s := range o.stays {
		fmt.Fprintf(screen, "%s %s\n", caution,
			screen.Wrap(fmt.Sprintf("'%s' stays in %s: %s", tty.CleanLine(s.name), client.Title, tty.CleanLine(s.reason)), 2))
	}
	if o.none {
		fmt.Fprintf(screen, "%s %s\n", caution,
			screen.Wrap(fmt.Sprintf("--remove-imported takes nothing out of %s: without a configuration, the workbench has none of its servers. To import them: mcp-workbench init", client.Title), 2))
	}
	if len(o.stays) > 0 || o.none {
		fmt.Fprintln(screen)
	}
}

// sayWhatIsDouble says what both start, and how to take it out of the client's file.
func (o *overlap) sayWhatIsDouble(screen *tty.Screen, client *clients.Client) {
	if len(o.both) == 0 || len(o.removed)+len(o.stays) > 0 {
		return
	}
	names := make([]string, len(o.both))
	for i, known := range o.both {
		names[i] = tty.CleanLine(known.Name)
	}
	fmt.Fprintf(screen, "  %s\n  To take that out there: mcp-workbench connect %s --remove-imported\n",
		screen.Wrap(fmt.Sprintf("%s still starts %s itself as well, which the workbench has.", client.Title, strings.Join(names, ", ")), 2), client.ID)
}
