package config

import (
	"fmt"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
)

// Places returns the toolboxes and servers for names of command lines, disabled ones too.
func (c *Config) Places() *toolbox.Named {
	named := newPlaces()
	for _, box := range c.Toolboxes {
		named.Toolboxes = append(named.Toolboxes, box.Name)
		for i := range box.Servers {
			named.Servers = append(named.Servers, toolbox.Place{Toolbox: box.Name, Server: box.Servers[i].Name})
		}
	}
	return named
}

// Places returns the toolboxes and servers for names of command lines.
func (p *Preview) Places() *toolbox.Named {
	named := newPlaces()
	for _, box := range p.Toolboxes {
		named.Toolboxes = append(named.Toolboxes, box.Name)
	}
	for _, server := range p.Servers {
		named.Servers = append(named.Servers, toolbox.Place{Toolbox: server.Toolbox, Server: server.Name})
	}
	return named
}

func newPlaces() *toolbox.Named {
	return &toolbox.Named{Where: "in the configuration", Code: toolbox.ReferenceNotFound, List: "mcp-workbench list"}
}

// IsDisabled reports whether there is such a server, and it is disabled.
func (c *Config) IsDisabled(at toolbox.Place) bool {
	for _, box := range c.Toolboxes {
		for _, server := range box.Servers {
			if box.Name == at.Toolbox && server.Name == at.Server {
				return server.Disabled
			}
		}
	}
	return false
}

// OnlyAt returns the configuration with nothing but one server.
func (c *Config) OnlyAt(at toolbox.Place) (*Config, error) {
	for _, box := range c.Toolboxes {
		for _, server := range box.Servers {
			if box.Name != at.Toolbox || server.Name != at.Server {
				continue
			}
			if server.Fault != nil {
				return nil, server.Fault
			}
			return c.Only(box, server), nil
		}
	}
	return nil, fmt.Errorf("no server %s", at)
}
