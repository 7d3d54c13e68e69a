package importer

import (
	"os"

	"github.com/mcp-workbench/mcp-workbench/internal/setup/clients"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/configwrite"
)

// Target is the configuration, with its workbench.env, that servers are imported into.
type Target struct {
	*configwrite.Revision
	Before configwrite.Content // nil parts do not exist
	Kept   []byte              // the configuration that servers are added to; nil: none

	variables map[string]string // of workbench.env
}

// ReadTarget reads both files. With force the configuration is replaced; otherwise it must load, and servers are added
// to it.
func ReadTarget(path string, force bool) (*Target, error) {
	revision, err := configwrite.ReadRevision(path, configwrite.Options{StateDir: config.StateDir(), Environ: os.Environ()})
	if err != nil {
		return nil, err
	}
	t := &Target{Revision: revision, Before: revision.Content()}
	if t.variables, err = config.Draft(path, nil, t.Before.Env).Variables(nil); err != nil {
		return nil, err
	}
	if !t.IsNew && !force {
		t.Kept = t.Before.Data
		_, err = config.Draft(path, t.Before.Data, t.Before.Env).Load(os.Environ())
	}
	return t, err
}

// Plan plans the import of servers. It changes no files.
func (t *Target) Plan(sources []clients.Source) (*Plan, error) {
	return NewPlan(Given{Sources: sources, Config: t.Kept, Env: t.variables, Lookup: os.LookupEnv})
}

// Next returns the new content of both files.
func (t *Target) Next(plan *Plan, boxes []Toolbox) (next configwrite.Content, err error) {
	if next.Data, err = plan.Render(t.Kept, boxes); err != nil {
		return next, err
	}
	next.Env = t.Before.Env
	if len(plan.Variables) > 0 {
		next.Env = configwrite.AppendVariables(t.Before.Env, plan.Variables)
	}
	if t.Kept != nil {
		outline, err := t.Outline()
		if err != nil {
			return next, err
		}
		if next.Data, err = followServers(t.Path, outline, next, nil); err != nil {
			return next, err
		}
	}
	_, err = t.Check(next)
	return next, err
}
