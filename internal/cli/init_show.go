package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/clients"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/importer"
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

// showPlan shows what is not imported, and notes.
func showPlan(screen *tty.Screen, plan *importer.Plan) {
	if len(plan.Already) > 0 {
		names := make([]string, len(plan.Already))
		for i, known := range plan.Already {
			names[i] = tty.CleanLine(known.Name)
		}
		fmt.Fprintf(screen, "\nAlready in the configuration: %s.\n", strings.Join(names, ", "))
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
			wrap = screen.WrapClauses // a command in it can be copied
		}
		fmt.Fprintln(screen, wrap("Note: "+tty.CleanLine(note), 6))
	}
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
	return boxes, askValues(ctx, screen, plan)
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
		value, err := screen.Secret(ctx, "Value of "+name+"? (it is not shown; empty for later)")
		if err != nil {
			return err
		}
		if value != "" {
			plan.Set(name, value)
		}
	}
	return nil
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
