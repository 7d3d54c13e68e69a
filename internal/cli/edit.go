package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/app/loader"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/configwrite"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/jsonc"
)

// editFlags are what all commands that change the configuration have.
type editFlags struct{ dryRun, yes bool }

func (f *editFlags) add(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "show what would change, and change nothing")
	cmd.Flags().BoolVar(&f.yes, "yes", false, "ask nothing")
}

// edit is a change of the configuration that a person ordered.
type edit struct {
	*configwrite.Revision
	isLocal bool              // it is a project's file
	doubted *loader.Untrusted // not nil: it was not trusted
	screen  *tty.Screen
	flags   editFlags
	outline *config.Preview
	next    configwrite.Content
}

// beginEdits reads the files that a change may be for. What is meant is looked up in this
// order: the project's file, unless it is not trusted, which must not stand in the way of the
// user's own.
func (g *globals) beginEdits(cmd *cobra.Command, flags editFlags) ([]*edit, error) {
	places, err := g.Find()
	if err != nil {
		return nil, err
	}
	if len(places) == 0 {
		return nil, &toolbox.Error{
			Code:    toolbox.ConfigNotFound,
			Message: "There is no configuration yet",
			Hint:    "Make one with 'mcp-workbench init' or 'mcp-workbench add', or name a file with --config.",
		}
	}
	var user *config.Config
	if len(places) > 1 { // what is wrong with it is no reason not to change the other one
		user, _ = config.Load(places[1].Path, os.Environ())
	}
	var edits []*edit
	var errs []error
	for i, place := range places {
		if i > 0 {
			user = nil
		}
		e, err := beginEdit(cmd, flags, place, user)
		if err == nil && e.IsNew {
			_, err = config.Read(place.Path) // which says so
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		edits = append(edits, e)
	}
	if len(edits) == 0 {
		return nil, errors.Join(errs...)
	}
	for _, err := range errs { // the other file may be meant
		fmt.Fprintln(cmd.ErrOrStderr(), tty.Describe(err))
	}
	if len(edits) > 1 && edits[0].doubted != nil {
		slices.Reverse(edits)
	}
	return edits, nil
}

// beginAdd reads the file that something is added to: the one that is named, the one that has
// the toolbox, else that of the project. Without any there is a new one in the user's
// configuration folder.
func (g *globals) beginAdd(cmd *cobra.Command, flags editFlags, box string) (*edit, error) {
	places, err := g.Find()
	if err != nil {
		return nil, err
	}
	if len(places) == 0 {
		path := config.UserPath(os.Getenv)
		if path == "" {
			return nil, &toolbox.Error{
				Code:    toolbox.ConfigNotFound,
				Message: "There is no folder for a configuration: HOME is not set",
				Hint:    "Name a file with --config.",
			}
		}
		places = []config.Place{{Path: path, Origin: config.User}}
	}
	if len(places) == 1 {
		return beginEdit(cmd, flags, places[0], nil)
	}
	edits, err := g.beginEdits(cmd, flags)
	if err != nil {
		return nil, err
	}
	for _, e := range edits {
		if e.has(place{toolbox: box}) {
			return e, nil
		}
	}
	return edits[0], nil
}

// beginEdit reads one file; user is the user's own, if the file is a project's on top of it.
func beginEdit(cmd *cobra.Command, flags editFlags, at config.Place, user *config.Config) (*edit, error) {
	revision, err := configwrite.Begin(at.Path, configwrite.Options{StateDir: config.StateDir(), Environ: os.Environ(), User: user})
	if err != nil {
		return nil, err
	}
	e := &edit{Revision: revision, flags: flags, next: revision.Content(), screen: screenOf(cmd)}
	if at.Origin == config.Local && !revision.IsNew {
		if e.doubted, err = loader.CheckTrustAt(at.Path); err != nil {
			return nil, err
		}
	}
	e.isLocal = at.Origin == config.Local
	e.outline, err = revision.Outline()
	return e, err
}

// has reports whether the file has a toolbox, or a server of it.
func (e *edit) has(p place) bool {
	if p.server != "" {
		return len(p.servers(e.outline)) > 0
	}
	return slices.ContainsFunc(e.outline.Toolboxes, func(box config.PreviewToolbox) bool { return box.Name == p.toolbox })
}

// whose finds what a reference means, and the file that has it. Of a toolbox in both files it
// is the one that is used, unless only the other one has that server.
func whose(edits []*edit, ref string) (*edit, place, error) {
	all := &config.Preview{}
	for _, e := range edits {
		all.Add(e.outline)
	}
	p, err := locate(all, ref)
	for _, e := range edits {
		if err == nil && e.has(p) {
			return e, p, nil
		}
	}
	for _, e := range edits {
		if p, hidden := locate(e.outline, ref); hidden == nil {
			return e, p, nil
		}
	}
	return nil, place{}, err
}

// apply checks and shows the change, asks if there is a question, and writes. It reports
// whether something was written.
func (e *edit) apply(ctx context.Context, question string) (done bool, err error) {
	before := e.Content()
	if bytes.Equal(before.Data, e.next.Data) && bytes.Equal(before.Env, e.next.Env) {
		return false, nil
	}
	remaining, err := e.Check(e.next)
	if err != nil {
		return false, err
	}
	e.show()
	if remaining != nil {
		fmt.Fprintf(os.Stderr, "The configuration has other mistakes, which this does not change:\n%s\n", tty.Clean(remaining.Error()))
	}
	if e.flags.dryRun {
		fmt.Fprintln(e.screen, "\nNothing was changed: this was a dry run.")
		return false, nil
	}
	if question != "" {
		if err := agree(ctx, e.screen, e.flags.yes, question); err != nil {
			return false, err
		}
	}
	if err := e.Write(ctx, e.next); err != nil {
		return false, err
	}
	return true, e.tellTrust()
}

// tellTrust reminds of a file that is not used although it was edited just now.
func (e *edit) tellTrust() error {
	if !e.isLocal {
		return nil
	}
	u, err := loader.CheckTrustAt(e.Path)
	if err != nil {
		return err
	}
	if u != nil {
		fmt.Fprintf(os.Stderr, "The file is not trusted yet, so nothing of it is run. Look at it, and then: %s\n", u.Command())
	}
	return nil
}

// done tells, below the difference, what was written.
func (e *edit) done(format string, args ...any) {
	fmt.Fprintf(e.screen, "\n%s %s\n", e.screen.Paint(tty.Good, "✓"), tty.Clean(fmt.Sprintf(format, args...)))
}

// show writes what changes in the configuration. Variables beside it are not shown.
func (e *edit) show() {
	showDiff(e.screen, e.Path, e.Content().Data, e.next.Data, e.Masker(e.next))
}

// set gives a key of the configuration a value.
func (e *edit) set(path []string, value []byte) (err error) {
	data, err := jsonc.Set(e.next.Data, path, value)
	return e.edited(data, err)
}

// remove takes a key out of the configuration.
func (e *edit) remove(path []string) error {
	data, err := jsonc.Remove(e.next.Data, path)
	return e.edited(data, err)
}

func (e *edit) edited(data []byte, err error) error {
	if err != nil {
		return &toolbox.Error{
			Code:    toolbox.ConfigNotEditable,
			Message: fmt.Sprintf("%s cannot be changed: %v", e.Path, err),
			Hint:    "Edit the file by hand, and check it with: mcp-workbench validate",
			Cause:   err,
		}
	}
	e.next.Data = data
	return nil
}
