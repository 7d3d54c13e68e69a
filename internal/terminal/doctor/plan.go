package doctor

import (
	"slices"

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
	wanted := make([]toolbox.Place, len(names))
	for i, name := range names {
		found, err := cfg.Places().Find(name, toolbox.ToolboxFirst)
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

func isWanted(p *Patient, places []toolbox.Place) bool {
	return slices.Contains(places, toolbox.Place{Toolbox: p.Toolbox}) || slices.Contains(places, toolbox.Place{Toolbox: p.Toolbox, Server: p.Config.Name})
}
