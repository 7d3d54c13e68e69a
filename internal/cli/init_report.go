package cli

import (
	"fmt"
	"slices"

	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
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
	Secrets   []string      `json:"secrets"`   // new in the system's keyring
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
	Login string   `json:"login,omitempty"` // the command that signs in, if the server asks for it
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
func newInitReport(file string, sources, elsewhere []clients.Source) initReport {
	r := initReport{
		File: file, Sources: []initSource{}, Toolboxes: []initBox{}, Already: []initKnown{},
		Skipped: []initSkipped{}, Variables: []string{}, Secrets: []string{}, Notes: []string{},
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
	if len(elsewhere) > 0 {
		r.Notes = append(r.Notes, elsewhereNote(elsewhere))
	}
	return r
}

// addPlan adds the plan to the report.
func (r *initReport) addPlan(plan *importer.Plan, boxes []importer.Toolbox) {
	for _, known := range plan.Already {
		r.Already = append(r.Already, initKnown{known.Name, known.Toolbox, known.Server})
	}
	for _, skipped := range plan.Skipped {
		r.Skipped = append(r.Skipped, initSkipped{skipped.From, skipped.Name, skipped.Reason})
	}
	for _, secret := range plan.Kept {
		r.Secrets = append(r.Secrets, secret.Name)
	}
	for _, variable := range plan.Variables {
		r.Variables = append(r.Variables, variable.Name)
	}
	r.Notes = append(r.Notes, plan.Notes...)
	for _, box := range boxes {
		told := initBox{Name: box.Name, Description: box.Description}
		for _, server := range box.Servers {
			told.Servers = append(told.Servers, initServer{Name: server.Name, From: append([]string{}, server.From...), Unset: server.Unset})
		}
		r.Toolboxes = append(r.Toolboxes, told)
	}
}

// addLogins adds the servers that need a login, and shows them.
func (r *initReport) addLogins(screen *tty.Screen, target string, found []remote) {
	for _, one := range found {
		command := loginCommand(one, target)
		fmt.Fprintf(screen, "%s '%s' asks for a login. Next: %s\n", screen.Paint(tty.Caution, "!"), tty.CleanLine(one.server.Name), command)
		for i := range r.Toolboxes {
			for j := range r.Toolboxes[i].Servers {
				if server := &r.Toolboxes[i].Servers[j]; r.Toolboxes[i].Name == one.toolbox && server.Name == one.server.Name {
					server.Login = command
				}
			}
		}
	}
}

// addPossibleLogins shows, for a dry run, which servers may need a login: they are not asked.
func (r *initReport) addPossibleLogins(screen *tty.Screen, target string, boxes []importer.Toolbox) {
	for _, box := range boxes {
		for _, server := range box.Servers {
			if !server.MaySignIn() {
				continue
			}
			note := fmt.Sprintf("'%s' is a remote server without a token, and may need a login: %s", tty.CleanLine(server.Name), commandOn(target, "login", box.Name+"/"+server.Name))
			fmt.Fprintf(screen, "%s %s\n", screen.Paint(tty.Caution, "!"), note)
			r.Notes = append(r.Notes, note)
		}
	}
}

// showUnanswered shows which servers did not say whether they need a login.
func showUnanswered(screen *tty.Screen, target string, unanswered []remote) (notes []string) {
	for _, one := range unanswered {
		note := fmt.Sprintf("'%s' did not answer whether it needs a login. If it does: %s", tty.CleanLine(one.server.Name), loginCommand(one, target))
		fmt.Fprintf(screen, "%s %s\n", screen.Paint(tty.Caution, "!"), note)
		notes = append(notes, note)
	}
	return notes
}

// isIn reports whether a server is one of those that are imported.
func isIn(boxes []importer.Toolbox, toolbox, server string) bool {
	return slices.ContainsFunc(boxes, func(box importer.Toolbox) bool {
		return box.Name == toolbox && slices.ContainsFunc(box.Servers, func(s *importer.Server) bool { return s.Name == server })
	})
}
