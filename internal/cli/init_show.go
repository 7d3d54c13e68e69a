package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/clients"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/importer"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/trust"
)

// showSources shows the sources as a table.
func showSources(screen *tty.Screen, sources, elsewhere []clients.Source) {
	rows := make([][]tty.Cell, len(sources))
	for i, source := range sources {
		var names []string
		for _, server := range source.Servers {
			names = append(names, server.Name)
		}
		file := shortenHome(source.File)
		if source.Project != "" {
			file += " for " + shortenHome(source.Project)
		}
		title := "(file)"
		if source.Client != nil {
			title = source.Client.Title
		}
		rows[i] = []tty.Cell{{Text: title, Style: tty.Strong}, {Text: file, Style: tty.Faint}, {Text: strings.Join(names, ", "), Style: tty.Name}}
	}
	fmt.Fprintln(screen, "Found:")
	screen.Table([]string{"CLIENT", "FILE", "SERVERS"}, rows)
	if len(elsewhere) > 0 {
		fmt.Fprintln(screen)
		showElsewhere(screen, elsewhere)
	}
}

// showElsewhere shows what is left out because it is for other folders.
func showElsewhere(screen *tty.Screen, elsewhere []clients.Source) {
	fmt.Fprintln(screen, screen.Wrap(elsewhereNote(elsewhere), 0))
}

// elsewhereProjects is the number of projects that a note names.
const elsewhereProjects = 3

