package clients

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/linediff"
)

// Undone is what a client's file is to hold once a change of it is taken back.
type Undone struct {
	Data   []byte   // nil: the file is not to be there
	Kept   []string // what was not taken back, since somebody else changed it, for people
	Edited []string // what was taken back though somebody else had changed it, for people
	Stays  bool     // an entry that the change added is among what was not taken back
}

// Undo takes a change of a file back by a three-way comparison: the file as it was before the
// change, as the change left it, and as it is now. Only entries of servers that the
// change touched are looked at; the rest stays as it is now. A nil before is a file that was
// not there.
func (c *Client) Undo(file string, before, written, now []byte) (Undone, error) {
	if bytes.Equal(now, written) {
		return Undone{Data: before}, nil
	}
	u := undoing{file: file, before: before, data: now}
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
	if merged, ok := linediff.Merge(written, before, now); ok && len(before) > 0 && u.means(merged, c.servers) {
		// As good as what was edited, and with the comments of entries that come back.
		u.data = merged
	}
	if before == nil && isBlank(file, u.data) {
		u.data = nil
	}
	u.Data = u.data
	return u.Undone, nil
}

// serverPaths returns where trees of the client's file hold servers.
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

// entryTree reads a file; of a script, the blocks that are ours count as its entries.
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

// undoing is one change that is being taken back.
type undoing struct {
	file           string
	before         []byte
	was, wrote, is value // before the change, after it, and now; the last follows data

	data []byte
	Undone
}

// revert takes back what the change did to the servers of one place.
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
			err = u.takeOut(servers, entry, now)
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

// takeOut removes an entry that the change added, whatever was changed in it, as long as it
// starts the workbench: beside the servers that come back, it would run them a second time.
func (u *undoing) takeOut(servers []string, wrote member, now value) error {
	if changed := strings.Join(changedKeys(wrote.value, now), ", "); changed != "" {
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

// restoreKeys gives an entry that the change replaced back the values it had, but for those
// that were changed since.
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

// edit takes over a new text after a look that nothing but the entry is different in it. A nil
// want is an entry that is gone.
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

// dropEmpty removes the places for servers that the change made and that hold nothing now.
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

// means reports that a text says the same as what the edits led to.
func (u *undoing) means(data []byte, servers []string) bool {
	tree, err := entryTree(u.file, data, servers)
	return err == nil && same(tree, u.is)
}

func (u *undoing) addKept(format string, args ...any) {
	u.Kept = append(u.Kept, fmt.Sprintf(format, args...))
}

// changedKeys returns the keys of an entry whose values are no longer those that were written.
// Clients add keys to entries, and leave out keys that they do not know or that say nothing:
// neither makes it another entry, as long as it starts the same program.
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
		case isThere && same(m.value, is), !isThere && m.value.saysNothing():
		case isThere, slices.Contains([]string{"command", "cmd", "args"}, m.name):
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
