// Package uninstall finds everything that the workbench has put on a machine, and removes what a person confirms.
package uninstall

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/access/credentials"
	"github.com/mcp-workbench/mcp-workbench/internal/access/keyring"
	"github.com/mcp-workbench/mcp-workbench/internal/base/stored"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/clients"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/runtimedir"
)

// Item is one thing that can be removed.
type Item struct {
	Path  string `json:"path"` // or another name
	What  string `json:"what"`
	Bytes int64  `json:"bytes"`
}

// Group is what a person decides about at once.
type Group struct {
	Name  string `json:"name"`
	What  string `json:"what"`
	Bytes int64  `json:"bytes"`
	Items []Item `json:"items"`
	// Removed reports whether it was confirmed and removed.
	Removed bool `json:"removed"`

	remove func(ctx context.Context) error
}

// Names of the groups that are not files.
const (
	Workbenches = "workbenches"
	Clients     = "clients"
)

// Machine is where things are looked for.
type Machine struct {
	Folders map[stored.Place]string // but that of sockets
	Sockets []string                // folders of sockets that exist
	Running []*control.Client
	Clients []clients.FileState
	Home    string // "": unknown
}

// Find returns what is there, in the order in which it is removed. Groups without items are left out.
func (m *Machine) Find() ([]*Group, error) {
	groups := []*Group{m.workbenches(), m.clients()}
	found, err := m.files()
	for _, kind := range fileGroups {
		group := &Group{Name: string(kind.group), What: kind.what}
		for _, file := range found {
			if file.Kind.Group == kind.group {
				group.add(Item{Path: file.Path, What: plain(file.Kind.Name), Bytes: file.Size})
			}
		}
		group.remove = func(context.Context) error { return m.removeFiles(kind.group) }
		switch {
		case kind.group == stored.Credentials:
			m.addKeyring(group)
			m.addSecrets(group)
		case kind.group == stored.Records && len(group.Items) == 0:
			m.leaveNoBackups(groups[1])
		}
		groups = append(groups, group)
	}
	return slices.DeleteFunc(groups, func(g *Group) bool { return len(g.Items) == 0 }), err
}

// fileGroups are the groups of files, in the order in which they are removed.
var fileGroups = []struct {
	group stored.Group
	what  string
}{
	{stored.Credentials, "logins of remote servers, tokens of HTTP clients, keys"},
	{stored.Records, "trust, accepted hints, counted calls, history, audit log, backups of clients' files"},
	{stored.Caches, "cached tool lists, logs, locks, sockets"},
	{stored.Notes, "the notes of the built-in server"},
	{stored.Settings, "your configuration and its variables"},
}

// plain is a text of the documentation without its marks.
func plain(text string) string { return strings.ReplaceAll(text, "`", "") }

func (g *Group) add(item Item) {
	g.Items, g.Bytes = append(g.Items, item), g.Bytes+item.Bytes
}

// Remove removes everything in the group.
func (g *Group) Remove(ctx context.Context) error {
	err := g.remove(ctx)
	g.Removed = err == nil
	return err
}

func (m *Machine) workbenches() *Group {
	group := &Group{Name: Workbenches, What: "running workbenches, which are stopped with their servers"}
	for _, running := range m.Running {
		group.add(Item{Path: fmt.Sprintf("process %d", running.Status.PID), What: running.Status.Describe()})
	}
	group.remove = func(ctx context.Context) error {
		var errs []error
		for _, running := range m.Running {
			if err := stop(ctx, running); err != nil {
				errs = append(errs, fmt.Errorf("the workbench with process id %d: %w", running.Status.PID, err))
			}
		}
		return errors.Join(errs...)
	}
	return group
}

func (m *Machine) clients() *Group {
	group := &Group{Name: Clients, What: "entries of the workbench in the files of MCP clients; servers that connect took out come back, and other entries stay"}
	var having []clients.FileState
	for _, state := range m.Clients {
		if !isConcerned(state) || slices.ContainsFunc(having, func(h clients.FileState) bool { return h.File == state.File && h.Client == state.Client }) {
			continue
		}
		having = append(having, state)
		group.add(Item{Path: state.File, What: describeClient(state)})
	}
	group.remove = func(context.Context) error {
		var errs []error
		for _, state := range having {
			errs = append(errs, disconnect(state))
		}
		return errors.Join(errs...)
	}
	return group
}

// isConcerned reports whether a client's file has the workbench, or lacks servers that were taken out of it.
func isConcerned(state clients.FileState) bool {
	return len(state.Self) > 0 || state.Exists && (len(state.Taken) > 0 || state.TakenProblem != nil)
}

func describeClient(state clients.FileState) string {
	what := state.Client.Title
	if len(state.Self) > 0 {
		what += ": " + strings.Join(state.Self, ", ")
	}
	var back []string
	for _, taken := range state.Taken {
		back = append(back, taken.Name)
	}
	if len(back) > 0 {
		what += "; back in: " + strings.Join(back, ", ")
	}
	return what
}

