package clients

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
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
	// HoldsToken makes the file readable for this user only, since a token is written into it.
	HoldsToken bool

	putsBack bool // see Backup.PutBack
	edit     func(before []byte) (after []byte, err error)
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
	wide, err := c.wideMode()
	if err != nil {
		return err
	}
	kept, err := store.Store(Backup{Client: client.ID, File: c.Path, Mode: wide, PutBack: c.putsBack}, c.Before, c.After, time.Now())
	if err != nil {
		return &toolbox.Error{
			Code:    toolbox.FileNotWritten,
			Message: fmt.Sprintf("Nothing was changed, since the file could not be backed up to %s first: %v", store.Dir, err),
			Hint:    "Check that the folder is yours and has room.",
			Cause:   err,
		}
	}
	if wide != 0 {
		err = os.Chmod(c.Path, privateMode) // before the token is in it
	}
	if err == nil {
		err = c.write()
	}
	if err == nil {
		return nil
	}
	var problems []error
	if wide != 0 {
		problems = append(problems, os.Chmod(c.Path, wide)) // there is no token in it
	}
	if problem := errors.Join(append(problems, store.Remove(kept))...); problem != nil {
		return errors.Join(err, problem)
	}
	return err
}

// privateMode is the mode of a file with a token.
const privateMode fs.FileMode = 0o600

// wideMode returns the mode of an existing file that gets a token and that others can read or change; 0 if it needs no
// change. It refuses a file that is write-protected.
func (c *Change) wideMode() (fs.FileMode, error) {
	if err := c.refuseReadOnly(); err != nil {
		return 0, err
	}
	info, err := os.Stat(c.Path)
	if err != nil || !c.HoldsToken || runtime.GOOS == "windows" {
		return 0, nil //nolint:nilerr // a new file is for this user only
	}
	if mode := info.Mode().Perm(); mode&^privateMode != 0 {
		return mode, nil
	}
	return 0, nil
}

// refuseReadOnly refuses to replace a file that somebody has protected against writing, or that a program which manages
// files made so.
func (c *Change) refuseReadOnly() error {
	info, err := os.Stat(c.Path)
	if err != nil || info.Mode().Perm()&0o222 != 0 {
		return nil //nolint:nilerr // a missing file can be created; all else is found when it is written
	}
	return &toolbox.Error{
		Code:    toolbox.FileNotWritten,
		Message: c.Path + " was not written: it is read-only",
		Hint:    "If a program manages this file, make the change there; --dry-run shows it. Otherwise make it writable first: chmod u+w '" + c.Path + "'",
	}
}

// write writes the file, or removes it, unless it changed since it was read.
func (c *Change) write() error {
	if c.After == nil {
		return c.remove()
	}
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

// remove removes the file unless it changed since it was read. A link stays.
func (c *Change) remove() error {
	now, err := ReadAll(c.Path)
	if err != nil || now == nil {
		return err
	}
	if !bytes.Equal(now, c.Before) {
		return &toolbox.Error{Code: toolbox.FileChanged, Message: c.Path + " was changed by another program in the meantime, and was not removed", Hint: "Run the command again."}
	}
	target, err := safefile.Target(c.Path)
	if err != nil {
		return err
	}
	return os.Remove(target)
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
