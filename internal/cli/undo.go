package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/clients"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/importer"
)

// runUndo reverts the last change of a client's file. Later changes by other programs stay.
func runUndo(ctx context.Context, id string, o connectOptions, screen *tty.Screen) error {
	client, err := findClient(id)
	if err != nil {
		return err
	}
	store, last, err := lastChange(ctx, client, o, screen)
	if err != nil {
		return err
	}
	u, err := clients.NewUndoing(client, last)
	if err != nil {
		return err
	}
	if u.IsEmpty() {
		if err := u.Refused(); err != nil || o.dryRun {
			return err
		}
		fmt.Fprintf(screen, "Nothing of it is left in %s.\n", shortenHome(last.File))
		return store.Remove(last)
	}
	showDiff(screen, u.Path, u.Before, u.After, importer.Masker(u.Path, u.Contents(), nil))
	fmt.Fprintln(screen)
	for _, changed := range slices.Concat(u.Undone.Edited, u.Undone.Kept) {
		fmt.Fprintf(screen, "%s %s\n", screen.Paint(tty.Caution, "!"), screen.Wrap(tty.CleanLine(changed)+".", 2))
	}
	if u.Undone.Stays {
		fmt.Fprintf(screen, "  %s\n", u.NextStep())
	}
	if o.dryRun {
		fmt.Fprintln(screen, "Nothing was changed: this was a dry run.")
		return nil
	}
	if err := confirm(ctx, screen, o.yes, "Restore this?"); err != nil {
		return err
	}
	if err := u.Restore(); err != nil {
		return err
	}
	if err := store.Remove(last); err != nil {
		return err
	}
	reportUndo(screen, u, client)
	return nil
}

func reportUndo(screen *tty.Screen, u *clients.Undoing, client *clients.Client) {
	good := screen.Paint(tty.Good, "✓")
	switch {
	case u.IsExact():
		fmt.Fprintf(screen, "%s %s is as it was before.\n", good, shortenHome(u.Path))
	case len(u.Undone.Kept) > 0:
		fmt.Fprintf(screen, "%s The rest of our change of %s is reverted; the exceptions are above.\n", good, shortenHome(u.Path))
	default:
		fmt.Fprintf(screen, "%s Our change of %s is reverted. Later changes by others stay.\n", good, shortenHome(u.Path))
	}
	fmt.Fprintf(screen, "\nNext: %s\n", client.After)
}

// lastChange returns the change to undo: that of the named file, else the latest.
func lastChange(ctx context.Context, client *clients.Client, o connectOptions, screen *tty.Screen) (clients.Backups, *clients.Backup, error) {
	file := ""
	store, err := clients.OpenBackups()
	if err == nil && (o.file != "" || o.project) {
		file, err = clientFile(ctx, clients.ThisMachine(), client, o, screen)
	}
	if err != nil {
		return store, nil, err
	}
	last, err := store.Last(client.ID, file)
	if err == nil && last == nil {
		err = &toolbox.Error{
			Code:    toolbox.NothingToUndo,
			Message: "There is no change of " + client.Title + " to undo",
			Hint:    "To remove the workbench: mcp-workbench disconnect " + client.ID,
		}
	}
	return store, last, err
}
