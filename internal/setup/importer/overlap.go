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
	Both      []Known // started by both
	Removable []Known // the subset that the client does not need any more: the workbench was seen to run them
	Stays     []Stay  // all other servers of the client
	NoConfig  bool    // there is no configuration to compare with
}

// Stay is a server that stays in a client's file, and why.
type Stay struct {
	Name    string `json:"name"`
	Project string `json:"project,omitempty"` // the folder that it is limited to
	Reason  string `json:"reason"`
}

// OverlapOptions define the configuration to compare with.
type OverlapOptions struct {
	Config           string // the configuration file; "": none
	clients.Standing        // what the client gets of it
	// Working returns the servers that the workbench has started before.
	Working func(ctx context.Context, configuration string) (map[toolbox.Ref]bool, error)
	Command func(words ...string) string // a command line of the workbench, to paste
}

// FindOverlap compares a client's servers with those of the configuration.
func FindOverlap(ctx context.Context, sources []clients.Source, options OverlapOptions) (*Overlap, error) {
	if options.Config == "" {
		return &Overlap{NoConfig: true}, nil
	}
	o := &Overlap{}
	target, err := ReadTarget(options.Config, false)
	if err != nil {
		return nil, err
	}
	plan, err := NewPlan(Given{Sources: sources, Config: target.Kept, Toolbox: options.Toolbox, Env: target.variables, Lookup: os.LookupEnv})
	if err != nil {
		return nil, err
	}
	for _, known := range plan.Already {
		switch {
		case options.Obstacle != "":
			o.addStay(known.Source, known.Name, options.Obstacle)
		case options.Toolbox != "" && known.Toolbox != options.Toolbox:
			o.addStay(known.Source, known.Name, "the workbench has it in the toolbox '"+known.Toolbox+"', which the client does not get")
		case known.Disabled:
			o.addStay(known.Source, known.Name, "it is disabled in the workbench; to enable it: "+options.Command("enable", known.Toolbox+"/"+known.Server))
		case known.differ != "":
			o.addStay(known.Source, known.Name, known.differ)
		default:
			o.Both = append(o.Both, known)
		}
	}
	if err := o.findRemovable(ctx, options); err != nil {
		return nil, err
	}
	for _, server := range plan.Servers {
		o.addStay(server.source, server.Name, "the workbench does not have it; to import it: "+options.Command(importWords(server.source)...))
	}
	for _, skipped := range plan.Skipped {
		if slices.ContainsFunc(sources, func(s clients.Source) bool { return slices.Contains(s.Self, skipped.Name) }) {
			continue // the workbench's own entry
		}
		o.addStay(skipped.source, skipped.Name, "the workbench does not have it: "+skipped.Reason)
	}
	return o, nil
}

// findRemovable divides the servers that both start by whether the workbench was seen to run them.
func (o *Overlap) findRemovable(ctx context.Context, options OverlapOptions) error {
	if len(o.Both) == 0 {
		return nil
	}
	works, err := options.Working(ctx, options.Config)
	if err != nil {
		return err
	}
	for _, known := range o.Both {
		if works[toolbox.Ref{Toolbox: known.Toolbox, Server: known.Server}] {
			o.Removable = append(o.Removable, known)
			continue
		}
		o.addStay(known.Source, known.Name, "the workbench has not been seen to run it yet; to try it: "+options.Command("doctor", known.Toolbox+"/"+known.Server))
	}
	return nil
}

func (o *Overlap) addStay(source *clients.Source, name, reason string) {
	o.Stays = append(o.Stays, Stay{Name: name, Project: source.Project, Reason: reason})
}

// importWords returns the command that imports the servers of a source.
func importWords(source *clients.Source) []string {
	isOwn := source.Client != nil && slices.Contains(source.Client.Files(clients.ThisMachine()), source.File)
	if here, _ := clients.OfFolder([]clients.Source{*source}); len(here) == 0 {
		return []string{"init", "--all-projects"}
	}
	if !isOwn && source.File != "" {
		return []string{"init", "--from", source.File}
	}
	return []string{"init"}
}
