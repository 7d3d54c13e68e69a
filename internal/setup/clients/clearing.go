package clients

import (
	"io/fs"
	"os"
)

// Clearing takes the workbench out of a client's file, and puts back the servers that were taken out of it.
type Clearing struct {
	Change
	Removed  []string // names of the workbench's entries
	Restored []Taken

	client  *Client
	changes []*Backup // the latest first
	options ClearOptions
}

// ClearOptions say what is taken out and put back.
type ClearOptions struct {
	Name      string // the only entry of the workbench that is taken out; "": all
	KeepsFile bool   // a file that connect created stays, even if nothing is in it
	NoServers bool   // no server is put back
	Mode      fs.FileMode
}

// NewClearing prepares the change. A file that does not exist stays so.
func NewClearing(client *Client, store Backups, file string, options ClearOptions) (*Clearing, error) {
	c := &Clearing{client: client, options: options, Change: Change{Path: file}}
	var err error
	if c.changes, err = store.Changes(client.ID, file); err != nil {
		return nil, err
	}
	change, err := NewChange(file, options.Mode, c.clear)
	if err != nil {
		return nil, err
	}
	c.Change = *change
	return c, nil
}

// Write backs the file up, writes it, and gives it back the mode that it had before a token was in it.
func (c *Clearing) Write(store Backups) error {
	c.putsBack = len(c.Restored) > 0
	if err := c.Change.Write(store, c.client); err != nil {
		return err
	}
	info, err := os.Stat(c.Path)
	if err != nil || info.Mode().Perm() != privateMode {
		return nil //nolint:nilerr // it was removed, or is not private
	}
	for _, change := range c.changes {
		if change.Mode != 0 {
			return os.Chmod(c.Path, change.Mode)
		}
	}
	return nil
}

// clear returns the new content of the file. Undoing all changes restores comments and layout best; if that would not lead
// to exactly the servers that belong there, entries are edited one by one.
func (c *Clearing) clear(now []byte) (after []byte, err error) {
	c.Removed, c.Restored = []string{}, nil
	if now == nil {
		return nil, nil
	}
	plain, removed, err := c.client.RemoveWorkbench(c.Path, now, c.options.Name, c.options.Name != "")
	if err != nil {
		return nil, err
	}
	c.Removed = removed
	_, left, err := c.client.RemoveWorkbench(c.Path, plain, "", false)
	if err != nil || len(left) > 0 || c.options.NoServers {
		return plain, err
	}
	if c.Restored, err = c.client.takenOut(c.Path, c.changes, now); err != nil {
		return nil, err
	}
	for _, taken := range c.Restored {
		if plain, err = c.putBack(plain, taken); err != nil {
			return nil, err
		}
	}
	undone, ok := c.undoAll(now)
	if !ok || undone == nil && c.options.KeepsFile || !c.hasSameServers(plain, undone) {
		return plain, nil
	}
	return undone, nil
}

// putBack adds a server again, in its place.
func (c *Clearing) putBack(data []byte, taken Taken) ([]byte, error) {
	before, err := taken.from.Before()
	if err != nil {
		return nil, err
	}
	was, err := parse(c.Path, before)
	if err != nil {
		return nil, err
	}
	had := named(was.at(taken.servers))
	for i, entry := range had {
		if entry.name != taken.Name {
			continue
		}
		after, err := restore(c.Path, data, before, taken.servers, had, i)
		if err == nil {
			err = check(c.Path, data, after, taken.servers, taken.Name, &entry.value)
		}
		if err != nil {
			return nil, unchanged(c.Path, err)
		}
		return after, nil
	}
	return data, nil
}

// undoAll undoes every change; ok is false if that is not possible.
func (c *Clearing) undoAll(now []byte) (after []byte, ok bool) {
	after = now
	for _, change := range c.changes {
		before, err := change.Before()
		if err != nil {
			return nil, false
		}
		written, err := change.Written()
		if err != nil {
			return nil, false
		}
		undone, err := c.client.undo(undoing{file: c.Path, before: before, data: after, isClearing: change.PutBack}, written, after)
		if err != nil {
			return nil, false
		}
		after = undone.Data
	}
	if after == nil {
		return nil, true
	}
	after, _, err := c.client.RemoveWorkbench(c.Path, after, "", false)
	return after, err == nil
}

// hasSameServers reports whether two texts of the file have the same servers.
func (c *Clearing) hasSameServers(a, b []byte) bool {
	first, err := entryTree(c.Path, a, c.client.servers)
	if err != nil {
		return false
	}
	second, err := entryTree(c.Path, b, c.client.servers)
	if err != nil {
		return false
	}
	for _, servers := range c.client.serverPaths(first, second) {
		ones, others := named(first.at(servers)), named(second.at(servers))
		if len(ones) != len(others) {
			return false
		}
		for _, one := range ones {
			if other, isThere := find(second.at(servers), one.name); !isThere || !same(one.value, other) {
				return false
			}
		}
	}
	return true
}
