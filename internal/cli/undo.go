package cli

import (
	"context"
	"fmt"
	"os"

	"github.com/mcp-workbench/mcp-workbench/internal/adopt"
	"github.com/mcp-workbench/mcp-workbench/internal/clients"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal"
	"github.com/mcp-workbench/mcp-workbench/internal/toolbox"
)

// runUndo restores a client's file exactly, and only if nobody changed it since.
func runUndo(ctx context.Context, id string, o connectOptions, screen *terminal.Screen) error {
	client, err := findClient(id)
	if err != nil {
		return err
	}
	store, last, err := lastChange(ctx, client, o, screen)
	if err != nil {
		return err
	}
	now, err := clients.ReadAll(last.File)
	if err != nil {
		return err
	}
	if !last.Undoes(now) {
		return &toolbox.Error{
			Code:    toolbox.FileChanged,
			Message: last.File + " was changed since, and restoring it would lose that",
			Hint: fmt.Sprintf("To take out the workbench alone: mcp-workbench disconnect %s\nWhat the file held before is in %s",
				client.ID, last.Path()),
		}
	}
	before, err := last.Before()
	if err != nil {
		return err
	}
	c := &change{path: last.File, before: now, after: before, masker: adopt.Masker(last.File, [][]byte{before, now}, nil)}
	c.show(screen)
	fmt.Fprintln(screen)
	if o.dryRun {
		fmt.Fprintln(screen, "Nothing was changed: this was a dry run.")
		return nil
	}
	if err := agree(ctx, screen, o.yes, "Restore this?"); err != nil {
		return err
	}
	if !last.Was {
		err = os.Remove(last.File)
	} else {
		err = c.write()
	}
	if err != nil {
		return err
	}
	if err := store.Forget(last); err != nil {
		return err
	}
	fmt.Fprintf(screen, "%s %s is as it was before.\n\nNext: %s\n", screen.Paint(terminal.Good, "✓"), short(last.File), client.After)
	return nil
}

// lastChange is the one to undo: of the file that was named, or whichever was the last.
func lastChange(ctx context.Context, client *clients.Client, o connectOptions, screen *terminal.Screen) (clients.Backups, *clients.Backup, error) {
	file := ""
	store, err := backups()
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
			Message: "No change of " + client.Title + " is known that could be undone",
			Hint:    "To take out the workbench: mcp-workbench disconnect " + client.ID,
		}
	}
	return store, last, err
}
