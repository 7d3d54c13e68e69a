package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/clients"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/importer"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/completion"
)

// connectOptions are the flags of connect and disconnect.
type connectOptions struct {
	name           string
	file           string
	project        bool
	dryRun         bool
	undo           bool
	removeImported bool
	yes            bool
	json           bool
}

func newConnect(g *globals) *cobra.Command {
	var o connectOptions
	cmd := &cobra.Command{
		Use:   "connect [CLIENT]",
		Short: "Add the workbench to an MCP client",
		Long: `Add the workbench to the servers of an MCP client, with settings that keep its few tools
always visible where the client has such settings. Comments and order of the client's file
are kept. The diff is shown before anything is written. The old content is backed up:
--undo reverts the change even after the client has rewritten its file.

With --remove-imported, servers that the workbench also has are removed from the client's
file if 'doctor' or a call has seen them work; the others stay, with the reason.

Without CLIENT, list the clients found on this machine and whether they are connected.`,
		Example: `  mcp-workbench connect
  mcp-workbench connect claude-code
  mcp-workbench connect cursor --remove-imported
  mcp-workbench connect cursor --undo`,
		Args: atMostOne("one client"),
		RunE: func(cmd *cobra.Command, args []string) error {
			screen := screenOf(cmd)
			switch {
			case len(args) == 0:
				return listClients(cmd.OutOrStdout(), screen, o.json)
			case o.undo:
				return runUndo(cmd.Context(), args[0], o, screen)
			}
			return runConnect(cmd.Context(), g, args[0], o, screen)
		},
		ValidArgsFunction: completion.Clients,
	}
	addConnectFlags(cmd, &o)
	cmd.Flags().BoolVar(&o.undo, "undo", false, "revert the last change of the client's file; later changes by others stay")
	cmd.Flags().BoolVar(&o.removeImported, "remove-imported", false, "also remove the client's servers that the workbench has been seen to run")
	addJSONFlag(cmd, &o.json, "without CLIENT: write the list as JSON")
	return cmd
}

// addConnectFlags adds the flags that connect and disconnect share.
func addConnectFlags(cmd *cobra.Command, o *connectOptions) {
	cmd.Flags().StringVar(&o.name, "name", "workbench", "name of the workbench in the client")
	cmd.Flags().BoolVar(&o.project, "project", false, "use the client's file of the project in this folder, not the user's")
	cmd.Flags().StringVar(&o.file, "file", "", "path of the client's file, if it is not in a usual place")
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "only show the diff")
	cmd.Flags().BoolVar(&o.yes, "yes", false, "confirm the change without asking")
}

func runConnect(ctx context.Context, g *globals, id string, o connectOptions, screen *tty.Screen) error {
	client, err := findClient(id)
	if err != nil {
		return err
	}
	if client.Retired != "" {
		return &toolbox.Error{
			Code:    toolbox.ClientRetired,
			Message: client.Retired,
			Hint:    "Its servers can still be imported: mcp-workbench init --from " + client.ID,
		}
	}
	file, err := clientFile(ctx, clients.ThisMachine(), client, o, screen)
	if err != nil {
		return err
	}
	entry, configuration, err := g.entry(ctx, o.name, screen)
	if err != nil {
		return err
	}
	sources, err := client.ReadFile(clients.ThisMachine(), file)
	if err != nil {
		return err
	}
	overlap, err := importer.FindOverlap(ctx, sources, importer.OverlapOptions{
		Config: configuration, Remove: o.removeImported, Working: seenWorking, Command: g.command,
	})
	if err != nil {
		return err
	}
	c, err := clients.NewChange(file, o.mode(), func(before []byte) ([]byte, error) {
		after, err := client.Put(file, before, entry)
		for _, known := range overlap.Removed {
			if err == nil {
				after, err = known.Source.RemoveServer(after, known.Name)
			}
		}
		return after, err
	})
	if err != nil {
		return err
	}
	if c.IsEmpty() {
		fmt.Fprintf(screen, "%s has the workbench already, in %s.\n", client.Title, shortenHome(file))
		showStays(screen, overlap, client)
		showDoubled(screen, overlap, client)
		return nil
	}
	if !o.project && o.file == "" && !clients.ThisMachine().HasClient(file) {
		fmt.Fprintf(screen, "%s %s does not seem to be installed here: %s does not exist.\n\n", screen.Paint(tty.Caution, "!"), client.Title, shortenHome(file))
	}
	remarks := func() { showStays(screen, overlap, client) }
	if done, err := applyChange(ctx, c, client, sources, o, screen, remarks); !done || err != nil {
		return err
	}
	reportConnected(screen, client, o, file, overlap)
	return nil
}

