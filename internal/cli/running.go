package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/runtimedir"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/console"
)

// workbenchFlag is the flag that selects a running workbench.
type workbenchFlag struct{ pid int }

func (r *workbenchFlag) define(cmd *cobra.Command) {
	cmd.Flags().IntVar(&r.pid, "pid", 0, "process id of the workbench (default: the only one)")
}

// defineForAll is define for a command that shows all of them without the flag.
func (r *workbenchFlag) defineForAll(cmd *cobra.Command) {
	cmd.Flags().IntVar(&r.pid, "pid", 0, "process id of the workbench (default: all)")
}

// find returns the selected workbenches, oldest first; at least one. Those that do not answer are named on stderr.
func (r *workbenchFlag) find(ctx context.Context) ([]*control.Client, error) {
	return r.search(ctx, func(silent error) { tty.Remark(os.Stderr, silent.Error()) })
}

// findQuietly is find for a command that repeats it.
func (r *workbenchFlag) findQuietly(ctx context.Context) ([]*control.Client, error) {
	return r.search(ctx, func(error) {})
}

func (r *workbenchFlag) search(ctx context.Context, report func(silent error)) ([]*control.Client, error) {
	dir, err := runtimedir.Open(os.Getenv, config.StateDir())
	if err != nil {
		return nil, err
	}
	found, err := control.Find(ctx, dir)
	if err != nil {
		report(err)
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

// server returns the named server, and its workbench.
func (r *workbenchFlag) server(ctx context.Context, g *globals, name string) (*control.Client, control.Server, error) {
	found, err := r.find(ctx)
	if err != nil {
		return nil, control.Server{}, err
	}
	client, server, err := control.FindServer(found, name)
	if unknown, ok := errors.AsType[*toolbox.Error](err); ok && unknown.Code == toolbox.ServerNotFound {
		err = cmp.Or(g.disabledServer(name), err)
	}
	return client, server, err
}

// disabledServer is the error for a name that no running server has, because the configuration disables the server; nil if it does not.
func (g *globals) disabledServer(name string) error {
	outline := g.Outline()
	at, err := outline.Places().Find(name, toolbox.ServerOnly)
	for _, server := range outline.Servers {
		if err == nil && server.Disabled && server.Toolbox == at.Toolbox && server.Name == at.Server {
			return console.DisabledServer(nil, at)
		}
	}
	return nil
}
