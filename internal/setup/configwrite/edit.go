package configwrite

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/jsonc"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/trust"
)

// Edit is a revision with the changes made so far.
type Edit struct {
	*Revision
	Outline *config.Preview // of the content that was read
	Next    Content
}

// ReadEdit reads the configuration at path, if it exists.
func ReadEdit(path string, options Options) (*Edit, error) {
	revision, err := ReadRevision(path, options)
	if err != nil {
		return nil, err
	}
	outline, err := revision.Outline()
	return &Edit{Revision: revision, Outline: outline, Next: revision.Content()}, err
}

// Has reports whether the file has a toolbox, or a server of it.
func (e *Edit) Has(entry Entry) bool {
	if entry.Server != "" {
		return len(entry.Servers(e.Outline)) > 0
	}
	return slices.ContainsFunc(e.Outline.Toolboxes, func(box config.PreviewToolbox) bool { return box.Name == entry.Toolbox })
}

// IsChanged reports whether there is anything to write.
func (e *Edit) IsChanged() bool {
	before := e.Content()
	return !bytes.Equal(before.Data, e.Next.Data) || !bytes.Equal(before.Env, e.Next.Env)
}

// Set sets a key of the configuration.
func (e *Edit) Set(path []string, value []byte) error {
	data, err := jsonc.Set(e.Next.Data, path, value)
	return e.replace(data, err)
}

// SetFirst is Set for a key that comes before its neighbours if it is new.
func (e *Edit) SetFirst(path []string, value []byte) error {
	data, err := jsonc.SetFirst(e.Next.Data, path, value)
	return e.replace(data, err)
}

// Remove removes a key from the configuration.
func (e *Edit) Remove(path []string) error {
	data, err := jsonc.Remove(e.Next.Data, path)
	return e.replace(data, err)
}

func (e *Edit) replace(data []byte, err error) error {
	if err := RefusePlain(e.Path, e.Outline); err != nil {
		return err
	}
	if err != nil {
		return &toolbox.Error{
			Code:    toolbox.ConfigNotEditable,
			Message: fmt.Sprintf("%s cannot be changed: %v", e.Path, err),
			Hint:    "Edit the file by hand, and check it with: mcp-workbench validate",
			Cause:   err,
		}
	}
	e.Next.Data = data
	return nil
}

// RefusePlain refuses to change the file of an MCP client as if it were a configuration.
func RefusePlain(path string, outline *config.Preview) error {
	if outline.Plain == nil {
		return nil
	}
	return &toolbox.Error{
		Code:    toolbox.ConfigNotEditable,
		Message: fmt.Sprintf("%s is the file of an MCP client, with servers under '%s' and no toolboxes; the workbench serves it, and does not change it", path, outline.Plain.Key),
		Hint:    "To have a configuration of your own with these servers: " + trust.Quote("mcp-workbench", "init", "--from", path),
	}
}

// Orphans returns the variables of workbench.env that only removed parts referred to.
func (e *Edit) Orphans() []string {
	stored, err := config.Draft(e.Path, nil, e.Next.Env).Variables(nil)
	if err != nil {
		return nil
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(stored)) {
		reference := []byte("${" + name)
		if bytes.Contains(e.Content().Data, reference) && !bytes.Contains(e.Next.Data, reference) {
			names = append(names, name)
		}
	}
	return names
}

// IsStored reports whether workbench.env has a variable.
func (e *Edit) IsStored(name string) bool {
	vars, err := config.Draft(e.Path, nil, e.Content().Env).Variables(nil)
	_, ok := vars[name]
	return err == nil && ok
}
