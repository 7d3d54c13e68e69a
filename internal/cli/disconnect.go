package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/clients"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/completion"
)

func newDisconnect() *cobra.Command {
	var o connectOptions
	cmd := &cobra.Command{
		Use:   "disconnect CLIENT",
		Short: "Remove the workbench from an MCP client",
		Long: `Remove the workbench from the servers of an MCP client, and nothing else. The diff is shown
before anything is written. To restore the client's file as it was before 'connect',
including servers that were removed, use 'connect CLIENT --undo'.`,
		Example: `  mcp-workbench disconnect cursor
  mcp-workbench disconnect claude-code --project --dry-run`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return &usageError{err: fmt.Errorf("disconnect needs the name of a client, such as %s", strings.Join(clients.IDs()[:3], ", "))}
			}
			return atMostOne("one client")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			isNamed := cmd.Flags().Changed("name")
			return runDisconnect(cmd.Context(), args[0], o, isNamed, screenOf(cmd))
		},
		ValidArgsFunction: completion.Clients,
	}
	addConnectFlags(cmd, &o)
	return cmd
}

func runDisconnect(ctx context.Context, id string, o connectOptions, isNamed bool, screen *tty.Screen) error {
	client, err := findClient(id)
	if err != nil {
		return err
	}
	file, err := clientFile(ctx, clients.ThisMachine(), client, o, screen)
	if err != nil {
		return err
	}
	sources, err := client.ReadFile(clients.ThisMachine(), file)
	if err != nil {
		return err
	}
	c, err := clients.NewChange(file, o.mode(), func(before []byte) ([]byte, error) {
		return client.RemoveWorkbench(file, before, o.name, isNamed)
	})
	if err != nil {
		return err
	}
	if c.IsEmpty() {
		return &toolbox.Error{
			Code:    toolbox.ClientNotConnected,
			Message: fmt.Sprintf("The workbench is not among the servers of %s in %s", client.Title, file),
			Hint:    "'mcp-workbench connect' shows which clients are connected.",
		}
	}
	if done, err := applyChange(ctx, c, client, sources, o, screen, func() {}); !done || err != nil {
		return err
	}
	fmt.Fprintf(screen, "%s The workbench is removed from %s.\n\nNext: %s\n", screen.Paint(tty.Good, "✓"), client.Title, client.After)
	return nil
}
