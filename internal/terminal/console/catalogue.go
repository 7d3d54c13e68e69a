package console

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/app"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/trust"
)

// place is a configured server that is not disabled.
type place struct{ Toolbox, Server string }

func (p place) String() string { return p.Toolbox + "/" + p.Server }

// places returns the servers in the order of the configuration, and the disabled ones.
func (c *Console) places() (enabled, disabled []place) {
	for _, box := range c.Config.Toolboxes {
		for _, server := range box.Servers {
			at := place{box.Name, server.Name}
			if server.Disabled {
				disabled = append(disabled, at)
			} else {
				enabled = append(enabled, at)
			}
		}
	}
	return enabled, disabled
}

// entry is one tool in a catalogue.
type entry struct {
	place
	tool catalog.Tool
}

// Ref returns the full name of the tool.
func (e entry) Ref() string { return e.String() + "/" + e.tool.Name }

// catalogue holds the tool lists of some servers.
type catalogue []app.KnownServer

func (k catalogue) entries() (all []entry) {
	for _, server := range k {
		for _, tool := range server.Tools {
			all = append(all, entry{place{server.Toolbox, server.Server}, tool})
		}
	}
	return all
}

// unreachable returns the servers without a tool list.
func (k catalogue) unreachable() (all []app.KnownServer) {
	for _, server := range k {
		if server.Err != nil {
			all = append(all, server)
		}
	}
	return all
}

// toolLists returns the tool lists of some servers. It connects servers that are not in the cache, with the time limit of
// app.Patience, or all of them for a refresh: in the shared workbench, or else in this process, where they are stopped
// when it returns.
func (c *Console) toolLists(ctx context.Context, wanted []place, refresh bool) (catalogue, error) {
	if c.Dial == nil {
		return c.find(ctx, wanted, app.KnownOptions{Refresh: refresh})
	}
	known, err := c.find(ctx, wanted, app.KnownOptions{Stored: true})
	if err != nil {
		return nil, err
	}
	var unseen []place
	for _, server := range known {
		if refresh || errors.Is(server.Err, app.ErrNeverSeen) {
			unseen = append(unseen, place{server.Toolbox, server.Server})
		}
	}
	if len(unseen) == 0 {
		return known, nil
	}
	reasons, ok, err := c.connectShared(ctx, unseen, refresh, len(known) > len(unseen))
	if err != nil {
		return nil, err
	}
	if !ok {
		return c.toolLists(ctx, wanted, refresh)
	}
	if known, err = c.find(ctx, wanted, app.KnownOptions{Stored: true}); err != nil { // the cache of the shared workbench serves everyone
		return nil, err
	}
	for i := range known {
		server := &known[i]
		if reason := reasons[place{server.Toolbox, server.Server}]; reason != nil {
			server.Tools, server.Err = nil, reason
		}
	}
	return known, nil
}

// askAgain asks those servers again whose cached list is that of a client with other capabilities: they may offer a tool to this command that
// they did not offer then. It reports whether there were any, and does so once.
func (c *Console) askAgain(ctx context.Context, known catalogue) (bool, error) {
	var others []place
	for _, server := range known {
		at := place{server.Toolbox, server.Server}
		if server.ForOthers && server.Err == nil && !c.askedAgain[at] {
			c.askedAgain[at] = true
			others = append(others, at)
		}
	}
	if len(others) == 0 {
		return false, nil
	}
	_, err := c.toolLists(ctx, others, true)
	return true, err
}

// find returns the tool lists of some servers from this process.
func (c *Console) find(ctx context.Context, wanted []place, options app.KnownOptions) (_ catalogue, err error) {
	workbench, err := c.workbench(c.Config)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, workbench.Stop(context.WithoutCancel(ctx))) }()
	set := make(map[place]bool, len(wanted))
	for _, at := range wanted {
		set[at] = true
	}
	options.Wanted = func(box, server string) bool { return set[place{box, server}] }
	options.Connecting = c.connecting
	options.Capabilities = app.ByPerson // as in a call, so that every callable tool is listed
	known := catalogue(workbench.Known(ctx, options))
	c.printNotAwaited(known)
	return known, ctx.Err()
}

// connecting prints a line for each server that is being connected.
func (c *Console) connecting(servers []app.KnownServer) func(int, app.KnownServer) {
	live := c.Err.Live(len(servers))
	name := func(server app.KnownServer) string {
		return tty.CleanLine(place{server.Toolbox, server.Server}.String())
	}
	for i, server := range servers {
		live.Line(i).Show(c.Err.Paint(tty.Faint, "… connecting "+name(server)))
	}
	return func(i int, server app.KnownServer) {
		switch {
		case errors.Is(server.Err, app.ErrNotAwaited):
			live.Line(i).Done(c.Err.Paint(tty.Caution, "!") + " " + name(server) + " " + server.Err.Error())
			return
		case server.Err != nil:
			c.reported[place{server.Toolbox, server.Server}] = true
			live.Line(i).Done(c.brokenServer(server))
			return
		}
		live.Line(i).Done(c.Err.Paint(tty.Good, "✓") + " " + name(server) + ": " + toolbox.Count(len(server.Tools), "tool", "tools"))
	}
}

// printNotAwaited prints how to diagnose servers that exceeded the time limit.
func (c *Console) printNotAwaited(servers []app.KnownServer) {
	var names []string
	for _, server := range servers {
		if errors.Is(server.Err, app.ErrNotAwaited) {
			names = append(names, place{server.Toolbox, server.Server}.String())
		}
	}
	if len(names) > 0 {
		fmt.Fprintln(c.Err, "  "+tty.CleanLine("To look at it: "+trust.Command(c.Config, append([]string{"doctor"}, names...)...)))
	}
}

// brokenServer is the line of a server without a tool list: what is more to say about it is left to doctor.
func (c *Console) brokenServer(server app.KnownServer) string {
	reason := server.Err.Error()
	if fault, ok := errors.AsType[*config.Error](server.Err); ok {
		reason = fault.OneLine()
	}
	return c.Err.Paint(tty.Bad, "✗") + " " + tty.CleanLine(place{server.Toolbox, server.Server}.String()+": "+strings.TrimSpace(reason))
}

// printUnreachable prints why some servers have no tool list, unless that was said while they were connected.
func (c *Console) printUnreachable(servers []app.KnownServer) {
	for _, server := range servers {
		if !errors.Is(server.Err, app.ErrNotAwaited) && !c.reported[place{server.Toolbox, server.Server}] {
			fmt.Fprintln(c.Err, c.brokenServer(server))
		}
	}
}

// unreachableError is the error of a command if no server responded.
func (c *Console) unreachableError(servers []app.KnownServer) error {
	if len(servers) == 1 {
		return &toolbox.Error{
			Code:    toolbox.ServersUnreachable,
			Message: fmt.Sprintf("Server '%s' could not be reached: %v", place{servers[0].Toolbox, servers[0].Server}, servers[0].Err), // a narrow terminal cut it
			Hint:    "To look at it step by step: " + trust.Command(c.Config, "doctor", place{servers[0].Toolbox, servers[0].Server}.String()),
		}
	}
	return &toolbox.Error{
		Code:    toolbox.ServersUnreachable,
		Message: fmt.Sprintf("%s could not be reached", toolbox.Count(len(servers), "server", "servers")),
		Hint:    "The reasons are above. To look at each server step by step: " + trust.Command(c.Config, "doctor"),
	}
}
