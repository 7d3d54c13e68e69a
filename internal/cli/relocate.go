package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/clients"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/configwrite"
)

// relocate renames or moves entries of one file. Rules of a policy that are about other tools afterwards are shown
// first, and have to be confirmed: they may protect less.
func (e *edit) relocate(ctx context.Context, edits []*edit, all []configwrite.Relocation, report func()) error {
	for _, r := range all {
		if err := e.Relocate(r); err != nil {
			return err
		}
	}
	if !e.IsChanged() {
		fmt.Fprintln(e.screen, "Nothing to change: it has this name already.")
		return nil
	}
	if _, err := configwrite.ReadApproval(e.Path); err != nil {
		return err // before the configuration has names that the lock cannot follow
	}
	question := ""
	if e.showAffected(edits, all) {
		question = "Change the configuration anyway?"
	}
	done, err := e.apply(ctx, question)
	if err != nil || !done {
		return err
	}
	report()
	return e.reportReferences(all)
}

// showAffected shows the rules of all files that match other tools than before, and reports whether there are any.
func (e *edit) showAffected(edits []*edit, all []configwrite.Relocation) bool {
	found := false
	for _, file := range edits {
		for _, r := range all {
			for _, pattern := range file.Affected(r, r.From.Servers(e.Outline)) {
				found = true
				how := "does not match"
				if strings.Contains(pattern, "${") {
					how = "has a variable, and may not match"
				}
				e.caution("The pattern '%s' in the policy of %s %s the same tools of %s as before. Check the policy afterwards: mcp-workbench policy",
					pattern, shortenHome(file.Path), how, r.From.Describe())
			}
		}
	}
	return found
}

// caution shows what the change does not take care of.
func (e *edit) caution(format string, args ...any) {
	text := tty.CleanLine(fmt.Sprintf(format, args...))
	e.notes = append(e.notes, text)
	fmt.Fprintf(e.screen, "%s %s\n", e.screen.Paint(tty.Caution, "!"), e.screen.Wrap(text, 2))
}

// reportReferences changes or names what refers to the entries from outside of the file.
func (e *edit) reportReferences(all []configwrite.Relocation) error {
	for _, r := range all {
		isChanged, err := configwrite.RelocateApproval(e.Path, r)
		lock := shortenHome(config.File{Path: e.Path}.LockPath())
		if err != nil {
			return &toolbox.Error{
				Code:    toolbox.LockNotWritten,
				Message: fmt.Sprintf("The configuration is changed, but not %s: %v", lock, err),
				Hint:    "To approve what the servers offer under the new name: " + commandOn(e.Path, "lock"),
				Cause:   err,
			}
		}
		if isChanged {
			fmt.Fprintf(e.screen, "What %s approves of it stays approved.\n", lock)
		}
	}
	e.reportClients(all)
	e.reportTokens(all)
	return nil
}

// reportClients names the clients that start the workbench for a toolbox with its old name.
func (e *edit) reportClients(all []configwrite.Relocation) {
	for _, found := range clients.Selections(clients.ThisMachine()) {
		if !isNamed(all, found.Toolbox) || found.Config != "" && !isSamePath(found.Config, e.Path) {
			continue
		}
		to := all[slices.IndexFunc(all, func(r configwrite.Relocation) bool { return r.From.Toolbox == found.Toolbox })].To.Toolbox
		e.caution("%s starts the workbench with --toolbox %s, which is gone. Write --toolbox %s into the entry '%s' of %s.",
			found.Client.Title, found.Toolbox, to, found.Entry, shortenHome(found.File))
	}
}

func isSamePath(a, b string) bool {
	first, err := filepath.EvalSymlinks(a)
	if err != nil {
		return a == b
	}
	second, err := filepath.EvalSymlinks(b)
	return err == nil && first == second
}

// reportTokens names the tokens that are limited to a toolbox with its old name. A token cannot be changed.
func (e *edit) reportTokens(all []configwrite.Relocation) {
	store, err := openTokens()
	if err != nil {
		return // without a readable store there are no tokens that work
	}
	var names []string
	for _, token := range store.List() {
		if slices.ContainsFunc(token.Toolboxes, func(box string) bool { return isNamed(all, box) }) {
			names = append(names, "'"+tty.CleanLine(token.Name)+"'")
		}
	}
	if len(names) > 0 {
		e.caution("Limited to the old name, and without this toolbox now: %s %s. Create new ones: mcp-workbench token add --help",
			toolbox.Count(len(names), "token", "tokens"), strings.Join(names, ", "))
	}
}
