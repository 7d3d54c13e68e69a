package doctor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// Patient is a server to examine, or a disabled one to leave out.
type Patient struct {
	Toolbox string
	Config  config.Server
}

// Name returns the name of the server in reports.
func (p *Patient) Name() string { return p.Toolbox + "/" + p.Config.Name }

// setsPath reports whether the server has its own PATH.
func (p *Patient) setsPath() bool {
	for _, variable := range p.Config.Env {
		if variable.Name == "PATH" {
			return true
		}
	}
	return false
}

// Plan returns the servers to examine, in the order of the configuration. Names are TOOLBOX, TOOLBOX/SERVER, or the name
// of a server that only one toolbox has; without names, all servers.
func Plan(cfg *config.Config, names []string) ([]Patient, error) {
	wanted := make([]string, len(names))
	for i, name := range names {
		found, err := resolve(cfg, name)
		if err != nil {
			return nil, err
		}
		wanted[i] = found
	}
	var patients []Patient
	for _, box := range cfg.Toolboxes {
		for _, server := range box.Servers {
			patient := Patient{box.Name, server}
			if len(names) == 0 || isWanted(&patient, wanted) {
				patients = append(patients, patient)
			}
		}
	}
	return patients, nil
}

// isWanted compares whole names, since names of toolboxes may contain a slash.
func isWanted(p *Patient, names []string) bool {
	return slices.Contains(names, p.Toolbox) || slices.Contains(names, p.Name())
}

// resolve returns the toolbox or the TOOLBOX/SERVER that a name is for. It rejects an unknown name, with the nearest known
// one. A toolbox is meant rather than a server of that name.
func resolve(cfg *config.Config, name string) (string, error) {
	var toolboxes, servers, names, matches []string
	for _, box := range cfg.Toolboxes {
		toolboxes = append(toolboxes, box.Name)
		for _, server := range box.Servers {
			patient := Patient{box.Name, server}
			servers = append(servers, patient.Name())
			names = append(names, server.Name)
			if server.Name == name {
				matches = append(matches, patient.Name())
			}
		}
	}
	switch {
	case slices.Contains(toolboxes, name) || slices.Contains(servers, name):
		return name, nil
	case len(matches) == 1:
		return matches[0], nil
	case len(matches) > 1:
		return "", &toolbox.Error{
			Code: toolbox.AmbiguousName, Message: fmt.Sprintf("'%s' can be one of %d servers", name, len(matches)),
			Hint: "Write one of these: " + strings.Join(matches, ", "),
		}
	}
	wrong := &toolbox.Error{
		Code:    toolbox.ToolboxNotFound,
		Message: fmt.Sprintf("Toolbox '%s' not found in configuration", name),
		Hint:    "Name a toolbox, or a server as TOOLBOX/SERVER. The toolboxes are: " + strings.Join(toolboxes, ", "),
	}
	candidates := slices.Concat(toolboxes, names)
	if strings.Contains(name, "/") {
		wrong.Code = toolbox.ServerNotFound
		wrong.Message = fmt.Sprintf("There is no server '%s' in the configuration", name)
		candidates = servers
	}
	if near := toolbox.Nearest(name, candidates, 1); len(near) > 0 {
		wrong.Hint = "Did you mean '" + near[0] + "'?"
	}
	return "", wrong
}
