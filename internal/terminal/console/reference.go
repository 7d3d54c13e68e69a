package console

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/app"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/trust"
)

// A tool is named by TOOLBOX/SERVER/TOOL, SERVER/TOOL or TOOL. Names may hold slashes, so
// that a reference is compared with what there is, and not taken apart. A full name wins
// over a short one; of several short ones none does.

// candidates returns the servers that a reference to a tool can be about.
func candidates(ref string, places []place) []place {
	for _, prefix := range []func(place) string{
		func(p place) string { return p.String() + "/" },
		func(p place) string { return p.Server + "/" },
	} {
		var found []place
		for _, at := range places {
			if rest, ok := strings.CutPrefix(ref, prefix(at)); ok && rest != "" {
				found = append(found, at)
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	return places
}

// match returns the tools that a reference names.
func match(ref string, entries []entry) (found []entry) {
	for _, e := range entries {
		if e.Ref() == ref {
			return []entry{e}
		}
		if e.Server+"/"+e.tool.Name == ref || e.tool.Name == ref {
			found = append(found, e)
		}
	}
	return found
}

// Named returns the tool that a reference names; ok is false if there is none, or several.
func Named(ref string, known []app.KnownServer) (tool catalog.Tool, ok bool) {
	found := match(ref, catalogue(known).entries())
	if len(found) != 1 {
		return catalog.Tool{}, false
	}
	return found[0].tool, true
}

// locate finds the server that a reference to a tool is about. If the configuration alone decides, nothing is
// connected: the call itself reports an unknown tool. If nothing is found, and one server needs a login to list its tools,
// the error of a command that logs in says so.
func (c *Console) locate(ctx context.Context, ref string, logsIn bool) (place, error) {
	enabled, disabled := c.places()
	if len(enabled) == 0 {
		return place{}, c.nothingConfigured()
	}
	wanted := candidates(ref, enabled)
	if err := c.deniedByName(ref, wanted); err != nil {
		return place{}, err
	}
	if len(wanted) == 1 {
		return wanted[0], nil
	}
	known, err := c.toolLists(ctx, wanted, false)
	if err != nil {
		return place{}, err
	}
	switch found := match(ref, known.entries()); len(found) {
	case 1:
		return found[0].place, nil
	case 0:
		if err := c.deniedAmong(ctx, ref, wanted); err != nil {
			return place{}, err
		}
		if again, err := c.askAgain(ctx, known); again || err != nil {
			return c.locateAgain(ctx, ref, logsIn, err)
		}
		if needed := c.needsOneLogin(ref, known.unreachable()); logsIn && needed != nil {
			return place{}, needed
		}
		c.printUnreachable(known.unreachable())
		return place{}, notFound("tool", ref, nearest(ref, known.entries()), disabled)
	default:
		return place{}, ambiguous(ref, "tools", refs(found))
	}
}

// locateAgain is locate after servers were asked again.
func (c *Console) locateAgain(ctx context.Context, ref string, logsIn bool, err error) (place, error) {
	if err != nil {
		return place{}, err
	}
	return c.locate(ctx, ref, logsIn)
}

func refs(entries []entry) []string {
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Ref()
	}
	return names
}

func ambiguous(ref, things string, names []string) error {
	return toolbox.Ambiguous(ref, fmt.Sprint(len(names), " ", things), names)
}

// notFound suggests names that may have been meant.
func notFound(what, ref string, near []string, disabled []place) error {
	err := &toolbox.Error{Code: toolbox.ReferenceNotFound, Message: fmt.Sprintf("There is no %s '%s' in the configuration", what, ref)}
	for _, at := range disabled {
		if strings.HasPrefix(ref, at.String()+"/") || strings.HasPrefix(ref, at.Server+"/") {
			err.Message = fmt.Sprintf("Server '%s' of '%s' is disabled in the configuration", at, ref)
			err.Hint = "To use it: mcp-workbench enable " + at.String()
			return err
		}
	}
	if len(near) > 0 {
		err.Hint = toolbox.Meant(near)
	} else {
		err.Hint = "To see all tools: mcp-workbench tools\nTo find one by what it does: mcp-workbench find WORDS"
	}
	return err
}

// nearest returns the full names of tools with a similar spelling, in any form.
func nearest(ref string, entries []entry) []string {
	tools := make([]toolbox.Ref, len(entries))
	for i, e := range entries {
		tools[i] = toolbox.Ref{Toolbox: e.Toolbox, Server: e.Server, Name: e.tool.Name}
	}
	return toolbox.NearestTools(ref, tools)
}

func (c *Console) nothingConfigured() error {
	where := c.Config.Path
	if where == "" || len(c.Config.Files) > 1 {
		where = "the configuration"
	}
	err := &toolbox.Error{
		Code:    toolbox.NothingConfigured,
		Message: "There is no server to use in " + where,
		Hint:    "To import the servers of your clients: mcp-workbench init\nTo add one: mcp-workbench add",
	}
	if _, disabled := c.places(); len(disabled) > 0 {
		err.Message = "All servers in " + where + " are disabled"
		err.Hint = "To use one: " + trust.Command(c.Config, "enable", disabled[0].String())
	}
	return err
}

// disabledToolbox is the error for a toolbox whose servers are all disabled.
func (c *Console) disabledToolbox(name string) error {
	return &toolbox.Error{
		Code:    toolbox.ReferenceNotFound,
		Message: fmt.Sprintf("Toolbox '%s' is disabled: so are all of its servers in the configuration", name),
		Hint:    "To use it: " + trust.Command(c.Config, "enable", name),
	}
}

// selection finds the servers of a toolbox or a server; "" is all.
func (c *Console) selection(name string) ([]place, error) {
	enabled, disabled := c.places()
	if len(enabled) == 0 {
		return nil, c.nothingConfigured()
	}
	if name == "" {
		return enabled, nil
	}
	all := c.Config.Places()
	usable := *all
	usable.Servers = slices.DeleteFunc(slices.Clone(all.Servers), func(at toolbox.Place) bool { return slices.Contains(disabled, place(at)) })
	at, err := usable.Find(name, toolbox.ToolboxFirst)
	if unknown, ok := errors.AsType[*toolbox.Error](err); ok && unknown.Code == toolbox.ReferenceNotFound {
		at, err = all.Find(name, toolbox.ToolboxFirst)
	}
	switch {
	case err != nil:
		return nil, err
	case at.Server == "":
		enabled = slices.DeleteFunc(enabled, func(one place) bool { return one.Toolbox != at.Toolbox })
		if len(enabled) == 0 {
			return nil, c.disabledToolbox(at.Toolbox)
		}
		return enabled, nil
	case slices.Contains(disabled, place(at)):
		return nil, DisabledServer(c.Config, at)
	}
	return []place{place(at)}, nil
}

// DisabledServer is the error for a server that is disabled.
func DisabledServer(cfg *config.Config, at toolbox.Place) error {
	return &toolbox.Error{
		Code:    toolbox.ReferenceNotFound,
		Message: fmt.Sprintf("Server '%s' is disabled in the configuration", at),
		Hint:    "To use it: " + trust.Command(cfg, "enable", at.String()),
	}
}
