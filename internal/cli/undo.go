package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/clients"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/importer"
)

// undoing is the last change of a client's file, which is being taken back.
type undoing struct {
	client *clients.Client
	last   *clients.Backup
	clientChange
	was, wrote []byte         // the file before the change, and after it
	undone     clients.Undone // what the file is to hold, and what others changed
}

// runUndo takes the last change of a client's file back. What others changed since stays.
func runUndo(ctx context.Context, id string, o connectOptions, screen *tty.Screen) error {
	client, err := findClient(id)
	if err != nil {
		return err
	}
	store, last, err := lastChange(ctx, client, o, screen)
	if err != nil {
		return err
	}
	u, err := beginUndo(client, last)
	if err != nil {
		return err
	}
	if u.isNone() {
		if err := u.refused(); err != nil || o.dryRun {
			return err
		}
		fmt.Fprintf(screen, "Nothing of it is left in %s.\n", short(last.File))
		return store.Forget(last)
	}
	u.show(screen)
	fmt.Fprintln(screen)
	for _, changed := range slices.Concat(u.undone.Edited, u.undone.Kept) {
		fmt.Fprintf(screen, "%s %s\n", screen.Paint(tty.Caution, "!"), screen.Wrap(tty.CleanLine(changed)+".", 2))
	}
	if u.undone.Stays {
		fmt.Fprintf(screen, "  %s\n", u.nextStep())
	}
	if o.dryRun {
		fmt.Fprintln(screen, "Nothing was changed: this was a dry run.")
		return nil
	}
	if err := agree(ctx, screen, o.yes, "Restore this?"); err != nil {
		return err
	}
	if err := u.writeAnew(u.restore); err != nil {
		return err
	}
	if err := store.Forget(last); err != nil {
		return err
	}
	u.report(screen)
	return nil
}

func beginUndo(client *clients.Client, last *clients.Backup) (*undoing, error) {
	u := &undoing{client: client, last: last}
	u.path, u.edit = last.File, u.takeBack
	var err error
	if u.was, err = last.Before(); err != nil {
		return nil, err
	}
	if u.wrote, err = last.Written(); err != nil {
		return nil, err
	}
	if u.before, err = clients.ReadAll(last.File); err != nil {
		return nil, err
	}
	if u.before == nil && last.Was {
		return nil, &toolbox.Error{
			Code:    toolbox.FileChanged,
			Message: last.File + " is gone, so that there is nothing to take back",
			Hint:    fmt.Sprintf("To have it as it was before, copy what is kept of it:\ncp '%s' '%s'", last.Path(), last.File),
		}
	}
	u.masker = importer.Masker(last.File, [][]byte{u.was, u.wrote, u.before}, nil)
	u.after, err = u.takeBack(u.before)
	return u, err
}

// takeBack returns what the file is to hold, given what it holds now.
func (u *undoing) takeBack(now []byte) ([]byte, error) {
	if now == nil {
		return nil, nil // we made the file, and somebody removed it
	}
	var err error
	u.undone, err = u.client.Undo(u.path, u.was, u.wrote, now)
	return u.undone.Data, err
}

// restore writes what the file is to hold, or removes it.
func (u *undoing) restore() error {
	if u.after != nil {
		return u.write()
	}
	now, err := clients.ReadAll(u.path)
	if err != nil || now == nil {
		return err
	}
	if !bytes.Equal(now, u.before) {
		return &toolbox.Error{Code: toolbox.FileChanged, Message: u.path + " was changed by another program meanwhile, and was not removed", Hint: "Run the command again."}
	}
	return os.Remove(u.path)
}

// refused is the error if nothing can be taken back because all of it was changed since.
func (u *undoing) refused() error {
	if len(u.undone.Kept) == 0 {
		return nil
	}
	hint := u.nextStep()
	if u.last.Was {
		hint += "\nWhat the file held before is in " + u.last.Path()
	}
	return &toolbox.Error{
		Code:    toolbox.FileChanged,
		Message: fmt.Sprintf("%s stays as it is: %s", u.path, strings.Join(u.undone.Kept, "; ")),
		Hint:    hint,
	}
}

func (u *undoing) nextStep() string {
	return "To take out every entry that starts a workbench: mcp-workbench disconnect " + u.client.ID
}

func (u *undoing) report(screen *tty.Screen) {
	good := screen.Paint(tty.Good, "✓")
	switch {
	case bytes.Equal(u.after, u.was) && (u.after != nil) == u.last.Was:
		fmt.Fprintf(screen, "%s %s is as it was before.\n", good, short(u.path))
	case len(u.undone.Kept) > 0:
		fmt.Fprintf(screen, "%s What was still ours is taken back in %s; the rest is named above.\n", good, short(u.path))
	default:
		fmt.Fprintf(screen, "%s Our change of %s is taken back. What others changed since stays.\n", good, short(u.path))
	}
	fmt.Fprintf(screen, "\nNext: %s\n", u.client.After)
}

// lastChange is the one to undo: of the file that was named, or whichever was the last.
func lastChange(ctx context.Context, client *clients.Client, o connectOptions, screen *tty.Screen) (clients.Backups, *clients.Backup, error) {
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
