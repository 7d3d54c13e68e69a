package cli

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/app/service"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/daemon"
)

// newDaemon is started by this program itself, for the first client that shares a workbench.
func newDaemon(g *globals) *cobra.Command {
	var folder, project, user string
	cmd := &cobra.Command{
		Use:    "daemon",
		Short:  "Serve the clients that share a workbench (started by --shared)",
		Hidden: true,
		Args:   noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if project != "" {
				g.Places = []config.Place{{Path: project, Origin: config.Local}}
				if user != "" {
					g.Places = append(g.Places, config.Place{Path: user, Origin: config.User})
				}
			}
			key, err := daemon.ReadKey(os.Stdin)
			if err == nil {
				err = service.RunDaemon(cmd.Context(), g.service(io.Discard), key, folder, os.Stdout)
			}
			if err != nil {
				fmt.Fprintln(os.Stdout, tty.Describe(err)) // the process that started it shows it
			}
			return err
		},
	}
	cmd.Flags().StringVar(&folder, "folder", "", "working folder of servers for which no client names one")
	cmd.Flags().StringVar(&g.toolbox, "toolbox", "", "serve this toolbox only (default: all)")
	cmd.Flags().StringVar(&project, "project", "", "configuration found in a working folder, which has to be trusted")
	cmd.Flags().StringVar(&user, "user", "", "the user's own configuration, below that of --project; it may not exist yet")
	return cmd
}