// elsewhereNote says what is left out because it is for other folders.
func elsewhereNote(elsewhere []clients.Source) string {
	servers := 0
	var projects []string
	for _, source := range elsewhere {
		servers += len(source.Servers) + len(source.Skipped)
		if project := shortenHome(source.Project); !slices.Contains(projects, project) {
			projects = append(projects, project)
		}
	}
	named := strings.Join(projects[:min(len(projects), elsewhereProjects)], ", ")
	if more := len(projects) - elsewhereProjects; more > 0 {
		named += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("Left out: %s for projects in other folders (%s). To import them, too: --all-projects", toolbox.Count(servers, "server", "servers"), named)
}

// projectFiles are files of this folder that clients share with everybody who works in it.
var projectFiles = []string{".mcp.json", filepath.Join(".cursor", "mcp.json"), filepath.Join(".vscode", "mcp.json")}

// projectFileNotes names the files of this folder that are imported only if they are named.
func projectFileNotes(sources []clients.Source) (notes []string) {
	for _, name := range projectFiles {
		file, err := filepath.Abs(name)
		if err != nil || slices.ContainsFunc(sources, func(s clients.Source) bool { return s.File == file }) {
			continue
		}
		servers := 0
		found, err := clients.ReadNamed(clients.ThisMachine(), file)
		for _, source := range found {
			servers += len(source.Servers)
		}
		if err == nil && servers > 0 {
			notes = append(notes, fmt.Sprintf("This folder has %s in %s, which is not imported. To import them: mcp-workbench init --from %s",
				toolbox.Count(servers, "server", "servers"), name, trust.Quote(name)))
		}
	}
	return notes
}

// showAtEnd shows notes at the end of an import.
func showAtEnd(screen *tty.Screen, notes []string) {
	for _, note := range notes {
		fmt.Fprintln(screen, "\n"+screen.Wrap("Note: "+note, 6))
	}
}

// showPlan shows what is not imported, and notes.
func showPlan(screen *tty.Screen, plan *importer.Plan) {
	if len(plan.Already) > 0 {
		fmt.Fprintln(screen, "\n"+screen.Wrap("Already in the configuration: "+alreadyNames(plan.Already)+".", 0))
	}
	if len(plan.Skipped) > 0 {
		fmt.Fprintln(screen, "\nNot imported:")
		for _, skipped := range plan.Skipped {
			text := fmt.Sprintf("%s '%s' of %s: %s", screen.Paint(tty.Caution, "!"),
				tty.CleanLine(skipped.Name), tty.CleanLine(skipped.From), tty.CleanLine(skipped.Reason))
			fmt.Fprintln(screen, "  "+screen.Wrap(text, 4))
		}
	}
	if len(plan.Notes) > 0 {
		fmt.Fprintln(screen)
	}
	for _, note := range plan.Notes {
		wrap := screen.Wrap
		if strings.Contains(note, "mcp-workbench ") {
			wrap = screen.Wrap // a command in it can be copied
		}
		fmt.Fprintln(screen, wrap("Note: "+tty.CleanLine(note), 6))
	}
}

// alreadyNames returns the servers that the configuration has, each once, with the clients that have it.
func alreadyNames(known []importer.Known) string {
	var order []string
	from := make(map[string][]string)
	for _, one := range known {
		ref := tty.CleanLine(one.Toolbox + "/" + one.Server)
		if from[ref] == nil {
			order = append(order, ref)
		}
		if client := importer.Title(one.Source); !slices.Contains(from[ref], client) {
			from[ref] = append(from[ref], client)
		}
	}
	for i, ref := range order {
		order[i] = ref + " (" + tty.CleanLine(strings.Join(from[ref], ", ")) + ")"
	}
	return strings.Join(order, ", ")
}

// chooseToolboxes lets a person decide on toolboxes, and on values that only the client had.
func chooseToolboxes(ctx context.Context, screen *tty.Screen, plan *importer.Plan, o initOptions) ([]importer.Toolbox, error) {
	boxes := plan.Propose()
	showBoxes(screen, "Proposal:", boxes)
	if o.yes || o.dryRun || !screen.IsInteractive() {
		return boxes, nil
	}
	fmt.Fprintln(screen)
	choice, err := screen.ChooseFirst(ctx, "Toolboxes?", []string{"as proposed", "one toolbox for all", "a name for each server"})
	switch {
	case err != nil:
		return nil, err
	case choice == 1:
		name, err := screen.Ask(ctx, "Name of the toolbox?", "tools")
		if err != nil {
			return nil, err
		}
		if err := refuseSlash("toolbox", name, slashHint); err != nil {
			return nil, err
		}
		boxes = plan.All(name)
	case choice == 2:
		if boxes, err = chooseEach(ctx, screen, plan); err != nil {
			return nil, err
		}
		showBoxes(screen, "Toolboxes:", boxes)
	}
	if err := askValues(ctx, screen, plan); err != nil {
		return nil, err
	}
	return boxes, askKeyring(ctx, screen, plan)
}

// slashHint is what to do about a slash in a name that was typed.
const slashHint = "Run init again, and choose a name without a slash"

func chooseEach(ctx context.Context, screen *tty.Screen, plan *importer.Plan) ([]importer.Toolbox, error) {
	names := make([]string, len(plan.Servers))
	for i, server := range plan.Servers {
		name, err := screen.Ask(ctx, "Toolbox of '"+tty.CleanLine(server.Name)+"'?", server.Toolbox())
		if err != nil {
			return nil, err
		}
		if names[i] = name; name == "" {
			return nil, errors.New("a toolbox needs a name")
		}
		if err := refuseSlash("toolbox", name, slashHint); err != nil {
			return nil, err
		}
	}
	return plan.Assign(names), nil
}

// askValues asks for the values of unset variables; empty leaves them unset.
func askValues(ctx context.Context, screen *tty.Screen, plan *importer.Plan) error {
	for _, name := range plan.Unset() {
		value, err := screen.Secret(ctx, fmt.Sprintf("Value of %s? (for %s; it is not shown; empty for later)", name, needing(plan.Servers, name)))
		if err != nil {
			return err
		}
		if value != "" {
			plan.Set(name, value)
		}
	}
	return nil
}

// needing returns the names of the servers that need a variable.
func needing(servers []*importer.Server, variable string) string {
	var names []string
	for _, server := range servers {
		if slices.Contains(server.Unset, variable) {
			names = append(names, "'"+tty.CleanLine(server.Name)+"'")
		}
	}
	return strings.Join(names, ", ")
}

// showDisabled shows, before the diff, why servers are disabled in it.
func showDisabled(screen *tty.Screen, boxes []importer.Toolbox) {
	isFirst := true
	for _, box := range boxes {
		for _, server := range box.Servers {
			reason := "the client has it disabled"
			switch {
			case len(server.Unset) > 0:
				reason = strings.Join(server.Unset, ", ") + " has no value; set it in workbench.env"
			case !server.IsDisabled():
				continue
			}
			if isFirst {
				fmt.Fprintln(screen)
				isFirst = false
			}
			fmt.Fprintln(screen, screen.Wrap(fmt.Sprintf("%s '%s' is disabled: %s.", screen.Paint(tty.Caution, "!"), tty.CleanLine(server.Name), reason), 2))
		}
	}
}

func showBoxes(screen *tty.Screen, heading string, boxes []importer.Toolbox) {
	fmt.Fprintln(screen, "\n"+heading)
	rows := make([][]tty.Cell, len(boxes))
	for i, box := range boxes {
		names := make([]string, len(box.Servers))
		for j, server := range box.Servers {
			names[j] = server.Name
		}
		rows[i] = []tty.Cell{{Text: box.Name, Style: tty.Strong}, {Text: strings.Join(names, ", "), Style: tty.Name}, {Text: box.Description, Style: tty.Faint}}
	}
	screen.Table([]string{"TOOLBOX", "SERVERS", "FOR"}, rows)
}
