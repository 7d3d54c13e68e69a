package policycheck

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/app"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
)

// ShowDoubted lists tools whose hints changed, with what changed.
func ShowDoubted(screen *tty.Screen, doubted []app.DoubtedTool) {
	if len(doubted) == 0 {
		fmt.Fprintln(screen, "No tool has changed hints to accept.")
		return
	}
	rows := make([][]tty.Cell, len(doubted))
	for i, one := range doubted {
		rows[i] = []tty.Cell{{Text: fullName(one.Ref), Style: tty.Name}, {Text: changedHints(one.Before, one.After)}}
	}
	screen.WrappedTable([]string{"TOOL", "CHANGE"}, rows)
	fmt.Fprintln(screen, screen.Wrap("\nThe policy does not count the hints of these tools. To accept them as they are now: mcp-workbench policy accept TOOL", 0))
}

// changedHints returns the hints that differ, in words.
func changedHints(before, after catalog.Hints) string {
	var changes []string
	for _, hint := range []struct {
		name          string
		before, after bool
	}{
		{"readOnly", before.ReadOnly, after.ReadOnly},
		{"destructive", before.Destructive, after.Destructive},
		{"idempotent", before.Idempotent, after.Idempotent},
		{"openWorld", before.OpenWorld, after.OpenWorld},
	} {
		if hint.before != hint.after {
			changes = append(changes, fmt.Sprintf("%s was %t, now %t", hint.name, hint.before, hint.after))
		}
	}
	return strings.Join(changes, "; ")
}

// The JSON of doubted tools.
type (
	doubtedTool struct {
		Tool   string     `json:"tool"`
		Before hintValues `json:"before"`
		After  hintValues `json:"after"`
	}
	hintValues struct {
		ReadOnly    bool `json:"readOnly"`
		Destructive bool `json:"destructive"`
		Idempotent  bool `json:"idempotent"`
		OpenWorld   bool `json:"openWorld"`
	}
)

// DoubtedJSON is ShowDoubted for scripts.
func DoubtedJSON(out io.Writer, doubted []app.DoubtedTool) error {
	list := []doubtedTool{}
	for _, one := range doubted {
		list = append(list, doubtedTool{fullName(one.Ref), hintValues(one.Before), hintValues(one.After)})
	}
	return tty.WriteJSON(out, struct {
		Tools []doubtedTool `json:"tools"`
	}{list})
}

// SelectDoubted returns the tools that names stand for, each as TOOLBOX/SERVER/TOOL, or as SERVER/TOOL or TOOL if that is
// unambiguous.
func SelectDoubted(doubted []app.DoubtedTool, names []string) (refs []toolbox.Ref, err error) {
	for _, name := range names {
		var found []toolbox.Ref
		for _, one := range doubted {
			if fullName(one.Ref) == name {
				found = []toolbox.Ref{one.Ref}
				break
			}
			if one.Ref.Server+"/"+one.Ref.Name == name || one.Ref.Name == name {
				found = append(found, one.Ref)
			}
		}
		switch len(found) {
		case 0:
			return nil, notDoubted(doubted, name)
		case 1:
		default:
			var full []string
			for _, ref := range found {
				full = append(full, fullName(ref))
			}
			return nil, toolbox.Ambiguous(name, fmt.Sprint(len(found), " tools with changed hints"), full)
		}
		if !slices.Contains(refs, found[0]) {
			refs = append(refs, found[0])
		}
	}
	return refs, nil
}

func notDoubted(doubted []app.DoubtedTool, name string) error {
	refused := &toolbox.Error{
		Code: toolbox.ReferenceNotFound, Message: fmt.Sprintf("There is no tool '%s' with changed hints; nothing was accepted", name),
		Hint: "To list those that have: mcp-workbench policy accept",
	}
	tools := make([]toolbox.Ref, len(doubted))
	for i, one := range doubted {
		tools[i] = one.Ref
	}
	if near := toolbox.NearestTools(name, tools); len(near) > 0 {
		refused.Hint = toolbox.Meant(near)
	}
	return refused
}
