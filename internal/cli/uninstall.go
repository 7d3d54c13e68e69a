package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/base/stored"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/clients"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/runtimedir"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/uninstall"
)

type uninstallOptions struct {
	yes, dryRun, keepConfig, asJSON bool
	keep                            []string
}

// uninstallDocument is what uninstall writes with --json.
type uninstallDocument struct {
	DryRun bool               `json:"dryRun"`
	Groups []*uninstall.Group `json:"groups"`
	Left   []uninstall.Left   `json:"left"`
}

// uninstallGroups are the names for --keep.
var uninstallGroups = []string{
	uninstall.Workbenches, uninstall.Clients, string(stored.Credentials), string(stored.Records), string(stored.Caches), string(stored.Notes), string(stored.Settings),
}

func newUninstall() *cobra.Command {
	var o uninstallOptions
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Remove everything that the workbench has stored on this machine",
		Long: `List what the workbench has put on this machine: running workbenches, entries in the files
of MCP clients, credentials (also in the system's keyring), records, caches, notes and the
configuration. Ask for each group, and remove what is confirmed. Files of others stay, also
in folders of the workbench, and links are not followed. At the end it says what is left,
such as the program itself.

Groups: ` + strings.Join(uninstallGroups, ", ") + `.`,
		Example: `  mcp-workbench uninstall --dry-run
  mcp-workbench uninstall
  mcp-workbench uninstall --yes --keep-config --keep notes`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return runUninstall(cmd, o) },
	}
	cmd.Flags().BoolVar(&o.yes, "yes", false, "remove everything without asking")
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "only list what would be removed")
	cmd.Flags().BoolVar(&o.keepConfig, "keep-config", false, "keep the configuration and its variables")
	cmd.Flags().StringArrayVar(&o.keep, "keep", nil, "keep this group; may be repeated")
	addJSONFlag(cmd, &o.asJSON, "write what was found and removed as JSON")
	return cmd
}

func runUninstall(cmd *cobra.Command, o uninstallOptions) error {
	if o.keepConfig {
		o.keep = append(o.keep, string(stored.Settings))
	}
	for _, name := range o.keep {
		if !slices.Contains(uninstallGroups, name) {
			return &usageError{err: fmt.Errorf("--keep takes one of %s", strings.Join(uninstallGroups, ", "))}
		}
	}
	screen := screenOf(cmd)
	machine, err := thisMachine(cmd.Context())
	if err != nil {
		return err
	}
	groups, err := machine.Find()
	if err != nil {
		return err
	}
	groups = slices.DeleteFunc(groups, func(g *uninstall.Group) bool { return slices.Contains(o.keep, g.Name) })
	for _, group := range groups {
		showGroup(screen, group)
	}
	if len(groups) == 0 {
		fmt.Fprintln(screen, "There is nothing to remove.")
	}
	if !o.dryRun {
		err = removeGroups(cmd.Context(), screen, groups, o.yes)
	}
	executable, _ := os.Executable() // "" is shown as such
	document := uninstallDocument{DryRun: o.dryRun, Groups: append([]*uninstall.Group{}, groups...), Left: []uninstall.Left{}}
	if known, ok := errors.AsType[*toolbox.Error](err); ok && known.Code == toolbox.AnswerNeeded {
		if o.asJSON {
			err = errors.Join(err, writeJSON(cmd, document))
		}
		return err // nothing was changed
	}
	if o.dryRun {
		fmt.Fprintln(screen, "Nothing was changed: this was a dry run.")
	} else {
		document.Left = machine.Left(executable)
		showLeft(screen, document.Left)
	}
	if o.asJSON {
		err = errors.Join(err, writeJSON(cmd, document))
	}
	return err
}

// thisMachine finds what runs and who is connected.
func thisMachine(ctx context.Context) (*uninstall.Machine, error) {
	home, _ := os.UserHomeDir() // without one, nothing of it is looked for
	known := clients.Survey(clients.ThisMachine())
	if store, err := clients.OpenBackups(); err == nil {
		known = append(known, clients.SurveyChanged(clients.ThisMachine(), store, known)...)
		clients.FindTaken(store, known)
	}
	machine := &uninstall.Machine{
		Folders: storedFolders(), Sockets: runtimedir.Existing(os.Getenv, config.StateDir()), Clients: known, Home: home,
	}
	if len(machine.Sockets) == 0 {
		return machine, nil
	}
	dir, err := runtimedir.Open(os.Getenv, config.StateDir())
	if err != nil {
		return nil, err
	}
	machine.Running, err = control.Find(ctx, dir)
	if err != nil {
		return nil, &toolbox.Error{
			Code: toolbox.Unreachable, Message: "A running workbench cannot be stopped: " + err.Error(),
			Hint: "End its process, and run 'mcp-workbench uninstall' again.", Cause: err,
		}
	}
	return machine, nil
}

