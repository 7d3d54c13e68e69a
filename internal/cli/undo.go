package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

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
	effect := newUndoEffect(u, client, report)
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
		finish: func(isAlone bool) {
			reportUndo(screen, u)
			effect.show(screen, client)
			showStillOut(screen, client, store, last.File, o.clientCommand("connect", client, "--undo"))
			if isAlone {
				fmt.Fprintf(screen, "\nNext: %s\n", client.After)
			}
		},
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

// undoEffect is what an undo means for the servers of a client.
type undoEffect struct {
	back, gone []string
	workbench  clients.Presence
}

func newUndoEffect(u *clients.Undoing, client *clients.Client, report *clientReport) undoEffect {
	back, gone, workbench := u.Servers()
	e := undoEffect{takenNames(back), takenNames(gone), workbench}
	report.Restored, report.Removed = e.back, e.gone
	if workbench == clients.Added {
		report.Notes = append(report.Notes, "The last change removed the workbench from "+client.Title+": undoing it puts the workbench back.")
	}
	return e
}

func (e undoEffect) show(screen *tty.Screen, client *clients.Client) {
	switch e.workbench {
	case clients.Added:
		fmt.Fprintf(screen, "  The workbench is back in %s. To remove it: mcp-workbench disconnect %s\n", client.Title, client.ID)
	case clients.Removed:
		fmt.Fprintf(screen, "  The workbench is removed from %s.\n", client.Title)
	case clients.Unchanged:
	}
	for _, one := range []struct {
		what  string
		names []string
	}{{"Back in ", e.back}, {"Removed from ", e.gone}} {
		if len(one.names) > 0 {
			fmt.Fprintf(screen, "  %s\n", screen.Wrap(one.what+client.Title+": "+strings.Join(one.names, ", ")+".", 2))
		}
	}
}

// showStillOut names the servers that earlier changes took out of a client's file, and the command that puts them back.
func showStillOut(screen *tty.Screen, client *clients.Client, store clients.Backups, file, command string) {
	left, err := client.TakenOut(store, file)
	if err != nil || len(left) == 0 {
		return // the change itself was reported
	}
	fmt.Fprintf(screen, "  %s\n  To put them back: %s\n",
		screen.Wrap(fmt.Sprintf("Still out of %s, since connect took them out: %s.", client.Title, strings.Join(takenNames(left), ", ")), 2), command)
}

func reportUndo(screen *tty.Screen, u *clients.Undoing) {
	good := screen.Paint(tty.Good, "✓")
	switch {
	case u.IsExact():
		fmt.Fprintf(screen, "%s %s is as it was before.\n", good, shortenHome(u.Path))
	case len(u.Undone.Kept) > 0:
		fmt.Fprintf(screen, "%s The rest of our change of %s is reverted; the exceptions are above.\n", good, shortenHome(u.Path))
	default:
		fmt.Fprintf(screen, "%s Our change of %s is reverted. Later changes by others stay.\n", good, shortenHome(u.Path))
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
