package clients

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/linediff"
)

// Undone is the content of a client's file after a change is undone.
type Undone struct {
	Data   []byte   // nil: the file is removed
	Kept   []string // not undone because it was changed since, for people
	Edited []string // undone although it was changed since, for people
	Stays  bool     // an entry that the change added remains
}

// Undo undoes a change of a file with a three-way comparison: the file before the change, after it, and now. Only
// entries of servers that the change touched are compared; everything else stays as it is now. A nil before is a
// missing file.
func (c *Client) Undo(file string, before, written, now []byte) (Undone, error) {
	return c.undo(undoing{file: file, before: before, data: now}, written, now)
}

func (c *Client) undo(u undoing, written, now []byte) (Undone, error) {
	file, before := u.file, u.before
	if bytes.Equal(now, written) {
		return Undone{Data: before}, nil
	}
	for _, side := range []struct {
		data []byte
		tree *value
	}{{before, &u.was}, {written, &u.wrote}, {now, &u.is}} {
		var err error
		if *side.tree, err = entryTree(file, side.data, c.servers); err != nil {
			return Undone{}, broken(file, err)
		}
	}
	for _, servers := range c.serverPaths(u.was, u.wrote) {
		if err := u.revert(servers); err != nil {
			return Undone{}, err
		}
	}
	if merged, ok := linediff.Merge(written, before, now); ok && len(before) > 0 && u.isEquivalent(merged, c.servers) {
		// Equivalent to the edited text, and with the comments of restored entries.
		u.data = merged
	}
	if before == nil && isBlank(file, u.data) {
		u.data = nil
	}
	u.Data = u.data
	return u.Undone, nil
}

// serverPaths returns the paths of servers in trees of the client's file.
func (c *Client) serverPaths(trees ...value) [][]string {
	paths := [][]string{c.servers}
	for _, path := range c.elsewhere {
		for _, tree := range trees {
			for _, project := range tree.get(path[0]).members {
				found := append([]string{path[0], project.name}, path[2:]...)
				if !slices.ContainsFunc(paths, func(p []string) bool { return slices.Equal(p, found) }) {
					paths = append(paths, found)
				}
			}
		}
	}
	return paths
}

// entryTree parses a file; in a script, the workbench's blocks are the entries.
func entryTree(file string, data []byte, servers []string) (value, error) {
	if formatOf(file) != shellFormat {
		return parse(file, data)
	}
	entries := value{kind: object}
	for _, name := range shellEntries(data) {
		entries.members = append(entries.members, member{name, textValue(shellBlock(data, name))})
	}
	return value{kind: object, members: []member{{servers[0], entries}}}, nil
}

// undoing is one change that is being undone.
type undoing struct {
	file           string
	before         []byte
	was, wrote, is value // before the change, after it, and now; the last follows data
	// isClearing means that the change put back servers, which are not the workbench's: those that were edited since stay.
	isClearing bool

	data []byte
	Undone
}

// revert undoes the change of the servers at one path.
func (u *undoing) revert(servers []string) error {
	was, wrote := u.was.at(servers), u.wrote.at(servers)
	for _, entry := range named(wrote) {
		before, wasThere := find(was, entry.name)
		now, isThere := find(u.is.at(servers), entry.name)
		var err error
		switch {
		case !isThere || wasThere && same(before, entry.value):
		case wasThere:
			err = u.restoreKeys(servers, entry.name, before, entry.value, now)
		default:
			err = u.removeAdded(servers, entry, now)
		}
		if err != nil {
			return err
		}
	}
	for i, entry := range named(was) {
		if _, stayed := find(wrote, entry.name); stayed {
			continue
		}
		if now, isThere := find(u.is.at(servers), entry.name); isThere {
			if !same(now, entry.value) {
				u.addKept("'%s' is there again with other settings, and stays as it is", entry.name)
			}
			continue
		}
		after, err := restore(u.file, u.data, u.before, servers, named(was), i)
		if err == nil {
			err = u.edit(after, servers, entry.name, &entry.value)
		}
		if err != nil {
			return err
		}
	}
	return u.dropEmpty(servers)
}