// disconnect takes the entries of the workbench out of a client's file, brings back the servers that connect ever took out, and
// removes a file that it made.
func disconnect(state clients.FileState) error {
	store, err := clients.OpenBackups()
	if err != nil {
		return err
	}
	clearing, err := clients.NewClearing(state.Client, store, state.File, clients.ClearOptions{Mode: 0o600})
	if err != nil || clearing.IsEmpty() {
		return err
	}
	return clearing.Write(store)
}

// leaveNoBackups makes the removal of clients' entries remove its own backups: if there are no records, nobody is asked about
// those that it makes.
func (m *Machine) leaveNoBackups(group *Group) {
	entries := group.remove
	group.remove = func(ctx context.Context) error {
		if err := entries(ctx); err != nil {
			return err
		}
		return m.removeFiles(stored.Records)
	}
}

// addKeyring adds the key in the system's keyring, if logins were ever encrypted with it.
func (m *Machine) addKeyring(group *Group) {
	folder := credentials.Folder(m.Folders[stored.State])
	if !credentials.UsesKeyring(folder) {
		return
	}
	group.add(Item{Path: credentials.KeyringEntry, What: "the key that logins are encrypted with, in the system's keyring"})
	files := group.remove
	group.remove = func(ctx context.Context) error { return errors.Join(credentials.RemoveFromKeyring(folder), files(ctx)) }
}

// addSecrets adds the secrets in the system's keyring.
func (m *Machine) addSecrets(group *Group) {
	state := m.Folders[stored.State]
	if state == "" {
		return
	}
	book := keyring.OpenBook(state)
	names, err := book.Names()
	if err != nil || len(names) == 0 {
		return
	}
	for _, name := range names {
		group.add(Item{Path: "keyring entry " + keyring.Service + "/" + name, What: "a secret of 'secret set', in the system's keyring"})
	}
	files := group.remove
	group.remove = func(ctx context.Context) error { return errors.Join(book.RemoveAll(ctx), files(ctx)) }
}

// files returns all stored files, but sockets in use: without its socket, a workbench that goes on running could not be found
// by any command.
func (m *Machine) files() ([]stored.File, error) {
	found, err := stored.Find(m.Folders)
	errs := []error{err}
	for _, folder := range m.Sockets {
		sockets, err := stored.Find(map[stored.Place]string{stored.Runtime: folder})
		sockets = slices.DeleteFunc(sockets, func(file stored.File) bool { return isInUse(file.Path) })
		found, errs = append(found, sockets...), append(errs, err)
	}
	return found, errors.Join(errs...)
}

// isInUse reports whether a program listens on a socket.
func isInUse(path string) bool {
	if info, err := os.Lstat(path); err != nil || info.Mode()&fs.ModeSocket == 0 {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), dialTime)
	defer cancel()
	conn, err := runtimedir.Dial(ctx, path)
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}

// removeFiles removes the files of a group as they are now, and folders that are empty then.
func (m *Machine) removeFiles(group stored.Group) error {
	found, err := m.files()
	only, unknown := m.onlyCopies()
	errs := []error{err, unknown}
	for _, file := range found {
		if file.Kind.Group != group || only[recordOf(file.Path)] != "" {
			continue
		}
		remove := os.Remove
		if file.Kind.Folders {
			remove = os.RemoveAll // which follows no link
		}
		if err := remove(file.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	for _, folder := range m.roots() {
		removeEmpty(folder)
	}
	return errors.Join(errs...)
}

// onlyCopies returns the backups that stay, and why.
func (m *Machine) onlyCopies() (map[string]string, error) {
	return clients.Backups{Dir: filepath.Join(m.Folders[stored.State], "clients")}.OnlyCopies()
}

// recordOf returns the path of a backup without its ending.
func recordOf(path string) string { return strings.TrimSuffix(path, filepath.Ext(path)) }

// roots are the folders that belong to the workbench.
func (m *Machine) roots() []string {
	roots := slices.Clone(m.Sockets)
	for _, place := range []stored.Place{stored.State, stored.Config, stored.Data} {
		if folder := m.Folders[place]; folder != "" && !slices.Contains(roots, folder) { // variables may name one for all
			roots = append(roots, folder)
		}
	}
	return roots
}

// ownFolders are the folders within those of the workbench, the innermost first.
func ownFolders() (names []string) {
	for _, kind := range stored.Kinds() {
		for _, pattern := range kind.Patterns {
			for dir := filepath.Dir(filepath.FromSlash(pattern)); dir != "."; dir = filepath.Dir(dir) {
				names = append(names, dir)
			}
		}
	}
	slices.SortFunc(names, func(a, b string) int { return len(b) - len(a) })
	return slices.Compact(names)
}

// removeEmpty removes the folders of the workbench that are empty. Links are not followed.
func removeEmpty(folder string) {
	for _, name := range append(ownFolders(), ".") {
		path := filepath.Join(folder, name)
		if info, err := os.Lstat(path); err == nil && info.IsDir() {
			_ = os.Remove(path) // fails unless it is empty
		}
	}
}
