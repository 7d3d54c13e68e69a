package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/config"
	"github.com/mcp-workbench/mcp-workbench/internal/daemon"
	"github.com/mcp-workbench/mcp-workbench/internal/relay"
	"github.com/mcp-workbench/mcp-workbench/internal/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/wire"
)

func newBridge(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "bridge SOCKET",
		Short: "Connect a client that speaks stdio to a workbench that runs",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runBridge(cmd.Context(), *g, args[0], os.Stderr)
		},
	}
}

// joinTime is how long a workbench that is not there is waited for.
const joinTime = 10 * time.Second

func runBridge(ctx context.Context, g globals, socket string, stderr io.Writer) error {
	log, err := g.logger(&config.Config{}, stderr)
	if err != nil {
		return err
	}
	folder, _ := os.Getwd() // without one, that of the workbench has to do
	return relay.Run(ctx, relay.Options{
		In: wire.Pollable(os.Stdin), Out: wire.Pollable(os.Stdout), Log: log,
		Dial: func(ctx context.Context, resume relay.Resume) (relay.Conn, error) {
			conn, err := daemon.Await(ctx, socket, joinTime, daemon.Hello{
				Version: Version, Folder: folder, Opened: resume.Opened, LastAsked: resume.LastAsked,
			})
			if err != nil && !errors.Is(err, context.Canceled) {
				return nil, &toolbox.Error{
					Message: fmt.Sprintf("no workbench can be reached at %s: %v", socket, err),
					Hint:    "Name the socket of one that runs, or its address: mcp-workbench bridge http://127.0.0.1:7420/mcp",
					Cause:   err,
				}
			}
			return conn, err
		},
	})
}