// removeAdded removes an entry that the change added, even if it was edited, as long as it starts the workbench: beside the
// restored servers, it would run them a second time.
func (u *undoing) removeAdded(servers []string, wrote member, now value) error {
	if changed := strings.Join(changedKeys(wrote.value, now), ", "); changed != "" {
		if u.isClearing && !isSelf(wrote.value) {
			u.addKept("'%s' was changed since (%s), and stays", wrote.name, changed)
			return nil
		}
		if !startsSame(wrote.value, now) {
			u.addKept("'%s' was changed since (%s): it leads to another program now, and stays", wrote.name, changed)
			u.Stays = true
			return nil
		}
		u.Edited = append(u.Edited, fmt.Sprintf("'%s' was changed since (%s), and is removed all the same", wrote.name, changed))
	}
	after, err := removeEntry(u.file, u.data, servers, wrote.name)
	if err != nil {
		return err
	}
	return u.edit(after, servers, wrote.name, nil)
}

// restoreKeys restores the previous values of a replaced entry, except those changed since.
func (u *undoing) restoreKeys(servers []string, name string, before, wrote, now value) error {
	if before.kind != object || now.kind != object {
		if !same(wrote, now) {
			u.addKept("'%s' was changed since, and stays", name)
			return nil
		}
		after, err := replaceEntry(u.file, u.data, servers, name, before)
		if err != nil {
			return err
		}
		return u.edit(after, servers, name, &before)
	}
	want := value{kind: object, members: slices.Clone(now.members)}
	var changed []string
	for _, key := range keysOf(before, wrote) {
		had, hadIt := before.member(key)
		wroteNow, wroteIt := wrote.member(key)
		has, hasIt := now.member(key)
		switch {
		case hadIt == wroteIt && same(had, wroteNow), hadIt == hasIt && same(had, has):
		case wroteIt != hasIt || !same(wroteNow, has):
			changed = append(changed, key)
		default:
			want = want.with(key, had, hadIt)
		}
	}
	if len(changed) > 0 {
		u.addKept("'%s' was changed since (%s); that stays", name, strings.Join(changed, ", "))
	}
	if same(want, now) {
		return nil
	}
	after, err := replaceEntry(u.file, u.data, servers, name, want)
	if err != nil {
		return err
	}
	return u.edit(after, servers, name, &want)
}

// edit accepts a new text after checking that only the entry differs. A nil want is a removed entry.
func (u *undoing) edit(after []byte, servers []string, name string, want *value) error {
	if formatOf(u.file) != shellFormat {
		if err := check(u.file, u.data, after, servers, name, want); err != nil {
			return unchanged(u.file, err)
		}
	}
	is, err := entryTree(u.file, after, servers)
	if err != nil {
		return unchanged(u.file, err)
	}
	u.data, u.is = after, is
	return nil
}

// dropEmpty removes empty server objects that the change created.
func (u *undoing) dropEmpty(servers []string) error {
	for depth := len(servers); depth > 0; depth-- {
		path := servers[:depth]
		now := u.is.at(path)
		if u.was.at(path).kind != nothing || u.wrote.at(path).kind == nothing || now.kind == nothing || !now.isEmpty() {
			return nil
		}
		after, err := dropKey(u.file, u.data, path)
		if err == nil {
			u.data = after
			u.is, err = entryTree(u.file, after, servers)
		}
		if err != nil {
			return unchanged(u.file, err)
		}
	}
	return nil
}

// isEquivalent reports whether a text is equivalent to the result of the edits.
func (u *undoing) isEquivalent(data []byte, servers []string) bool {
	tree, err := entryTree(u.file, data, servers)
	return err == nil && same(tree, u.is)
}

func (u *undoing) addKept(format string, args ...any) {
	u.Kept = append(u.Kept, fmt.Sprintf(format, args...))
}

// changedKeys returns the keys of an entry whose values differ from those written. Clients add keys to entries, and
// drop unknown or empty ones: the entry remains the same as long as it starts the same program.
func changedKeys(wrote, now value) []string {
	if wrote.kind != object || now.kind != object {
		if same(wrote, now) {
			return nil
		}
		return []string{"all of it"}
	}
	var changed []string
	for _, m := range wrote.members {
		is, isThere := now.member(m.name)
		switch {
		case isThere && same(m.value, is), !isThere && m.value.isLikeMissing():
		case isThere, slices.Contains([]string{"command", "cmd", "args"}, m.name), slices.Contains(addressKeys, m.name):
			changed = append(changed, m.name)
		}
	}
	return changed
}

func keysOf(trees ...value) []string {
	var keys []string
	for _, tree := range trees {
		for _, m := range tree.members {
			if !slices.Contains(keys, m.name) {
				keys = append(keys, m.name)
			}
		}
	}
	return keys
}
