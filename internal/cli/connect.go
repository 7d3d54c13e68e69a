package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/clients"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/trust"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/completion"
)

// connectOptions are the flags of connect and disconnect.
type connectOptions struct {
	all     bool
	name    string
	file    string
	project bool
	dryRun  bool
	yes     bool
	json    bool

	undo           bool
	removeImported bool
	keep           bool
	noRestore      bool
	shared         bool
	toolbox        string
	address        string // of a workbench over HTTP; "": the client starts one
	tokenVariable  string
	tokenFile      string
}

func newConnect(g *globals) *cobra.Command {
	var o connectOptions
	cmd := &cobra.Command{
		Use:   "connect [CLIENT...]",
		Short: "Add the workbench to MCP clients",
		Long: `Add the workbench to the servers of MCP clients, with settings that keep its few
tools always visible where a client has such settings. Comments and order of the
client's file are kept. The diff is shown before anything is written. The old
content is backed up: --undo reverts the change even after the client has
rewritten its file.

Servers that the workbench has, too, would be started twice. Those that 'doctor'
or a call has seen work are offered for removal from the client's file; --keep
keeps them. --remove-imported also says of all others why they stay.

With --http the client connects to a running workbench ('serve') instead of
starting one. The token is never on the command line: --token-env names a
variable, to which the entry refers where the client can do that; otherwise the
token is written into the client's file.

Without CLIENT, list the clients found on this machine, by their files and their
programs in PATH, and whether they are connected.`,
		Example: `  mcp-workbench connect
  mcp-workbench connect claude-code cursor
  mcp-workbench connect --all --shared
  mcp-workbench connect zed --toolbox web
  mcp-workbench connect codex --http http://127.0.0.1:7420/mcp --token-env TOKEN
  mcp-workbench connect cursor --undo`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(cmd, g, args); err != nil {
				return err
			}
			screen := screenOf(cmd)
			if len(args) == 0 && !o.all {
				return listClients(cmd.OutOrStdout(), screen, o.json)
			}
			targets, err := o.targets(args)
			if err != nil {
				return err
			}
			if o.undo {
				return newUndo(cmd.Context(), o, screen).run(cmd, targets)
			}
			c, err := newConnector(cmd.Context(), g, o, screen)
			if err != nil {
				return err
			}
			return c.run(cmd, targets)
		},
		ValidArgsFunction: completion.Clients,
	}
	addConnectFlags(cmd, &o)
	addEntryFlags(cmd, g, &o)
	return cmd
}

// addEntryFlags adds the flags of connect alone.
func addEntryFlags(cmd *cobra.Command, g *globals, o *connectOptions) {
	flags := cmd.Flags()
	flags.BoolVar(&o.all, "all", false, "connect all clients found on this machine")
	flags.BoolVar(&o.shared, "shared", false, "share one background workbench with other clients")
	flags.StringVar(&o.toolbox, "toolbox", "", "give the client this toolbox only (default: all)")
	completion.Register(cmd, "toolbox", completion.Toolboxes(&g.Loader))
	flags.StringVar(&o.address, "http", "", "address of a running workbench, which the client connects to")
	flags.StringVar(&o.address, "url", "", "")
	_ = flags.MarkHidden("url") // a second name, for those who try it first; the flag exists
	flags.StringVar(&o.tokenVariable, "token-env", "", "with --http: name of the environment variable with the token")
	flags.StringVar(&o.tokenFile, "token-file", "", "with --http: file with the token, which is copied into the client's file")
	flags.BoolVar(&o.undo, "undo", false, "revert the last change of the client's file; later changes by others stay")
	flags.BoolVar(&o.removeImported, "remove-imported", false, "remove the client's servers that the workbench has been seen to run, without asking")
	flags.BoolVar(&o.keep, "keep", false, "keep the client's servers that the workbench has, too")
}

// addConnectFlags adds the flags that connect and disconnect share.
func addConnectFlags(cmd *cobra.Command, o *connectOptions) {
	cmd.Flags().StringVar(&o.name, "name", "workbench", "name of the workbench in the client")
	cmd.Flags().BoolVar(&o.project, "project", false, "use the client's file of the project in this folder, not the user's")
	cmd.Flags().StringVar(&o.file, "file", "", "path of the client's file, if it is not in a usual place")
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "only show the diff")
	cmd.Flags().BoolVar(&o.yes, "yes", false, "confirm the change without asking")
	addJSONFlag(cmd, &o.json, "write the clients, and what was changed, as JSON")
}

