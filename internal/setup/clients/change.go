package clients

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/safefile"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// Change is a change of a client's file. It can be applied again to newer content, since some clients write their file
// while they run.
type Change struct {
	Path   string
	Before []byte // nil if the file does not exist
	After  []byte // nil: the file is removed
	Mode   fs.FileMode

	edit func(before []byte) (after []byte, err error)
}

// NewChange reads a client's file and edits its content. mode applies to a new file.
func NewChange(path string, mode fs.FileMode, edit func([]byte) ([]byte, error)) (*Change, error) {
	before, err := ReadAll(path)
	if err != nil {
		return nil, err
	}
	c := &Change{Path: path, Before: before, Mode: mode, edit: edit}
	c.After, err = edit(before)
	return c, err
}

// IsEmpty reports whether the change leaves the file unchanged.
func (c *Change) IsEmpty() bool { return string(c.Before) == string(c.After) }

// Write backs the file up and writes it.
func (c *Change) Write(store Backups, client *Client) error {
	return c.retry(func() error { return c.backUpAndWrite(store, client) })
}

// maxWriteTries is how often a change is applied again because another program has just written the file.
const maxWriteTries = 5

// retry writes the file, and applies the change again if another program wrote it meanwhile.
func (c *Change) retry(write func() error) error {
	for try := 1; ; try++ {
		err := write()
		if known, ok := errors.AsType[*toolbox.Error](err); !ok || known.Code != toolbox.FileChanged || try == maxWriteTries {
			return err
		}
		if c.Before, err = ReadAll(c.Path); err != nil {
			return err
		}
		if c.After, err = c.edit(c.Before); err != nil {
			return err
		}
	}
}

func (c *Change) backUpAndWrite(store Backups, client *Client) error {
	kept, err := store.Store(client.ID, c.Path, c.Before, c.After, time.Now())
	if err != nil {
		return &toolbox.Error{
			Code:    toolbox.FileNotWritten,
			Message: fmt.Sprintf("Nothing was changed, since the file could not be backed up to %s first: %v", store.Dir, err),
			Hint:    "Check that the folder is yours and has room.",
			Cause:   err,
		}
	}
	if err := c.write(); err != nil {
		if forgotten := store.Remove(kept); forgotten != nil {
			return errors.Join(err, forgotten)
		}
		return err
	}
	return nil
}

// write writes the file unless it changed since it was read.
func (c *Change) write() error {
	err := safefile.Edit(c.Path, ".mcp-workbench-*", c.Before, c.After, c.Mode)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, safefile.ErrChanged):
		return &toolbox.Error{
			Code:    toolbox.FileChanged,
			Message: c.Path + " was changed by another program in the meantime, and was not written",
			Hint:    "Run the command again.",
			Cause:   err,
		}
	}
	return &toolbox.Error{
		Code:    toolbox.FileNotWritten,
		Message: fmt.Sprintf("%s was not written: %v", c.Path, err),
		Hint:    "Check that the folder exists, is yours, and has room.",
		Cause:   err,
	}
}

// OpenBackups returns the backups of this user.
func OpenBackups() (Backups, error) {
	dir := config.StateDir()
	if dir == "" {
		return Backups{}, &toolbox.Error{
			Code:    toolbox.PlaceUnknown,
			Message: "HOME is not set, so no backup can be made",
			Hint:    "Set HOME or XDG_STATE_HOME.",
		}
	}
	return Backups{Dir: filepath.Join(dir, "clients")}, nil
}
