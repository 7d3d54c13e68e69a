package console

import (
	"context"
	"fmt"
	"slices"

	"github.com/mcp-workbench/mcp-workbench/internal/app"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/arguments"
)

// This file finds definitions for commands about the policy: those that it hides are found, too.

// Definition is a tool with its full name.
type Definition struct {
	Ref  toolbox.Ref
	Tool catalog.Tool
	// Of its server; see app.KnownServer.
	Folder       string
	NamedFolders []string
}

// Definitions holds the tools of some servers, whatever the policy says about them.
type Definitions struct {
	known    catalogue
	disabled []place
}

// DefinitionsFor returns the tools of the servers that references to tools can be about; without references, of all. Servers that
// are not in the cache are connected.
func (c *Console) DefinitionsFor(ctx context.Context, refs ...string) (*Definitions, error) {
	enabled, disabled := c.places()
	if len(enabled) == 0 {
		return nil, c.nothingConfigured()
	}
	wanted := enabled
	if len(refs) > 0 {
		wanted = nil
		for _, at := range enabled {
			if slices.ContainsFunc(refs, func(ref string) bool { return slices.Contains(candidates(ref, enabled), at) }) {
				wanted = append(wanted, at)
			}
		}
	}
	known, err := c.withoutPolicy().toolLists(ctx, wanted, false)
	return &Definitions{known, disabled}, err
}

// CachedDefinitions returns the tools that are in the cache. Nothing is connected.
func (c *Console) CachedDefinitions(ctx context.Context) (*Definitions, error) {
	enabled, disabled := c.places()
	known, err := c.withoutPolicy().find(ctx, enabled, app.KnownOptions{Stored: true})
	return &Definitions{known, disabled}, err
}

func (c *Console) withoutPolicy() *Console {
	without, cfg := *c, *c.Config
	cfg.Policy = config.Policy{}
	without.Config = &cfg
	return &without
}

// Unknown returns the servers without a tool list.
func (d *Definitions) Unknown() []app.KnownServer { return d.known.unreachable() }

// All returns the tools, in the order of the configuration.
func (d *Definitions) All() (all []Definition) {
	for _, server := range d.known {
		for _, tool := range server.Tools {
			all = append(all, Definition{toolbox.Ref{Toolbox: server.Toolbox, Server: server.Server, Name: tool.Name}, tool, server.Folder, server.NamedFolders})
		}
	}
	return all
}

// Find returns the tool that a reference names, or the usual error.
func (d *Definitions) Find(ref string) (Definition, error) {
	found := match(ref, d.known.entries())
	switch len(found) {
	case 1:
		for _, one := range d.All() {
			if one.Ref == (toolbox.Ref{Toolbox: found[0].Toolbox, Server: found[0].Server, Name: found[0].tool.Name}) {
				return one, nil
			}
		}
	case 0:
		if err := d.unreached(ref); err != nil {
			return Definition{}, err
		}
		return Definition{}, notFound("tool", ref, nearest(ref, d.known.entries()), d.disabled)
	}
	return Definition{}, ambiguous(ref, "tools", refs(found))
}

// unreached returns an error if none of the servers that a reference can be about has a tool list, so that nobody knows
// whether the tool exists.
func (d *Definitions) unreached(ref string) error {
	var all, failed []place
	for _, server := range d.known {
		all = append(all, place{server.Toolbox, server.Server})
	}
	for _, server := range d.known.unreachable() {
		failed = append(failed, place{server.Toolbox, server.Server})
	}
	wanted := candidates(ref, all)
	if len(wanted) == 0 || slices.ContainsFunc(wanted, func(at place) bool { return !slices.Contains(failed, at) }) {
		return nil
	}
	which := fmt.Sprintf("server '%s'", wanted[0])
	if len(wanted) > 1 {
		which = fmt.Sprintf("%d servers", len(wanted))
	}
	return &toolbox.Error{
		Code:    toolbox.ServersUnreachable,
		Message: fmt.Sprintf("The tool '%s' is not known, since %s could not be reached", ref, which),
		Hint:    "To look at each server step by step: mcp-workbench doctor",
	}
}

// PrintUnreachable prints why some servers have no tool list. The error is nil unless none has one.
func (c *Console) PrintUnreachable(d *Definitions) error {
	failed := d.Unknown()
	c.printUnreachable(failed)
	if len(failed) > 0 && len(failed) == len(d.known) {
		return c.unreachableError(failed)
	}
	return nil
}

// Arguments makes the arguments of a call of a tool, as for Call. They are not checked against its schema, since calls by
// others are not either.
func (c *Console) Arguments(tool Definition, options CallOptions) ([]byte, error) {
	return arguments.Parse(options.Words, tool.Tool.Definition.Member("inputSchema"), options.Stdin)
}
