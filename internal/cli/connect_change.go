package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/clients"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/importer"
)

// clientChange is a change of a client's file that can be made again on other content:
// some clients write their file while they run.
type clientChange struct {
	change
	edit    func(before []byte) (after []byte, err error)
	remarks func() // said between the difference and the question; may be nil
}

func newClientChange(file string, o connectOptions, sources []clients.Source, edit func([]byte) ([]byte, error)) (*clientChange, error) {
	before, err := clients.ReadAll(file)
	if err != nil {
		return nil, err
	}
	c := &clientChange{change: change{path: file, before: before, mode: 0o600}, edit: edit}
	if o.project {
		c.mode = 0o644 // for all who work on the project
	}
	c.masker = importer.Masker(file, [][]byte{before}, sources)
	c.after, err = edit(before)
	return c, err
}

// apply shows a change of a client's file, asks, keeps what was there, and writes. It
// reports whether it was written.
func (c *clientChange) apply(ctx context.Context, client *clients.Client, o connectOptions, screen *tty.Screen) (bool, error) {
	c.show(screen)
	fmt.Fprintln(screen)
	if c.remarks != nil {
		c.remarks()
	}
	if o.dryRun {
		fmt.Fprintln(screen, "Nothing was changed: this was a dry run.")
		return false, nil
	}
	if err := agree(ctx, screen, o.yes, "Write this?"); err != nil {
		return false, err
	}
	store, err := backups()
	if err != nil {
		return false, err
	}
	err = c.writeAnew(func() error { return c.keepAndWrite(store, client) })
	return err == nil, err
}

// writeAnew writes, and makes the change again on what somebody else just wrote.
func (c *clientChange) writeAnew(write func() error) error {
	for try := 1; ; try++ {
		err := write()
		if known, ok := errors.AsType[*toolbox.Error](err); !ok || known.Code != toolbox.FileChanged || try == maxWriteTries {
			return err
		}
		if c.before, err = clients.ReadAll(c.path); err != nil {
			return err
		}
		if c.after, err = c.edit(c.before); err != nil {
			return err
		}
	}
}

// maxWriteTries is how often a change is made anew on what somebody else just wrote.
const maxWriteTries = 5

func (c *clientChange) keepAndWrite(store clients.Backups, client *clients.Client) error {
	kept, err := store.Keep(client.ID, c.path, c.before, c.after, time.Now())
	if err != nil {
		return &toolbox.Error{
			Code:    toolbox.FileNotWritten,
			Message: fmt.Sprintf("Nothing was changed, since the file could not be kept in %s first: %v", store.Dir, err),
			Hint:    "Check that the folder is yours and has room.",
			Cause:   err,
		}
	}
	if err := c.write(); err != nil {
		if forgotten := store.Forget(kept); forgotten != nil {
			return errors.Join(err, forgotten)
		}
		return err
	}
	return nil
}

func backups() (clients.Backups, error) {
	dir := config.StateDir()
	if dir == "" {
		return clients.Backups{}, &toolbox.Error{
			Code:    toolbox.PlaceUnknown,
			Message: "The environment does not say where your files are, so that nothing can be kept to go back to",
			Hint:    "Set HOME, or XDG_STATE_HOME.",
		}
	}
	return clients.Backups{Dir: filepath.Join(dir, "clients")}, nil
}
