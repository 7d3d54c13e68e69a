package clients

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Taken is a server that was taken out of a client's file, and that the file does not have any more.
type Taken struct {
	Name    string
	Project string // folder that it is limited to; "" for all

	servers []string // its path in the file
	value   value
	from    *Backup // the change that took it out
}

// TakenOut returns the servers that changes took out of a client's file and that are still missing there.
func (c *Client) TakenOut(store Backups, file string) ([]Taken, error) {
	changes, err := store.Changes(c.ID, file)
	if err != nil {
		return nil, err
	}
	now, err := ReadAll(file)
	if err != nil {
		return nil, err
	}
	return c.takenOut(file, changes, now)
}

// takenOut compares a file with its changes, the latest first. The latest change that knows a server decides: if that change
// left it in the file, somebody else removed it.
func (c *Client) takenOut(file string, changes []*Backup, now []byte) (missing []Taken, err error) {
	if formatOf(file) == shellFormat {
		return nil, nil // a script has only our entries
	}
	is, err := parse(file, now)
	if err != nil {
		return nil, broken(file, err)
	}
	isDecided := make(map[string]bool)
	for _, change := range changes {
		was, wrote, err := c.trees(change)
		if err != nil {
			return nil, err
		}
		var found []Taken
		for _, servers := range c.serverPaths(was, wrote) {
			for _, entry := range named(was.at(servers)) {
				_, stayed := find(wrote.at(servers), entry.name)
				_, isThere := find(is.at(servers), entry.name)
				if !stayed && !isThere && !isSelf(entry.value) && !isDecided[placeOf(servers, entry.name)] {
					found = append(found, Taken{entry.name, projectOf(c, servers), servers, entry.value, change})
				}
			}
			for _, entry := range append(named(was.at(servers)), named(wrote.at(servers))...) {
				isDecided[placeOf(servers, entry.name)] = true
			}
		}
		missing = append(found, missing...)
	}
	return missing, nil
}

// trees returns the content of a file before a change, and after it.
func (c *Client) trees(change *Backup) (was, wrote value, err error) {
	before, err := change.Before()
	if err == nil {
		was, err = entryTree(change.File, before, c.servers)
	}
	if err != nil {
		return was, wrote, err
	}
	written, err := change.Written()
	if err == nil {
		wrote, err = entryTree(change.File, written, c.servers)
	}
	return was, wrote, err
}

// placeOf is a key for a server in a file.
func placeOf(servers []string, name string) string {
	return strings.Join(entryPath(servers, name), "\x00")
}

// projectOf returns the project that a path of servers belongs to; "" if it is that of all projects.
func projectOf(c *Client, servers []string) string {
	for _, path := range c.elsewhere {
		if len(servers) == len(path) && servers[0] == path[0] {
			return servers[1]
		}
	}
	return ""
}

// OnlyCopies returns the records, without the endings of their files, that nothing may remove: each is the only copy of
// servers that were taken out of a client's file, or cannot be read. The value says so to a person.
func (s Backups) OnlyCopies() (map[string]string, error) {
	needed := make(map[string]string)
	entries, err := os.ReadDir(s.Dir)
	if os.IsNotExist(err) {
		return needed, nil
	}
	changes := make(map[[2]string][]*Backup) // by client and file, the latest first
	for _, entry := range entries {
		name, isRecord := strings.CutSuffix(entry.Name(), recordSuffix)
		if !isRecord {
			continue
		}
		path := filepath.Join(s.Dir, name)
		b, err := readBackup(path)
		if err != nil || ByID(b.Client) == nil {
			needed[path] = "it cannot be read, and may be the only copy of servers that were taken out of a client: remove it yourself if you do not need it"
			continue
		}
		key := [2]string{b.Client, b.File}
		changes[key] = append([]*Backup{b}, changes[key]...)
	}
	for key, of := range changes {
		addOnlyCopies(needed, ByID(key[0]), key[1], of)
	}
	return needed, err
}

func addOnlyCopies(needed map[string]string, client *Client, file string, changes []*Backup) {
	now, err := ReadAll(file)
	var missing []Taken
	if err == nil {
		missing, err = client.takenOut(file, changes, now)
	}
	if err != nil {
		for _, change := range changes {
			needed[change.path] = "whether it is the only copy of servers of " + client.Title + " is unclear: " + err.Error()
		}
	}
	for _, taken := range missing {
		next := "To put them back: mcp-workbench disconnect " + client.ID
		if now == nil {
			next = fmt.Sprintf("Its file is gone; to restore it: cp '%s' '%s'", taken.from.Path(), file)
		}
		needed[taken.from.path] = "it is the only copy of servers that connect took out of " + client.Title + ". " + next
	}
}
