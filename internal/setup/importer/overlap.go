package importer

import (
	"context"
	"os"
	"slices"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/clients"
)

// Overlap is the set of servers that both a client and the workbench have.
type Overlap struct {
	Both     []Known // started by both
	Removed  []Known // the subset to remove from the client's file
	Stays    []Stay  // servers that stay although their removal was requested
	NoConfig bool    // removal was requested, but there is no configuration
}

// Stay is a server that stays in a client's file, and why.
type Stay struct{ Name, Reason string }

// OverlapOptions define the configuration to compare with.
type OverlapOptions struct {
	Config string // the configuration file; "": none
	// Remove also determines which servers can be removed from the client's file: those that Working reports, as the
	// workbench has started them before.
	Remove  bool
	Working func(ctx context.Context, configuration string) (map[toolbox.Ref]bool, error)
	Command func(words ...string) string // a command line of the workbench, to paste
}

// FindOverlap compares a client's servers with those of the configuration.
func FindOverlap(ctx context.Context, sources []clients.Source, options OverlapOptions) (*Overlap, error) {
	if options.Config == "" {
		return &Overlap{NoConfig: options.Remove}, nil
	}
	o := &Overlap{}
	target, err := ReadTarget(options.Config, false)
	if err != nil {
		return nil, err
	}
	plan, err := NewPlan(Given{Sources: sources, Config: target.Kept, Env: target.variables, Lookup: os.LookupEnv})
	if err != nil {
		return nil, err
	}
	for _, known := range plan.Already {
		if !known.Disabled {
			o.Both = append(o.Both, known)
		} else if options.Remove {
			o.addStay(known.Name, "it is disabled in the workbench; to enable it: "+options.Command("enable", known.Toolbox+"/"+known.Server))
		}
	}
	if !options.Remove {
		return o, nil
	}
	works, err := options.Working(ctx, options.Config)
	if err != nil {
		return nil, err
	}
	for _, known := range o.Both {
		if works[toolbox.Ref{Toolbox: known.Toolbox, Server: known.Server}] {
			o.Removed = append(o.Removed, known)
			continue
		}
		o.addStay(known.Name, "the workbench has not been seen to run it yet; to try it: "+options.Command("doctor", known.Toolbox+"/"+known.Server))
	}
	for _, server := range plan.Servers {
		o.addStay(server.Name, "the workbench does not have it; to import it: "+options.Command("init"))
	}
	for _, skipped := range plan.Skipped {
		if slices.ContainsFunc(sources, func(s clients.Source) bool { return slices.Contains(s.Self, skipped.Name) }) {
			continue // the workbench's own entry
		}
		o.addStay(skipped.Name, "the workbench does not have it: "+skipped.Reason)
	}
	return o, nil
}

func (o *Overlap) addStay(name, reason string) { o.Stays = append(o.Stays, Stay{name, reason}) }
