package clients

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"

	"github.com/mcp-workbench/mcp-workbench/internal/setup/jsonc"
)

// Definition returns the server as a JSON object for the workbench's configuration.
func (s Server) Definition() ([]byte, error) {
	d := definition{}
	if s.Command != "" {
		d.add("command", s.Command)
		d.addIf(len(s.Args) > 0, "args", s.Args)
		d.settings("env", s.Env)
		d.addIf(s.Dir != "", "cwd", s.Dir)
	} else {
		d.add("url", s.URL)
		d.addIf(s.Transport != "", "transport", s.Transport)
		d.settings("headers", s.Headers)
		d.addIf(s.Login != nil, "oauth", s.Login)
	}
	d.addIf(s.Tools != nil, "toolFilters", s.Tools)
	d.addIf(s.Disabled, "disabled", true)
	return d.object(), d.err
}

// definition is a JSON object that keeps the order of its members.
type definition struct {
	members [][]byte
	err     error
}

func (d *definition) add(name string, value any) {
	for i, part := range []any{name, value} {
		encoded, err := jsonc.Encode(part)
		d.err = errors.Join(d.err, err)
		if i == 0 {
			d.members = append(d.members, append(encoded, ": "...))
			continue
		}
		last := &d.members[len(d.members)-1]
		*last = append(*last, encoded...)
	}
}

func (d *definition) addIf(wanted bool, name string, value any) {
	if wanted {
		d.add(name, value)
	}
}

// settings adds an object. The last of two settings with one name wins, as in the clients.
func (d *definition) settings(name string, settings []Setting) {
	inner := definition{}
	for i, setting := range settings {
		isRepeated := slices.ContainsFunc(settings[i+1:], func(s Setting) bool { return s.Name == setting.Name })
		if !isRepeated {
			inner.add(setting.Name, setting.Value)
		}
	}
	d.err = errors.Join(d.err, inner.err)
	d.addIf(len(settings) > 0, name, json.RawMessage(inner.object()))
}

func (d *definition) object() []byte {
	return bytes.Join([][]byte{[]byte("{"), bytes.Join(d.members, []byte(", ")), []byte("}")}, nil)
}