// check refuses flags that do not go together.
func (o *connectOptions) check(cmd *cobra.Command, g *globals, args []string) error {
	given := func(names ...string) string {
		for _, name := range names {
			if flag := cmd.Flags().Lookup(name); flag != nil && flag.Changed {
				return "--" + name
			}
		}
		return ""
	}
	refuse := func(format string, words ...any) error { return &usageError{err: fmt.Errorf(format, words...)} }
	ways := []string{"http", "url", "shared", "toolbox", "token-env", "token-file", "remove-imported", "keep"}
	switch only := o.firstUnlisted(cmd); {
	case o.all && len(args) > 0:
		return refuse("%s takes either clients or --all, not both", cmd.Name())
	case len(args) == 0 && !o.all && only != "":
		return refuse("--%s needs a client, such as %s, or --all", only, clients.IDs()[0])
	case o.file != "" && (o.all || len(args) > 1):
		return refuse("--file is the file of one client")
	case o.file != "" && o.project:
		return refuse("--file and --project both name a file")
	case o.name == "":
		return refuse("--name needs a name")
	case o.undo && given(ways...) != "":
		return refuse("--undo reverts the last change as it was made; %s has no effect with it", given(ways...))
	case o.keep && o.removeImported:
		return refuse("--keep and --remove-imported contradict each other")
	case o.tokenVariable != "" && o.tokenFile != "":
		return refuse("either --token-env or --token-file names the token, not both")
	case given("http", "url") == "" && given("token-env", "token-file") != "":
		return refuse("%s is for a workbench over HTTP: name its address with --http", given("token-env", "token-file"))
	case given("toolbox") != "" && o.toolbox == "":
		return refuse("--toolbox needs the name of a toolbox")
	case g != nil && refuseUnreadable("--name", o.name) != nil: // such an entry can still be removed
		return refuseUnreadable("--name", o.name)
	case given("http", "url") != "":
		return o.checkAddress(g, given("shared", "remove-imported", "keep"))
	}
	return nil
}

// firstUnlisted returns a flag that has no effect on the list of clients.
func (o *connectOptions) firstUnlisted(cmd *cobra.Command) (name string) {
	cmd.LocalNonPersistentFlags().VisitAll(func(flag *pflag.Flag) {
		if flag.Changed && flag.Name != "json" && flag.Name != "help" && name == "" {
			name = flag.Name
		}
	})
	return name
}

// targets returns the clients to change. With --all these are the ones found on this machine; for --undo, all: a client may
// be gone since.
func (o *connectOptions) targets(ids []string) ([]*clients.Client, error) {
	var found []*clients.Client
	for _, id := range ids {
		client := clients.ByID(id)
		if client == nil {
			return nil, unknownClient(id, "Unknown client '%s'")
		}
		if !slices.Contains(found, client) {
			found = append(found, client)
		}
	}
	switch {
	case !o.all:
		return found, nil
	case o.undo:
		return clients.All(), nil
	}
	for _, state := range clients.Survey(clients.ThisMachine()) {
		hasFile := !o.project || state.Client.HasProjectFile()
		if state.Client.Retired == "" && hasFile && !slices.Contains(found, state.Client) {
			found = append(found, state.Client)
		}
	}
	if len(found) == 0 {
		return nil, &toolbox.Error{
			Code:    toolbox.NoClients,
			Message: "No MCP client was found on this machine",
			Hint:    "Name the one that you have. The clients are " + strings.Join(clients.IDs(), ", ") + ".",
		}
	}
	return found, nil
}

// clientCommand returns a command line about the same file of a client, to paste.
func (o connectOptions) clientCommand(name string, client *clients.Client, flags ...string) string {
	words := append([]string{"mcp-workbench", name, client.ID}, flags...)
	switch {
	case o.project:
		words = append(words, "--project")
	case o.file != "":
		words = append(words, "--file", o.file)
	}
	return trust.Quote(words...)
}

// mode returns the permissions of a new file: a project's file is for everybody who works on it.
func (o connectOptions) mode() fs.FileMode {
	if o.project {
		return 0o644
	}
	return 0o600
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
