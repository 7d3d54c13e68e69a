package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/clients"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/importer"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/completion"
)

func newDisconnect() *cobra.Command {
	var o connectOptions
	cmd := &cobra.Command{
		Use:   "disconnect CLIENT...",
		Short: "Remove the workbench from MCP clients",
		Long: `Remove the workbench from the servers of MCP clients, and nothing else. The diff
is shown before anything is written. To restore the client's file as it was
before 'connect', including servers that were removed, use 'connect CLIENT
--undo'.`,
		Example: `  mcp-workbench disconnect cursor
  mcp-workbench disconnect --all
  mcp-workbench disconnect claude-code --project --dry-run`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 && !o.all {
				return &usageError{err: fmt.Errorf("disconnect needs the name of a client, such as %s, or --all", strings.Join(clients.IDs()[:3], ", "))}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(cmd, nil, args); err != nil {
				return err
			}
			targets, err := o.targets(args)
			if err != nil {
				return err
			}
			isNamed := cmd.Flags().Changed("name")
			return newDisconnection(cmd.Context(), o, isNamed, screenOf(cmd)).run(cmd, targets)
		},
		ValidArgsFunction: completion.Clients,
	}
	addConnectFlags(cmd, &o)
	cmd.Flags().BoolVar(&o.all, "all", false, "disconnect all clients that have the workbench")
	return cmd
}

func newDisconnection(ctx context.Context, o connectOptions, isNamed bool, screen *tty.Screen) *clientRun {
	return &clientRun{
		o: o, screen: screen, done: statusDisconnected, one: "Write this?", many: "Write these %d files?",
		none: &toolbox.Error{Code: toolbox.ClientNotConnected, Message: "No client has the workbench", Hint: "'mcp-workbench connect' shows the clients."},
		plan: func(client *clients.Client) (*clientChange, error) {
			return planDisconnect(ctx, client, o, isNamed, screen)
		},
		finishAll: func(changed []*clientChange) { showAfter(screen, changed) },
	}
}

func planDisconnect(ctx context.Context, client *clients.Client, o connectOptions, isNamed bool, screen *tty.Screen) (*clientChange, error) {
	file, err := clientFile(ctx, clients.ThisMachine(), client, o, screen)
	if err != nil {
		return nil, err
	}
	sources, err := client.ReadFile(clients.ThisMachine(), file)
	if err != nil {
		return nil, err
	}
	report := newClientReport(client, file)
	c, err := clients.NewChange(file, o.mode(), func(before []byte) (after []byte, err error) {
		after, report.Removed, err = client.RemoveWorkbench(file, before, o.name, isNamed)
		return after, err
	})
	switch {
	case err != nil:
		return nil, err
	case c.IsEmpty() && o.all:
		return nil, nil
	case c.IsEmpty():
		return nil, &toolbox.Error{
			Code:    toolbox.ClientNotConnected,
			Message: fmt.Sprintf("The workbench is not among the servers of %s in %s", client.Title, file),
			Hint:    "'mcp-workbench connect' shows which clients are connected.",
		}
	}
	return &clientChange{
		client: client, report: report,
		show: func() {
			showDiff(screen, file, c.Before, c.After, importer.Masker(file, [][]byte{c.Before}, sources))
			fmt.Fprintln(screen)
		},
		write: func() error {
			store, err := clients.OpenBackups()
			if err == nil {
				err = c.Write(store, client)
			}
			report.Undo = "mcp-workbench connect " + client.ID + " --undo"
			return err
		},
		finish: func(isAlone bool) {
			fmt.Fprintf(screen, "%s The workbench is removed from %s.\n", screen.Paint(tty.Good, "✓"), client.Title)
			if isAlone {
				fmt.Fprintf(screen, "\nNext: %s\n", client.After)
			}
		},
	}, nil
}
