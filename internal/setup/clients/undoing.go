package clients

import (
	"bytes"
	"fmt"
	"os"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
)

// Undoing undoes the last change of a client's file.
type Undoing struct {
	Change
	Undone Undone // the new content, and the changes of other programs

	client     *Client
	last       *Backup
	was, wrote []byte // the file before the change, and after it
}

// NewUndoing prepares to undo a change. Later changes of other programs stay.
func NewUndoing(client *Client, last *Backup) (*Undoing, error) {
	u := &Undoing{client: client, last: last}
	u.Path, u.edit = last.File, u.revert
	var err error
	if u.was, err = last.Before(); err != nil {
		return nil, err
	}
	if u.wrote, err = last.Written(); err != nil {
		return nil, err
	}
	if u.Before, err = ReadAll(last.File); err != nil {
		return nil, err
	}
	if u.Before == nil && last.Was {
		return nil, &toolbox.Error{
			Code:    toolbox.FileChanged,
			Message: last.File + " is gone: there is nothing to revert",
			Hint:    fmt.Sprintf("To restore it, copy the backup:\ncp '%s' '%s'", last.Path(), last.File),
		}
	}
	u.After, err = u.revert(u.Before)
	return u, err
}

// Contents returns every known content of the file, for a masker.
func (u *Undoing) Contents() [][]byte { return [][]byte{u.was, u.wrote, u.Before} }

// revert returns the new content of the file, given its current content.
func (u *Undoing) revert(now []byte) ([]byte, error) {
	if now == nil {
		return nil, nil // the change created the file, and somebody removed it
	}
	var err error
	u.Undone, err = u.client.undo(undoing{file: u.Path, before: u.was, data: now, isClearing: u.last.PutBack}, u.wrote, now)
	return u.Undone.Data, err
}

// Restore writes the new content, or removes the file.
func (u *Undoing) Restore() error { return u.retry(u.restore) }

func (u *Undoing) restore() error {
	if err := u.refuseReadOnly(); err != nil {
		return err
	}
	err := u.write()
	if info, statErr := os.Stat(u.Path); err == nil && statErr == nil && u.last.Mode != 0 && info.Mode().Perm() == privateMode {
		err = os.Chmod(u.Path, u.last.Mode) // the token is gone
	}
	return err
}

// Servers returns the servers that the file gets back and those that it loses, and whether it gets or loses the workbench.
func (u *Undoing) Servers() (back, gone []Taken, workbench Presence) {
	now, err := entryTree(u.Path, u.Before, u.client.servers)
	if err != nil {
		return nil, nil, Unchanged
	}
	then, err := entryTree(u.Path, u.After, u.client.servers)
	if err != nil {
		return nil, nil, Unchanged
	}
	add := func(to *[]Taken, from, other value, servers []string, means Presence) {
		for _, entry := range named(from.at(servers)) {
			_, isThere := find(other.at(servers), entry.name)
			switch isOurs := formatOf(u.Path) == shellFormat || isSelf(entry.value); {
			case isThere:
			case isOurs:
				workbench = means
			default:
				*to = append(*to, Taken{Name: entry.name, Project: projectOf(u.client, servers)})
			}
		}
	}
	for _, servers := range u.client.serverPaths(now, then) {
		add(&gone, now, then, servers, Removed)
		add(&back, then, now, servers, Added)
	}
	return back, gone, workbench
}

// Presence is what happens to the workbench in a file.
type Presence int

// The ways.
const (
	Unchanged Presence = iota
	Added
	Removed
)

// Refused returns an error if nothing can be undone because everything was changed since.
func (u *Undoing) Refused() error {
	if len(u.Undone.Kept) == 0 {
		return nil
	}
	hint := u.NextStep()
	if u.last.Was {
		hint += "\nWhat the file held before is in " + u.last.Path()
	}
	return &toolbox.Error{
		Code:    toolbox.FileChanged,
		Message: fmt.Sprintf("%s stays as it is: %s", u.Path, strings.Join(u.Undone.Kept, "; ")),
		Hint:    hint,
	}
}

// NextStep returns how to remove the workbench from the file without an undo.
func (u *Undoing) NextStep() string {
	return "To remove every entry that starts a workbench: mcp-workbench disconnect " + u.client.ID
}

// IsExact reports whether the file is the same as before the change.
func (u *Undoing) IsExact() bool {
	return bytes.Equal(u.After, u.was) && (u.After != nil) == u.last.Was
}
