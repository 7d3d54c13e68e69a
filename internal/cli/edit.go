package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/config"
	"github.com/mcp-workbench/mcp-workbench/internal/configedit"
	"github.com/mcp-workbench/mcp-workbench/internal/revise"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal"
	"github.com/mcp-workbench/mcp-workbench/internal/toolbox"
)

// editFlags are what all commands that change the configuration have.
type editFlags struct{ dryRun, yes bool }

func (f *editFlags) add(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "show what would change, and change nothing")
	cmd.Flags().BoolVar(&f.yes, "yes", false, "ask nothing")
}

// edit is a change of the configuration that a person ordered.
type edit struct {
	*revise.Revision
	origin  config.Origin
	screen  *terminal.Screen
	flags   editFlags
	outline *config.Preview
	next    revise.Content
}

// beginEdit reads the configuration that the change is for. Only a command that adds may
// make a new one, in the user's configuration folder unless a file is named.
func (g *globals) beginEdit(cmd *cobra.Command, flags editFlags, mayBeNew bool) (*edit, error) {
	path, origin, err := config.Find(g.configPath, os.Getenv)
	if err != nil {
		return nil, err
	}
	if origin == config.Nowhere {
		if !mayBeNew {
			return nil, &toolbox.Error{
				Code:    toolbox.ConfigNotFound,
				Message: "There is no configuration yet",
				Hint:    "Make one with 'mcp-workbench init' or 'mcp-workbench add', or name a file with --config.",
			}
		}
		if path = config.UserPath(os.Getenv); path == "" {
			return nil, &toolbox.Error{
				Code:    toolbox.ConfigNotFound,
				Message: "There is no folder for a configuration: HOME is not set",
				Hint:    "Name a file with --config.",
			}
		}
	}
	revision, err := revise.Begin(path, revise.Options{StateDir: stateDir(), Environ: os.Environ()})
	if err != nil {
		return nil, err
	}
	e := &edit{
		Revision: revision, origin: origin, flags: flags, next: revision.Content(),
		screen: screenOf(cmd),
	}
	if revision.IsNew && !mayBeNew {
		_, err = config.Read(path) // which says so
		return nil, err
	}
	e.outline, err = revision.Outline()
	return e, err
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
		fmt.Fprintf(os.Stderr, "The configuration has other mistakes, which this does not change:\n%v\n", remaining)
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
	if e.origin != config.Local {
		return nil
	}
	source, err := config.Read(e.Path)
	if err != nil {
		return err
	}
	if u := examine(source); u != nil {
		fmt.Fprintf(os.Stderr, "The file is not trusted yet, so nothing of it is run. Look at it, and then: %s\n", u.command())
	}
	return nil
}

// done tells, below the difference, what was written.
func (e *edit) done(format string, args ...any) {
	fmt.Fprintf(e.screen, "\n%s %s\n", e.screen.Paint(terminal.Good, "✓"), fmt.Sprintf(format, args...))
}

// show writes what changes in the configuration. Variables beside it are not shown.
func (e *edit) show() {
	c := change{path: e.Path, before: e.Content().Data, after: e.next.Data, masker: e.Masker(e.next)}
	c.show(e.screen)
}

// set gives a key of the configuration a value.
func (e *edit) set(path []string, value []byte) (err error) {
	data, err := configedit.Set(e.next.Data, path, value)
	return e.edited(data, err)
}

// remove takes a key out of the configuration.
func (e *edit) remove(path []string) error {
	data, err := configedit.Remove(e.next.Data, path)
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
