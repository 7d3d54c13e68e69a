package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/app/loader"
	"github.com/mcp-workbench/mcp-workbench/internal/base/linediff"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/configwrite"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/importer"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/jsonc"
)

// editFlags are the flags of all commands that change the configuration.
type editFlags struct{ dryRun, yes, json bool }

func (f *editFlags) add(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "show the diff and change nothing")
	cmd.Flags().BoolVar(&f.yes, "yes", false, "do not ask")
	addJSONFlag(cmd, &f.json, "write JSON, and ask nothing")
}

// edit is a change of the configuration that a person requested.
type edit struct {
	*configwrite.Edit
	isLocal bool              // the file is a project's
	doubted *loader.Untrusted // not nil: the file was not trusted
	screen  *tty.Screen
	flags   editFlags

	entries   []string // that the change is about
	notes     []string // what the change does not take care of
	written   bool
	described []string // toolboxes whose descriptions the person chose
}

// readEdits reads the files that a change may be for, in the order of lookup: the project's file
// first, unless it is untrusted, which must not hide the user's own.
func (g *globals) readEdits(cmd *cobra.Command, flags editFlags) ([]*edit, error) {
	places, err := g.Find()
	if err != nil {
		return nil, err
	}
	if len(places) == 0 {
		return nil, &toolbox.Error{
			Code:    toolbox.ConfigNotFound,
			Message: "There is no configuration yet",
			Hint:    "Create one with 'mcp-workbench init' or 'mcp-workbench add', or name a file with --config.",
		}
	}
	var user *config.Config
	if len(places) > 1 { // its mistakes must not prevent a change of the other one
		user, _ = config.Load(places[1].Path, os.Environ())
	}
	var edits []*edit
	var errs []error
	for i, place := range places {
		if i > 0 {
			user = nil
		}
		e, err := readEdit(cmd, flags, place, user)
		if err == nil && e.IsNew {
			_, err = config.Read(place.Path) // returns the error
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

// readAddTarget reads the file to add to: the named one, the one that has the toolbox, else the project's.
// Without any file, a new one is made in the user's configuration folder.
func (g *globals) readAddTarget(cmd *cobra.Command, flags editFlags, box string) (*edit, error) {
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
		return readEdit(cmd, flags, places[0], nil)
	}
	edits, err := g.readEdits(cmd, flags)
	if err != nil {
		return nil, err
	}
	for _, e := range edits {
		if e.Has(configwrite.Entry{Toolbox: box}) {
			return e, nil
		}
	}
	return edits[0], nil
}

// readEdit reads one file. user is the user's own configuration if the file is a project's.
func readEdit(cmd *cobra.Command, flags editFlags, at config.Place, user *config.Config) (*edit, error) {
	begun, err := configwrite.ReadEdit(at.Path, configwrite.Options{StateDir: config.StateDir(), Environ: os.Environ(), User: user})
	if err != nil {
		return nil, err
	}
	e := &edit{Edit: begun, isLocal: at.Origin == config.Local, flags: flags, screen: screenOf(cmd)}
	if document, ok := cmd.OutOrStdout().(*jsonOutput); ok {
		document.edits = append(document.edits, e)
	}
	if e.isLocal && !e.IsNew {
		if e.doubted, err = loader.CheckTrustAt(at.Path); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// findEntry finds the entry that a reference names, and its file. If both files have the toolbox, it is the one in use,
// unless only the other one has that server.
func findEntry(edits []*edit, ref string) (*edit, configwrite.Entry, error) {
	all := &config.Preview{}
	for _, e := range edits {
		all.Add(e.Outline)
	}
	p, err := configwrite.Locate(all, ref)
	for _, e := range edits {
		if err == nil && e.Has(p) {
			e.entries = append(e.entries, p.Ref())
			return e, p, nil
		}
	}
	for _, e := range edits {
		if p, hidden := configwrite.Locate(e.Outline, ref); hidden == nil {
			e.entries = append(e.entries, p.Ref())
			return e, p, nil
		}
	}
	return nil, configwrite.Entry{}, err
}

// apply checks the change, shows its diff, asks the question if there is one, and writes. It reports whether anything
// was written.
func (e *edit) apply(ctx context.Context, question string) (done bool, err error) {
	if !e.IsChanged() {
		return false, nil
	}
	if err := importer.FollowServers(e.Edit, e.described...); err != nil {
		return false, err
	}
	remaining, err := e.Check(e.Next)
	if err != nil {
		return false, err
	}
	e.show()
	if remaining != nil {
		fmt.Fprintf(os.Stderr, "The configuration has other errors, which this change leaves alone:\n%s\n", tty.Clean(remaining.Error()))
	}
	if e.flags.dryRun {
		fmt.Fprintln(e.screen, "\nNothing was changed: this was a dry run.")
		return false, nil
	}
	if question != "" {
		if err := confirm(ctx, e.screen, e.flags.yes, question); err != nil {
			return false, err
		}
	}
	if err := e.Write(ctx, e.Next); err != nil {
		return false, err
	}
	e.written = true
	return true, e.remindOfTrust()
}

// remindOfTrust prints that an edited file is not used because it is not trusted.
func (e *edit) remindOfTrust() error {
	if !e.isLocal {
		return nil
	}
	u, err := loader.CheckTrustAt(e.Path)
	if err != nil {
		return err
	}
	if u != nil {
		fmt.Fprintf(os.Stderr, "The file is not trusted yet, so nothing of it is run. Review it, and then run: %s\n", u.Command())
	}
	return nil
}

// describe sets the description of a toolbox to a person's own.
func (e *edit) describe(box, description string) error {
	value, err := jsonc.Encode(description)
	if err != nil {
		return err
	}
	e.described = append(e.described, box)
	return e.SetFirst([]string{"toolboxes", box, "description"}, value)
}

// reportDone prints, below the diff, what was written.
func (e *edit) reportDone(format string, args ...any) {
	fmt.Fprintf(e.screen, "\n%s %s\n", e.screen.Paint(tty.Good, "✓"), tty.Clean(fmt.Sprintf(format, args...)))
}

// show prints the diff of the configuration, and of the variables beside it by their names.
func (e *edit) show() {
	showDiff(e.screen, config.EnvPath(e.Path), importer.MaskedEnv(e.Content().Env), importer.MaskedEnv(e.Next.Env), nil)
	showDiff(e.screen, e.Path, e.Content().Data, e.Next.Data, e.Masker(e.Next))
}

// changedFile is a file in the JSON of commands that change the configuration.
type changedFile struct {
	File    string   `json:"file"`
	Written bool     `json:"written"` // false after a dry run
	Entries []string `json:"entries"` // the servers and toolboxes that the change is about
	Diff    string   `json:"diff"`
	Notes   []string `json:"notes,omitempty"` // what the change does not take care of
}

// changedFiles returns the files that a command changed, or would change.
func changedFiles(edits []*edit) []changedFile {
	changed := []changedFile{}
	for _, e := range edits {
		if !e.IsChanged() {
			continue
		}
		diff := e.Masker(e.Next).Mask(linediff.Unified(e.Path, e.Content().Data, e.Next.Data))
		changed = append(changed, changedFile{File: e.Path, Written: e.written, Entries: append([]string{}, e.entries...), Diff: diff, Notes: e.notes})
	}
	return changed
}

// changeReport is the JSON of a command that only changes the configuration.
type changeReport struct {
	Changes []changedFile `json:"changes"`
}
