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
		Long: `Remove the workbench from the servers of MCP clients, and put back the servers
that 'connect' took out of their files; --no-restore leaves those out. Nothing
else is changed, and the diff is shown before anything is written.`,
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
	cmd.Flags().BoolVar(&o.noRestore, "no-restore", false, "leave out the servers that connect took out of the client's file")
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
	store, err := clients.OpenBackups()
	if err != nil {
		return nil, err
	}
	options := clients.ClearOptions{KeepsFile: true, NoServers: o.noRestore, Mode: o.mode()}
	if isNamed {
		options.Name = o.name
	}
	c, err := clients.NewClearing(client, store, file, options)
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
	d := &disconnection{o: o, screen: screen, client: client, clearing: c, store: store, report: newClientReport(client, file)}
	d.report.Removed = c.Removed
	d.report.Restored = takenNames(c.Restored)
	return &clientChange{
		client: client, report: d.report,
		show: func() {
			showDiff(screen, file, c.Before, c.After, importer.Masker(file, [][]byte{c.Before, c.After}, sources))
			fmt.Fprintln(screen)
			d.showRestored()
		},
		write: func() error {
			d.report.Undo = d.command("connect", "--undo")
			return c.Write(store)
		},
		finish: d.finish,
	}, nil
}

// disconnection is one client that is about to lose the workbench.
type disconnection struct {
	o        connectOptions
	screen   *tty.Screen
	client   *clients.Client
	clearing *clients.Clearing
	store    clients.Backups
	report   *clientReport
}

// command returns a command line for the same file of the client.
func (d *disconnection) command(name string, flags ...string) string {
	return d.o.clientCommand(name, d.client, flags...)
}

// showRestored names the servers that come back.
func (d *disconnection) showRestored() {
	if len(d.report.Restored) > 0 {
		showNotes(d.screen, []string{fmt.Sprintf("Back in %s, which connect took out: %s. To leave them out: --no-restore",
			d.client.Title, strings.Join(d.report.Restored, ", "))})
	}
}

func (d *disconnection) finish(isAlone bool) {
	good := d.screen.Paint(tty.Good, "✓")
	if len(d.clearing.Removed) > 0 {
		fmt.Fprintf(d.screen, "%s The workbench is removed from %s.\n", good, d.client.Title)
	}
	if len(d.report.Restored) > 0 {
		fmt.Fprintf(d.screen, "%s %s\n", good, d.screen.Wrap(fmt.Sprintf("Back in %s: %s.", d.client.Title, strings.Join(d.report.Restored, ", ")), 2))
	}
	showStillOut(d.screen, d.client, d.store, d.report.File, d.command("disconnect"))
	if isAlone {
		fmt.Fprintf(d.screen, "\nNext: %s\n", d.client.After)
	}
}

// takenNames returns the names of servers for people, with the folder of those that are for one project.
func takenNames(all []clients.Taken) []string {
	names := []string{}
	for _, taken := range all {
		names = append(names, projectName(taken.Name, taken.Project))
	}
	return names
}

// projectName names a server in a client's file, with the project that it is for.
func projectName(name, project string) string {
	if project == "" {
		return tty.CleanLine(name)
	}
	return tty.CleanLine(name + " (project " + shortenHome(project) + ")")
}
