package cli

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/runtimedir"
)

// This file finds the running workbench, and the server of it, that a command means.

// running are the flags of commands about running workbenches.
type running struct{ pid int }

func (r *running) define(cmd *cobra.Command) {
	cmd.Flags().IntVar(&r.pid, "pid", 0, "the workbench with this process id (default: the only one)")
}

// find returns the workbenches that are meant, oldest first: at least one.
func (r *running) find(ctx context.Context) ([]*control.Client, error) {
	dir, err := runtimedir.Open(os.Getenv, config.StateDir())
	if err != nil {
		return nil, err
	}
	found, err := control.Find(ctx, dir)
	if err != nil {
		tty.Remark(os.Stderr, err.Error())
	}
	if r.pid != 0 {
		for _, client := range found {
			if client.Status.PID == r.pid {
				return []*control.Client{client}, nil
			}
		}
		return nil, &toolbox.Error{
			Code: toolbox.NotRunning, Message: fmt.Sprintf("No workbench of yours has process id %d", r.pid),
			Hint: "See: mcp-workbench ps",
		}
	}
	if len(found) == 0 {
		return nil, &toolbox.Error{
			Code: toolbox.NotRunning, Message: "No workbench of yours is running",
			Hint: "A client that has the workbench starts it. To connect one: mcp-workbench connect\nTo run one for many clients: mcp-workbench serve",
		}
	}
	return found, nil
}

func several(found []*control.Client, what, todo string) error {
	var choices []string
	for _, client := range found {
		choices = append(choices, fmt.Sprintf("  --pid %d   %s", client.Status.PID, about(client.Status)))
	}
	return &toolbox.Error{Code: toolbox.SeveralRunning, Message: what, Hint: todo + ":\n" + strings.Join(choices, "\n")}
}

// about says in a few words which workbench it is.
func about(w control.Workbench) string {
	file := w.Config
	if file == "" {
		file = "the built-in default"
	}
	text := w.Serving + ", " + file
	if w.Project != "" {
		text = w.Serving + ", " + w.Project + " on top of " + file
	}
	if w.Folder != "" {
		text += ", in " + w.Folder
	}
	return text
}

// server returns the server that is meant, written as TOOLBOX/SERVER or as SERVER, of the
// workbench that has it.
func (r *running) server(ctx context.Context, name string) (*control.Client, control.Server, error) {
	found, err := r.find(ctx)
	if err != nil {
		return nil, control.Server{}, err
	}
	var having []*control.Client
	var refs, all []string
	var meant control.Server
	for _, client := range found {
		has := false
		for _, server := range client.Status.Servers {
			all = appendNew(all, server.Ref())
			if server.Ref() == name || server.Name == name {
				has, meant = true, server
				refs = appendNew(refs, server.Ref())
			}
		}
		if has {
			having = append(having, client)
		}
	}
	switch {
	case len(refs) == 0:
		return nil, meant, &toolbox.Error{
			Code: toolbox.ServerNotFound, Message: fmt.Sprintf("No running workbench has a server '%s'", tty.CleanLine(name)),
			Hint: "Servers: " + strings.Join(all, ", "),
		}
	case len(refs) > 1:
		return nil, meant, &toolbox.Error{
			Code: toolbox.AmbiguousName, Message: fmt.Sprintf("Several servers are named '%s'", name),
			Hint: "Say which one: " + strings.Join(refs, ", "),
		}
	case len(having) > 1:
		return nil, meant, several(having, fmt.Sprintf("Several running workbenches have a server '%s'", name), "Say which one is meant")
	}
	return having[0], meant, nil
}

func appendNew(list []string, name string) []string {
	for _, known := range list {
		if known == name {
			return list
		}
	}
	return append(list, name)
}
