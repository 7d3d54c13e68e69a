package cli

import (
	"context"
	"fmt"
	"os"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/configwrite"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/importer"
)

// targetFiles is a configuration with its workbench.env as they are.
type targetFiles struct {
	*configwrite.Revision
	before    configwrite.Content // nil for what is not there
	kept      []byte              // what of the configuration stays
	variables map[string]string   // of workbench.env
}

// readTarget reads what is there. A file that cannot be read as a configuration is not added
// to.
func readTarget(path string, force bool) (*targetFiles, error) {
	revision, err := configwrite.Begin(path, configwrite.Options{StateDir: config.StateDir(), Environ: os.Environ()})
	if err != nil {
		return nil, err
	}
	f := &targetFiles{Revision: revision, before: revision.Content()}
	if f.variables, err = config.Draft(path, nil, f.before.Env).Variables(nil); err != nil {
		return nil, err
	}
	if !f.IsNew && !force {
		f.kept = f.before.Data
		_, err = config.Draft(path, f.before.Data, f.before.Env).Load(os.Environ())
	}
	return f, err
}

// next is what both files are to hold.
func (f *targetFiles) next(plan *importer.Plan, boxes []importer.Toolbox) (next configwrite.Content, err error) {
	if next.Data, err = plan.Render(f.kept, boxes); err != nil {
		return next, err
	}
	next.Env = f.before.Env
	if len(plan.Variables) > 0 {
		next.Env = configwrite.AppendVariables(f.before.Env, plan.Variables)
	}
	_, err = f.Check(next)
	return next, err
}

// show writes the differences. Of variables, only the names are seen.
func (f *targetFiles) show(screen *tty.Screen, next configwrite.Content) {
	env := change{path: config.EnvPath(f.Path), before: importer.MaskedEnv(f.before.Env), after: importer.MaskedEnv(next.Env)}
	env.show(screen)
	data := change{path: f.Path, before: f.before.Data, after: next.Data, masker: f.Masker(next)}
	data.show(screen)
}

// add shows what both files are to hold, and writes it if that is agreed to.
func (f *targetFiles) add(ctx context.Context, screen *tty.Screen, plan *importer.Plan, boxes []importer.Toolbox, o initOptions) (written bool, err error) {
	next, err := f.next(plan, boxes)
	if err != nil {
		return false, err
	}
	fmt.Fprintln(screen)
	f.show(screen, next)
	if o.dryRun {
		fmt.Fprintln(screen, "\nNothing was changed: this was a dry run.")
		return false, nil
	}
	fmt.Fprintln(screen)
	if o.json && !o.yes {
		return false, &toolbox.Error{
			Code:    toolbox.AnswerNeeded,
			Message: "Nothing was changed: with --json nobody is asked",
			Hint:    "Add --yes to agree to the change, or --dry-run to only see it.",
		}
	}
	if err := agree(ctx, screen, o.yes, "Write this?"); err != nil {
		return false, err
	}
	if err := f.Write(ctx, next); err != nil {
		return false, err
	}
	return true, nil
}
