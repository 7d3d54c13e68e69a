package app

import (
	"errors"
	"fmt"
	"slices"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/audit"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/trust"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
)

const (
	// maxListedChanges bounds the changes in one answer; the others are counted.
	maxListedChanges = 1_000
	// maxChangesText bounds the diffs in one answer, in bytes; later changes are listed without.
	maxChangesText = 4 << 20
)

// openChanges returns how many definitions and instructions changed and were not accepted. It reads memory, and a file
// of each server that was not looked at yet. changesSeen says when it may differ.
func (a *App) openChanges() (n int) {
	for _, box := range a.fleet.Toolboxes() {
		for _, server := range box.Servers {
			n += server.CountChanges()
		}
	}
	return n
}

// changesSeen returns a number that differs when openChanges may. It is one atomic load.
func (a *App) changesSeen() uint64 { return a.fleet.Changes() }

// Changes implements control.Subject.
func (i Inspector) Changes(want control.ChangeFilter) control.Changes {
	all := control.Changes{Changes: []control.DefinitionChange{}}
	room := maxChangesText
	for _, box := range i.App.fleet.Toolboxes() {
		for _, server := range box.Servers {
			if want.Toolbox != "" && want.Toolbox != box.Name || want.Server != "" && want.Server != server.Name() || server.CountChanges() == 0 {
				continue
			}
			for _, change := range server.OpenChanges() {
				switch {
				case want.Tool != nil && *want.Tool != i.App.Mask(change.Tool):
				case len(all.Changes) == maxListedChanges:
					all.More++
				default:
					all.Changes = append(all.Changes, i.App.definitionChange(server, change, &room))
				}
			}
		}
	}
	return all
}

// diffWithin returns the diff of a change, if there is room for it, and takes that. Without room it is not even made: it
// costs far more than all else of the answer.
func diffWithin(room *int, change catalog.OpenChange, mask func(string) string) (diff []control.DiffLine, note string) {
	if *room > 0 {
		diff, note = diffOf(change, mask)
		if *room -= sizeOf(diff); *room >= 0 {
			return diff, note
		}
	}
	*room = 0
	return nil, "There are too many changes to show them all at once: look at this one alone."
}

func sizeOf(diff []control.DiffLine) (n int) {
	for _, line := range diff {
		n += len(line.Text)
	}
	return n
}

// definitionChange returns a change as a person sees it. Its diff takes room.
func (a *App) definitionChange(server *fleet.Server, change catalog.OpenChange, room *int) control.DefinitionChange {
	tool := a.Mask(change.Tool)
	shown := control.DefinitionChange{
		Toolbox: server.Toolbox(), Server: server.Name(), Tool: tool, Withheld: change.Withheld,
		New: change.Before == nil, Hints: change.Hints, Hash: change.After.Hash.String(),
		Command: trust.Quote("mcp-workbench", "changes", "--accept", changeName(server.Toolbox(), server.Name(), tool)),
	}
	shown.Diff, shown.Note = diffWithin(room, change, a.Mask)
	return shown
}

// changeName is what 'changes --accept' calls a change.
func changeName(box, server, tool string) string {
	if tool == "" {
		return box + "/" + server + ":instructions"
	}
	return box + "/" + server + "/" + tool
}

// Accept implements control.Subject.
func (i Inspector) Accept(box, name, tool, hash string) error {
	server, err := i.server(box, name)
	if err != nil {
		return err
	}
	return i.App.accept(server, tool, hash)
}

// accept makes what a server offers the accepted definition of a tool, or the accepted instructions. It is refused
// unless the hash is that of what is offered now: else a server could offer something else than the person saw.
func (a *App) accept(server *fleet.Server, tool, hash string) error {
	a.changing.Lock()
	defer a.changing.Unlock()
	name := changeName(server.Toolbox(), server.Name(), tool)
	look := "Look at what changed: " + trust.Quote("mcp-workbench", "changes", name)
	var open []catalog.OpenChange
	for _, change := range server.OpenChanges() {
		if a.Mask(change.Tool) == tool {
			open = append(open, change)
		}
	}
	if len(open) == 0 {
		return &toolbox.Error{Code: toolbox.ChangeNotFound, Message: fmt.Sprintf("'%s' has no change to accept: it was accepted, changed back, or never changed", name), Hint: "List all: mcp-workbench changes"}
	}
	swapped := &toolbox.Error{Code: toolbox.ChangeOutdated, Message: fmt.Sprintf("'%s' changed again since it was shown, so nothing was accepted", name), Hint: look}
	at := slices.IndexFunc(open, func(change catalog.OpenChange) bool { return change.After.Hash.String() == hash })
	if at < 0 {
		return swapped
	}
	change := open[at]
	if change.Withheld != "" {
		if err := a.acceptInLock(server, change); err != nil {
			return err
		}
	}
	err := server.AcceptChange(catalog.ChangeID{Tool: change.Tool, Hash: change.After.Hash})
	switch {
	case errors.Is(err, catalog.ErrNotOffered) && change.Withheld == "":
		return swapped
	case errors.Is(err, catalog.ErrNotOffered): // the lock has it; what is offered since is withheld again
	case err != nil:
		return &toolbox.Error{
			Code: toolbox.FileNotWritten, Message: fmt.Sprintf("What was accepted cannot be kept: %v", err),
			Hint: "It is in the state folder, below definitions/, which must be writable.", Cause: err,
		}
	}
	a.audit.Add(audit.DefinitionAccepted(toolbox.Ref{Toolbox: server.Toolbox(), Server: server.Name(), Name: change.Tool}, change.After.Hash.String()))
	a.ReviewHints()
	return nil
}

// acceptInLock writes one record into the lock of the server's file, and uses it at once, as the reload does that
// follows. Other changes of the file stay as they are.
func (a *App) acceptInLock(server *fleet.Server, change catalog.OpenChange) error {
	cfg := a.config.Load()
	at := slices.IndexFunc(cfg.Files, func(file config.File) bool { return isFrom(cfg, server.Toolbox(), file) })
	if at < 0 {
		return fmt.Errorf("no file of the configuration has the toolbox '%s'", server.Toolbox())
	}
	file := cfg.Files[at]
	lock, err := ReadLock(file)
	if err != nil {
		return err
	}
	if lock == nil {
		file.Lock = nil
		_, err := lockOfFile(file)
		return err
	}
	version := ""
	if offered := server.Offered(); offered != nil {
		version = a.Mask(offered.ServerVersion)
	}
	data, err := WriteLock(file, lock.Approve(server.Toolbox(), server.Name(), version, change))
	if err != nil {
		return err
	}
	next := *cfg
	next.Files = slices.Clone(cfg.Files)
	next.Files[at].Lock = data
	restrictions, err := restrictionsOf(&next)
	if err != nil {
		return err
	}
	a.front.Change(func() {
		a.fleet.Restrict(restrictions)
		a.config.Store(&next)
	})
	return nil
}