// errStopped is the error if a client's file could not be restored: the backups, and the configuration, may be the only places
// that still have the servers which connect took out of it.
var errStopped = &toolbox.Error{
	Code:    toolbox.FileNotWritten,
	Message: "Nothing else was removed: the backups and the configuration may have servers that the client needs",
	Hint:    "To remove the rest all the same, and leave the clients as they are: mcp-workbench uninstall --keep clients",
}

// removeGroups asks for each group, and removes what is confirmed.
func removeGroups(ctx context.Context, screen *tty.Screen, groups []*uninstall.Group, yes bool) error {
	var errs []error
	for _, group := range groups {
		err := confirmOr(ctx, screen, yes, screen.Wrap(fmt.Sprintf("Remove %s (%s)?", group.Name, group.What), 0), false) // it cannot be undone
		if known, ok := errors.AsType[*toolbox.Error](err); ok && known.Code == toolbox.Declined {
			fmt.Fprintf(screen, "  kept %s\n", group.Name)
			continue
		}
		if err != nil {
			return errors.Join(append(errs, err)...)
		}
		ctx, cancel := context.WithTimeout(ctx, stopTime)
		err = group.Remove(ctx)
		cancel()
		if err != nil {
			errs = append(errs, &toolbox.Error{
				Code: toolbox.FileNotWritten, Message: fmt.Sprintf("Not all of '%s' could be removed: %v", group.Name, err),
				Hint: "Remove it by hand, or mend the reason and run 'mcp-workbench uninstall' again.", Cause: err,
			})
			if group.Name == uninstall.Clients {
				return errors.Join(append(errs, errStopped)...)
			}
			continue
		}
		fmt.Fprintf(screen, "%s removed %s\n", screen.Paint(tty.Good, "✓"), group.Name)
	}
	return errors.Join(errs...)
}

// maxShownItems is how many items of a group are listed; of further ones only the number is shown.
const maxShownItems = 12

func showGroup(screen *tty.Screen, group *uninstall.Group) {
	size := ""
	if group.Bytes > 0 {
		size = ", " + sizeText(group.Bytes)
	}
	fmt.Fprintf(screen, "%s: %s\n", screen.Paint(tty.Strong, group.Name),
		screen.Wrap(fmt.Sprintf("%s (%s%s)", group.What, toolbox.Count(len(group.Items), "item", "items"), size), len(group.Name)+2))
	rows := gather(group.Items)
	for i, row := range rows {
		if i == maxShownItems {
			fmt.Fprintf(screen, "  … and %d more; --dry-run --json lists all\n", len(rows)-i)
			break
		}
		fmt.Fprintf(screen, "  %s\n    %s\n", tty.CleanLine(shortenHome(row.Path)), screen.Wrap(tty.CleanLine(row.What), 4))
	}
	fmt.Fprintln(screen)
}

// minGathered is the number of files of one kind in one folder that are shown as one row.
const minGathered = 4

// gather returns the items with many files of one kind as one: their names say nothing to a person.
func gather(items []uninstall.Item) []uninstall.Item {
	type kind struct{ folder, what string }
	kindOf := func(item uninstall.Item) kind { return kind{filepath.Dir(item.Path), item.What} }
	count := make(map[kind]int)
	for _, item := range items {
		count[kindOf(item)]++
	}
	var rows []uninstall.Item
	for _, item := range items {
		switch n := count[kindOf(item)]; {
		case n < 0: // shown before
		case n < minGathered:
			rows = append(rows, item)
		default:
			count[kindOf(item)] = -1
			rows = append(rows, uninstall.Item{Path: filepath.Dir(item.Path) + string(filepath.Separator), What: fmt.Sprintf("%d files: %s", n, item.What)})
		}
	}
	return rows
}

func showLeft(screen *tty.Screen, left []uninstall.Left) {
	fmt.Fprintln(screen, "\nLeft on this machine:")
	for _, one := range left {
		fmt.Fprintf(screen, "  %s\n    %s\n", tty.CleanLine(shortenHome(one.Path)), screen.Wrap(tty.CleanLine(one.Why), 4))
	}
}

// sizeText is a number of bytes for people.
func sizeText(bytes int64) string {
	switch {
	case bytes >= 10<<20:
		return fmt.Sprintf("%d MiB", bytes>>20)
	case bytes >= 10<<10:
		return fmt.Sprintf("%d KiB", bytes>>10)
	}
	return fmt.Sprintf("%d bytes", bytes)
}
