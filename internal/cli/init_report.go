package cli

import (
	"github.com/mcp-workbench/mcp-workbench/internal/setup/clients"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/importer"
)

// initReport is the output of 'init --json'. It contains names of variables, never their values.
type initReport struct {
	File      string        `json:"file"`
	Written   bool          `json:"written"`
	Sources   []initSource  `json:"sources"`
	Toolboxes []initBox     `json:"toolboxes"` // with their new servers
	Already   []initKnown   `json:"already"`
	Skipped   []initSkipped `json:"skipped"`
	Variables []string      `json:"variables"` // new in workbench.env
	Notes     []string      `json:"notes"`
}

type initSource struct {
	Client  string   `json:"client,omitempty"` // as --from takes it; "" for a file
	File    string   `json:"file"`
	Project string   `json:"project,omitempty"`
	Servers []string `json:"servers"`
}

type initBox struct {
	Name        string       `json:"name"`
	Description string       `json:"description"`
	Servers     []initServer `json:"servers"`
}

type initServer struct {
	Name  string   `json:"name"`
	From  []string `json:"from"`
	Unset []string `json:"unset,omitempty"` // variables without a value, the reason why it is disabled
}

type initKnown struct {
	Name    string `json:"name"` // in the client's file
	Toolbox string `json:"toolbox"`
	Server  string `json:"server"`
}

type initSkipped struct {
	From   string `json:"from"`
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// newInitReport has empty lists instead of null: scripts expect lists.
func newInitReport(file string, sources []clients.Source) initReport {
	r := initReport{
		File: file, Sources: []initSource{}, Toolboxes: []initBox{}, Already: []initKnown{},
		Skipped: []initSkipped{}, Variables: []string{}, Notes: []string{},
	}
	for _, source := range sources {
		found := initSource{File: source.File, Project: source.Project, Servers: []string{}}
		if source.Client != nil {
			found.Client = source.Client.ID
		}
		for _, server := range source.Servers {
			found.Servers = append(found.Servers, server.Name)
		}
		r.Sources = append(r.Sources, found)
	}
	return r
}

// addPlan adds the plan to the report.
func (r *initReport) addPlan(plan *importer.Plan, boxes []importer.Toolbox) {
	for _, known := range plan.Already {
		r.Already = append(r.Already, initKnown{known.Name, known.Toolbox, known.Server})
	}
	for _, skipped := range plan.Skipped {
		r.Skipped = append(r.Skipped, initSkipped(skipped))
	}
	for _, variable := range plan.Variables {
		r.Variables = append(r.Variables, variable.Name)
	}
	r.Notes = append(r.Notes, plan.Notes...)
	for _, box := range boxes {
		told := initBox{Name: box.Name, Description: box.Description}
		for _, server := range box.Servers {
			told.Servers = append(told.Servers, initServer{server.Name, append([]string{}, server.From...), server.Unset})
		}
		r.Toolboxes = append(r.Toolboxes, told)
	}
}
