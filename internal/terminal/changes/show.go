package changes

import (
	"fmt"
	"strings"

	"github.com/mattn/go-runewidth"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
)

// Show writes changes with their diffs, those that several workbenches have once. All texts come from servers, and are
// cleaned: what people do not see is drawn already.
func Show(screen *tty.Screen, all []Change) {
	once := distinct(all)
	if len(once) == 0 {
		fmt.Fprintln(screen, "No definition waits to be accepted.")
		return
	}
	for i := range once {
		if i > 0 {
			fmt.Fprintln(screen)
		}
		show(screen, &once[i])
	}
}

// ShowAll is Show for a person who has not said what to accept, with how to.
func ShowAll(screen *tty.Screen, all []Change, more int) {
	Show(screen, all)
	if more > 0 {
		fmt.Fprintf(screen, "\n%s not shown. Name a server or a tool.\n", toolbox.Count(more, "more change is", "more changes are"))
	}
	if len(all) > 0 {
		fmt.Fprintln(screen, screen.Wrap("\nAccept only what you understand: a model reads all of it. Until then, a tool keeps its mark, or is withheld. To accept: mcp-workbench changes --accept NAME", 0))
	}
}

func show(screen *tty.Screen, change *Change) {
	what := "changed"
	if change.New {
		what = "new"
	}
	fmt.Fprintf(screen, "%s  %s\n", screen.Paint(tty.Name, tty.CleanLine(change.Ref())), screen.Paint(tty.Caution, what))
	state := "Clients use it, with a mark that it changed."
	if change.Withheld != "" {
		state = "It " + tty.CleanLine(change.Withheld) + "."
		if change.Tool == "" {
			state = "They " + tty.CleanLine(change.Withheld) + "."
		}
	} else if change.Tool == "" {
		state = "Clients get them, with a warning."
	}
	if change.Hints {
		state += " Its hints changed, too, and do not count."
	}
	fmt.Fprintln(screen, "  "+screen.Wrap(state, 2))
	if change.Note != "" {
		fmt.Fprintln(screen, "  "+screen.Wrap(tty.CleanLine(change.Note), 2))
	}
	width, _ := screen.Size()
	for _, line := range change.Diff {
		style := map[string]tty.Style{"+": tty.Good, "-": tty.Bad, "@": tty.Faint}[line.Op]
		op := tty.CleanLine(line.Op)
		if op == "@" {
			op = "…"
		}
		// A line that does not fit is broken here, since the terminal would continue it in the first column.
		text := tty.Clean(line.Text) // spaces matter here
		if width > 0 {
			text = runewidth.Wrap(text, max(width-4, 20))
		}
		for part := range strings.SplitSeq(text, "\n") {
			fmt.Fprintln(screen, screen.Paint(style, "  "+op+" "+part))
		}
	}
}
