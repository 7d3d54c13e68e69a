package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/adopt"
	"github.com/mcp-workbench/mcp-workbench/internal/clients"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal"
)

// showSources is the table of what was found.
func showSources(screen *terminal.Screen, sources []clients.Source) {
	rows := make([][]terminal.Cell, len(sources))
	for i, source := range sources {
		var names []string
		for _, server := range source.Servers {
			names = append(names, server.Name)
		}
		file := short(source.File)
		if source.Project != "" {
			file += " for " + short(source.Project)
		}
		title := "(file)"
		if source.Client != nil {
			title = source.Client.Title
		}
		rows[i] = []terminal.Cell{{Text: title, Style: terminal.Strong}, {Text: file, Style: terminal.Faint}, {Text: strings.Join(names, ", "), Style: terminal.Name}}
	}
	fmt.Fprintln(screen, "Found:")
	screen.Table([]string{"CLIENT", "FILE", "SERVERS"}, rows)
}

// showPlan tells of what is not simply taken over.
func showPlan(screen *terminal.Screen, plan *adopt.Plan) {
	if len(plan.Already) > 0 {
		names := make([]string, len(plan.Already))
		for i, known := range plan.Already {
			names[i] = terminal.CleanLine(known.Name)
		}
		fmt.Fprintf(screen, "\nThe configuration has %s already.\n", strings.Join(names, ", "))
	}
	if len(plan.Skipped) > 0 {
		fmt.Fprintln(screen, "\nNot taken over:")
		for _, skipped := range plan.Skipped {
			fmt.Fprintf(screen, "  %s '%s' of %s: %s\n", screen.Paint(terminal.Caution, "!"),
				terminal.CleanLine(skipped.Name), terminal.CleanLine(skipped.From), terminal.CleanLine(skipped.Reason))
		}
	}
	if len(plan.Notes) > 0 {
		fmt.Fprintln(screen)
	}
	for _, note := range plan.Notes {
		fmt.Fprintln(screen, "Note: "+terminal.CleanLine(note))
	}
}

// group lets a person decide on toolboxes, and on values that only the client had.
func group(ctx context.Context, screen *terminal.Screen, plan *adopt.Plan, o initOptions) ([]adopt.Toolbox, error) {
	boxes := plan.Propose()
	showBoxes(screen, "Proposal:", boxes)
	if o.yes || o.dryRun || !screen.IsInteractive() {
		return boxes, nil
	}
	fmt.Fprintln(screen)
	choice, err := screen.Choose(ctx, "Toolboxes?", []string{"as proposed", "one toolbox for all", "a name for each server"})
	switch {
	case err != nil:
		return nil, err
	case choice == 1:
		name, err := screen.Ask(ctx, "Name of the toolbox?", "tools")
		if err != nil {
			return nil, err
		}
		boxes = plan.All(name)
	case choice == 2:
		if boxes, err = askEach(ctx, screen, plan); err != nil {
			return nil, err
		}
		showBoxes(screen, "Toolboxes:", boxes)
	}
	return boxes, askValues(ctx, screen, plan)
}

func askEach(ctx context.Context, screen *terminal.Screen, plan *adopt.Plan) ([]adopt.Toolbox, error) {
	names := make([]string, len(plan.Servers))
	for i, server := range plan.Servers {
		name, err := screen.Ask(ctx, "Toolbox of '"+terminal.CleanLine(server.Name)+"'?", server.Toolbox())
		if err != nil {
			return nil, err
		}
		if names[i] = name; name == "" {
			return nil, errors.New("a toolbox needs a name")
		}
	}
	return plan.Assign(names), nil
}

// askValues asks for variables that are not set. Whoever has none at hand leaves it empty.
func askValues(ctx context.Context, screen *terminal.Screen, plan *adopt.Plan) error {
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

func showBoxes(screen *terminal.Screen, heading string, boxes []adopt.Toolbox) {
	fmt.Fprintln(screen, "\n"+heading)
	rows := make([][]terminal.Cell, len(boxes))
	for i, box := range boxes {
		names := make([]string, len(box.Servers))
		for j, server := range box.Servers {
			names[j] = server.Name
		}
		rows[i] = []terminal.Cell{{Text: box.Name, Style: terminal.Strong}, {Text: strings.Join(names, ", "), Style: terminal.Name}, {Text: box.Description, Style: terminal.Faint}}
	}
	screen.Table([]string{"TOOLBOX", "SERVERS", "FOR"}, rows)
}
