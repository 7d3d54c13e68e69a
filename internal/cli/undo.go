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

// newUndo reverts the last change of each client's file. Later changes by other programs stay.
func newUndo(ctx context.Context, o connectOptions, screen *tty.Screen) *clientRun {
	return &clientRun{
		o: o, screen: screen, done: statusReverted, one: "Restore this?", many: "Restore these %d files?",
		none:      &toolbox.Error{Code: toolbox.NothingToUndo, Message: "There is no change of a client to undo", Hint: "To remove the workbench: mcp-workbench disconnect --all"},
		plan:      func(client *clients.Client) (*clientChange, error) { return planUndo(ctx, client, o, screen) },
		finishAll: func(changed []*clientChange) { showAfter(screen, changed) },
	}
}

func planUndo(ctx context.Context, client *clients.Client, o connectOptions, screen *tty.Screen) (*clientChange, error) {
	if o.all && o.project && !client.HasProjectFile() {
		return nil, nil
	}
	store, last, err := lastChange(ctx, client, o, screen)
	if err != nil || last == nil {
		return nil, err
	}
	u, err := clients.NewUndoing(client, last)
	if err != nil {
		return nil, err
	}
	report := newClientReport(client, last.File)
	for _, changed := range slices.Concat(u.Undone.Edited, u.Undone.Kept) {
		report.Notes = append(report.Notes, changed+".")
	}
	return &clientChange{
		client: client, report: report, isEmpty: u.IsEmpty(),
		idle: func() error {
			if err := u.Refused(); err != nil || o.dryRun {
				return err
			}
			fmt.Fprintf(screen, "Nothing of it is left in %s.\n", shortenHome(last.File))
			return store.Remove(last)
		},
		show: func() { showUndo(screen, u, report) },
		write: func() error {
			if err := u.Restore(); err != nil {
				return err
			}
			return store.Remove(last)
		},
		finish: func(isAlone bool) { reportUndo(screen, u, client, isAlone) },
	}, nil
}

func showUndo(screen *tty.Screen, u *clients.Undoing, report *clientReport) {
	showDiff(screen, u.Path, u.Before, u.After, importer.Masker(u.Path, u.Contents(), nil))
	fmt.Fprintln(screen)
	for _, note := range report.Notes {
		fmt.Fprintf(screen, "%s %s\n", screen.Paint(tty.Caution, "!"), screen.Wrap(tty.CleanLine(note), 2))
	}
	if u.Undone.Stays {
		fmt.Fprintf(screen, "  %s\n", u.NextStep())
	}
}

func reportUndo(screen *tty.Screen, u *clients.Undoing, client *clients.Client, isAlone bool) {
	good := screen.Paint(tty.Good, "✓")
	switch {
	case u.IsExact():
		fmt.Fprintf(screen, "%s %s is as it was before.\n", good, shortenHome(u.Path))
	case len(u.Undone.Kept) > 0:
		fmt.Fprintf(screen, "%s The rest of our change of %s is reverted; the exceptions are above.\n", good, shortenHome(u.Path))
	default:
		fmt.Fprintf(screen, "%s Our change of %s is reverted. Later changes by others stay.\n", good, shortenHome(u.Path))
	}
	if isAlone {
		fmt.Fprintf(screen, "\nNext: %s\n", client.After)
	}
}

// lastChange returns the change to undo: that of the named file, else the latest. With --all, nil stands for none.
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
	if err == nil && last == nil && !o.all {
		err = &toolbox.Error{
			Code:    toolbox.NothingToUndo,
			Message: "There is no change of " + client.Title + " to undo",
			Hint:    "To remove the workbench: mcp-workbench disconnect " + client.ID,
		}
	}
	return store, last, err
}