// reportConnected prints how to undo the change, and the next steps.
func reportConnected(screen *tty.Screen, client *clients.Client, o connectOptions, file string, overlap *importer.Overlap) {
	fmt.Fprintf(screen, "%s %s has the workbench as '%s', in %s.\n", screen.Paint(tty.Good, "✓"), client.Title, tty.CleanLine(o.name), shortenHome(file))
	fmt.Fprintf(screen, "  To undo: mcp-workbench connect %s --undo\n", client.ID)
	showDoubled(screen, overlap, client)
	fmt.Fprintf(screen, "\nNext: %s\nTo check that it works: %s\n", client.After, client.See)
}

// mode returns the permissions of a new file: a project's file is for everybody who works on it.
func (o connectOptions) mode() fs.FileMode {
	if o.project {
		return 0o644
	}
	return 0o600
}

// applyChange shows the change of a client's file and the remarks, asks, and writes. It reports
// whether the file was written.
func applyChange(ctx context.Context, c *clients.Change, client *clients.Client, sources []clients.Source, o connectOptions, screen *tty.Screen, remarks func()) (bool, error) {
	showDiff(screen, c.Path, c.Before, c.After, importer.Masker(c.Path, [][]byte{c.Before}, sources))
	fmt.Fprintln(screen)
	remarks()
	if o.dryRun {
		fmt.Fprintln(screen, "Nothing was changed: this was a dry run.")
		return false, nil
	}
	if err := confirm(ctx, screen, o.yes, "Write this?"); err != nil {
		return false, err
	}
	store, err := clients.OpenBackups()
	if err != nil {
		return false, err
	}
	err = c.Write(store, client)
	return err == nil, err
}

func findClient(id string) (*clients.Client, error) {
	if client := clients.ByID(id); client != nil {
		return client, nil
	}
	return nil, unknownClient(id, "Unknown client '%s'")
}

// clientFile returns the file to change. If a client may read several files, a person chooses.
func clientFile(ctx context.Context, machine clients.Machine, client *clients.Client, o connectOptions, screen *tty.Screen) (string, error) {
	if o.file != "" {
		return filepath.Abs(o.file)
	}
	if o.project {
		folder, err := os.Getwd()
		if err != nil {
			return "", err
		}
		file := client.ProjectFile(machine, folder)
		if file == "" {
			return "", &toolbox.Error{
				Code:    toolbox.ClientWithoutProject,
				Message: client.Title + " has no file for the servers of a project",
				Hint:    "Leave out --project to connect it for all projects.",
			}
		}
		return file, nil
	}
	files := client.Files(machine)
	switch len(files) {
	case 0:
		return "", &toolbox.Error{
			Code:    toolbox.PlaceUnknown,
			Message: "The environment does not say where " + client.Title + " keeps its configuration",
			Hint:    "Name the file with --file.",
		}
	case 1:
		return files[0], nil
	}
	fmt.Fprintf(screen, "%s may read one of these files:\n", client.Title)
	chosen, err := screen.Choose(ctx, "Which one?", files)
	if errors.Is(err, tty.ErrNobody) {
		return "", &toolbox.Error{
			Code:    toolbox.ClientAmbiguous,
			Message: client.Title + " may read any of these files, and it is not clear which: " + strings.Join(files, ", "),
			Hint:    "Name the right one with --file. In the client, Settings, Developer, Edit Config shows a file, which may be the wrong one.",
		}
	}
	if err != nil {
		return "", err
	}
	return files[chosen], nil
}

// entry returns how a client starts this workbench, and the configuration that it will use; "" for the built-in
// default. A configuration that the client would not find is passed with --config.
func (g *globals) entry(ctx context.Context, name string, screen *tty.Screen) (clients.Entry, string, error) {
	program, err := clients.OwnPath()
	if err != nil {
		return clients.Entry{}, "", err
	}
	e := clients.Entry{Name: name, Command: program, Args: []string{}}
	places, err := g.Find()
	if err != nil {
		return e, "", err
	}
	if len(places) == 0 {
		fmt.Fprintf(screen, "%s %s\n\n", screen.Paint(tty.Caution, "!"),
			screen.Wrap("There is no configuration yet: the client will see the built-in servers. To create one: mcp-workbench init", 2))
		return e, "", nil
	}
	// The client finds the user's file, and the project's if it exists.
	path := places[len(places)-1].Path
	switch places[len(places)-1].Origin {
	case config.Local:
		// A file named by --config needs no trust, so ask now.
		if _, err := g.LoadAsking(ctx, screen.Writer); err != nil {
			return e, "", err
		}
		e.Args = []string{"--config", path}
	case config.Named:
		e.Args = []string{"--config", path}
	case config.User:
		if os.Getenv("XDG_CONFIG_HOME") != "" { // clients do not pass it on
			e.Args = []string{"--config", path}
		}
	}
	return e, path, nil
}
