package doctor

import (
	"fmt"
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

// Plan returns the servers to examine, in the order of the configuration. Names are TOOLBOX or
// TOOLBOX/SERVER; without names, all servers.
func Plan(cfg *config.Config, names []string) ([]Patient, error) {
	for _, name := range names {
		if err := check(cfg, name); err != nil {
			return nil, err
		}
	}
	var patients []Patient
	for _, box := range cfg.Toolboxes {
		for _, server := range box.Servers {
			patient := Patient{box.Name, server}
			if len(names) == 0 || isWanted(&patient, names) {
				patients = append(patients, patient)
			}
		}
	}
	return patients, nil
}

// isWanted compares whole names, since names of toolboxes may contain a slash.
func isWanted(p *Patient, names []string) bool {
	for _, name := range names {
		if name == p.Toolbox || name == p.Name() {
			return true
		}
	}
	return false
}

// check rejects an unknown name, with the nearest known one.
func check(cfg *config.Config, name string) error {
	var toolboxes, servers []string
	for _, box := range cfg.Toolboxes {
		toolboxes = append(toolboxes, box.Name)
		for _, server := range box.Servers {
			patient := Patient{box.Name, server}
			servers = append(servers, patient.Name())
			if isWanted(&patient, []string{name}) {
				return nil
			}
		}
		if box.Name == name {
			return nil
		}
	}
	wrong := &toolbox.Error{
		Code:    toolbox.ToolboxNotFound,
		Message: fmt.Sprintf("Toolbox '%s' not found in configuration", name),
		Hint:    "Name a toolbox, or a server as TOOLBOX/SERVER. The toolboxes are: " + strings.Join(toolboxes, ", "),
	}
	candidates := toolboxes
	if strings.Contains(name, "/") {
		wrong.Code = toolbox.ServerNotFound
		wrong.Message = fmt.Sprintf("There is no server '%s' in the configuration", name)
		candidates = servers
	}
	if near := toolbox.Nearest(name, candidates, 1); len(near) > 0 {
		wrong.Hint = "Did you mean '" + near[0] + "'?"
	}
	return wrong
}
