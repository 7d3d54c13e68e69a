// Package changes shows a person at a terminal the definitions of tools that changed in running workbenches, and passes on
// which of them the person accepts.
package changes

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
)

// Change is a changed definition, or changed instructions, in a running workbench.
type Change struct {
	PID int `json:"pid"` // of the workbench
	control.DefinitionChange

	workbench *control.Client
}

// Ref returns what the change is called: TOOLBOX/SERVER/TOOL, or TOOLBOX/SERVER:instructions.
func (c *Change) Ref() string {
	if c.Tool == "" {
		return c.Toolbox + "/" + c.Server + ":instructions"
	}
	return c.Toolbox + "/" + c.Server + "/" + c.Tool
}

// same identifies changes that a person looks at once, although several workbenches have them.
func (c *Change) same() string { return c.Ref() + "\n" + c.Hash + "\n" + c.Withheld }

// List returns the changes in workbenches that wait to be accepted. Workbenches that do not answer are reported in the error;
// the changes of the others are returned anyway. More counts those that are too many for one answer.
func List(ctx context.Context, found []*control.Client) (all []Change, more int, err error) {
	all = []Change{}
	for _, workbench := range found {
		answer, problem := workbench.Changes(ctx, control.ChangeFilter{})
		if problem != nil {
			err = errors.Join(err, fmt.Errorf("the workbench with process id %d does not answer: %w", workbench.Status.PID, problem))
		}
		for _, change := range answer.Changes {
			all = append(all, Change{workbench.Status.PID, change, workbench})
		}
		more += answer.More
	}
	return all, more, err
}

// Select returns the changes that names are for: of a tool, of instructions, of a server or of a toolbox. Without names it
// returns all.
func Select(all []Change, names []string) ([]Change, error) {
	if len(names) == 0 {
		return all, nil
	}
	isMeant := make([]bool, len(all))
	for _, name := range names {
		found, err := find(all, name)
		if err != nil {
			return nil, err
		}
		for _, i := range found {
			isMeant[i] = true
		}
	}
	var selected []Change
	for i, change := range all {
		if isMeant[i] {
			selected = append(selected, change)
		}
	}
	return selected, nil
}

// find returns the places in a list of the changes that a name is for.
func find(all []Change, name string) (found []int, err error) {
	places := &toolbox.Named{}
	var short []int
	var refs []string
	for i := range all {
		change := &all[i]
		at := toolbox.Place{Toolbox: change.Toolbox, Server: change.Server}
		if !slices.Contains(places.Servers, at) {
			places.Servers = append(places.Servers, at)
		}
		if !slices.Contains(places.Toolboxes, change.Toolbox) {
			places.Toolboxes = append(places.Toolboxes, change.Toolbox)
		}
		switch {
		case change.Ref() == name:
			found = append(found, i)
		case change.Tool == "" && name == change.Server+":instructions", change.Tool != "" && (name == change.Server+"/"+change.Tool || name == change.Tool):
			short = append(short, i)
			if !slices.Contains(refs, change.Ref()) {
				refs = append(refs, change.Ref())
			}
		}
	}
	if len(found) > 0 {
		return found, nil
	}
	at, err := places.Find(name, toolbox.ToolboxFirst)
	known, _ := errors.AsType[*toolbox.Error](err)
	switch {
	case err == nil:
		for i := range all {
			if all[i].Toolbox == at.Toolbox && (at.Server == "" || all[i].Server == at.Server) {
				found = append(found, i)
			}
		}
		return found, nil
	case len(refs) == 1:
		return short, nil
	case len(refs) > 1:
		return nil, toolbox.Ambiguous(name, fmt.Sprint(len(refs), " changes"), refs)
	case known != nil && known.Code == toolbox.AmbiguousName:
		return nil, err
	}
	return nil, &toolbox.Error{
		Code: toolbox.ChangeNotFound, Message: fmt.Sprintf("'%s' has no change to accept: it was accepted, changed back, or never changed", tty.CleanLine(name)),
		Hint: "List all: mcp-workbench changes",
	}
}

// Accept shows changes, and accepts them as they were shown once the person has confirmed it with a code. It returns what was
// accepted, also with an error.
func Accept(ctx context.Context, screen *tty.Screen, all []Change) (accepted []Change, err error) {
	Show(screen, all)
	code, err := tty.NewCode()
	if err != nil {
		return nil, err
	}
	what := toolbox.Count(len(distinct(all)), "change", "changes")
	typed, err := screen.Ask(ctx, fmt.Sprintf("\nTo accept %s, type the code %s:", what, code), "")
	if err != nil {
		return nil, err
	}
	if typed != code {
		return nil, &toolbox.Error{Code: toolbox.WrongCode, Message: "That is not the code, so nothing was accepted", Hint: "Try again: mcp-workbench changes --accept NAME"}
	}
	var refused []error
	for _, change := range all {
		problem := change.workbench.Accept(ctx, change.DefinitionChange)
		if known, ok := errors.AsType[*toolbox.Error](problem); ok && known.Code == toolbox.ChangeNotFound && isAccepted(accepted, &change) {
			problem = nil // the workbenches share what is accepted
		}
		if problem != nil {
			refused = append(refused, problem)
			continue
		}
		accepted = append(accepted, change)
	}
	if len(accepted) > 0 {
		fmt.Fprintf(screen, "%s accepted.\n", toolbox.Count(len(distinct(accepted)), "change is", "changes are"))
	}
	return accepted, errors.Join(refused...)
}

func isAccepted(accepted []Change, change *Change) bool {
	return slices.ContainsFunc(accepted, func(other Change) bool { return other.same() == change.same() })
}

// distinct returns changes without those that are the same in another workbench.
func distinct(all []Change) (once []Change) {
	for _, change := range all {
		if !isAccepted(once, &change) {
			once = append(once, change)
		}
	}
	return once
}
