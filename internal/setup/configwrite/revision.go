// Package configwrite edits and writes a configuration and its workbench.env: only if the result is
// valid and no other program changed the files, with secrets moved to workbench.env, and so that a
// trusted file stays trusted.
package configwrite

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/mcp-workbench/mcp-workbench/internal/base/secret"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// Revision is a configuration as it was read, to be changed. It may not exist yet.
type Revision struct {
	Path  string
	IsNew bool

	options Options
	source  *config.Source // an empty draft for a new file
}

// Options are the environment of a revision.
type Options struct {
	StateDir string   // for trust records and locks; "": none
	Environ  []string // overrides workbench.env as the source of variables
	// User is the user's own configuration if the edited one is a project's on top of it; see config.ParseOptions.
	User *config.Config
}

// Content is the content of both files. Env is nil without variables.
type Content struct{ Data, Env []byte }

// ReadRevision reads the configuration at path, if it exists.
func ReadRevision(path string, options Options) (*Revision, error) {
	r := &Revision{Path: path, options: options}
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		r.IsNew = true
		r.source, err = config.DraftOfMissing(path)
	} else {
		r.source, err = config.Read(path)
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Content returns the content that was read.
func (r *Revision) Content() Content { return Content{r.source.Data, r.source.Env} }

// Outline returns the names in the configuration, even if it has errors.
func (r *Revision) Outline() (*config.Preview, error) {
	if r.IsNew {
		return &config.Preview{}, nil
	}
	return r.source.Preview(r.options.Environ)
}

// Variable returns the value of a variable, from the environment or from workbench.env. A file that
// cannot be read has none: Check reports the problem.
func (r *Revision) Variable(name string) (value string, ok bool) {
	vars, err := r.source.Variables(r.options.Environ)
	if err != nil {
		return "", false
	}
	value, ok = vars[name]
	return value, ok
}

// Check refuses an invalid configuration with its error. Errors that were there before are returned
// instead: the edit may be part of fixing them.
func (r *Revision) Check(next Content) (remaining *config.Error, err error) {
	_, err = config.Strict(config.Draft(r.Path, next.Data, next.Env).LoadUnder(r.options.Environ, r.options.User))
	if err == nil {
		return nil, nil
	}
	now, ok := errors.AsType[*config.Error](err)
	if !ok || r.IsNew {
		return nil, err
	}
	_, errBefore := config.Strict(r.source.LoadUnder(r.options.Environ, r.options.User))
	before, ok := errors.AsType[*config.Error](errBefore)
	if !ok {
		return nil, err
	}
	for _, problem := range now.Problems {
		if !slices.ContainsFunc(before.Problems, func(p config.Problem) bool { return p.Message == problem.Message && p.Path == problem.Path }) {
			return nil, err
		}
	}
	return now, nil
}

// Masker masks the secrets of both contents.
func (r *Revision) Masker(next Content) *secret.Masker {
	return secret.NewMasker(slices.Concat(r.secrets(r.Content()), r.secrets(next)))
}

// secrets returns the values to mask: the secrets of a configuration that loads, and values that
// look like secrets.
func (r *Revision) secrets(content Content) []string {
	var values []string
	if cfg, err := config.Draft(r.Path, content.Data, content.Env).Load(r.options.Environ); err == nil {
		values = cfg.Secrets
	}
	names := &Names{}
	for _, entry := range servers(content.Data) {
		_, _, _ = Conceal("server", entry, names) // an invalid definition has no secrets to find
	}
	for _, variable := range names.Added() {
		if len(variable.Value) > 3 { // shorter values would mask half of the file
			values = append(values, variable.Value)
		}
	}
	return values
}

// errChanged is the error if another program changed the files.
func (r *Revision) errChanged() error {
	return &toolbox.Error{
		Code:    toolbox.FileChanged,
		Message: fmt.Sprintf("%s was changed by another program in the meantime; nothing was written", r.Path),
		Hint:    "Run the command again.",
	}
}

// isSame reports whether the files are unchanged since they were read.
func (r *Revision) isSame() bool {
	now, err := ReadRevision(r.Path, r.options)
	return err == nil && now.IsNew == r.IsNew && bytes.Equal(now.source.Data, r.source.Data) && bytes.Equal(now.source.Env, r.source.Env)
}
